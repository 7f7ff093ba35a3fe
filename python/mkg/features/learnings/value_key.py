"""The key by which two learnings are the same statement."""

import hashlib
import re
import unicodedata

_BETWEEN = re.compile(r"[\W_]+")


def value_key(owner_key: str, text: str) -> str:
    """Return 16 hex digits that are equal for texts differing only in case, form or punctuation.

    Letters and digits of every script are kept, and punctuation becomes a space instead of
    vanishing, so that 'v1.2' and 'v12' stay two values.
    """
    return hashlib.sha1(f"{owner_key}\n{normalised(text)}".encode()).hexdigest()[:16]


def normalised(text: str) -> str:
    """Return `text` case-folded in compatibility form, with one space between its words."""
    folded = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
    # Case folding can undo the normal form, so the form is taken once more afterwards.
    folded = unicodedata.normalize("NFKC", folded.casefold())
    words = _BETWEEN.sub(" ", folded).strip()
    # A text of symbols alone still needs a key of its own.
    return words or " ".join(folded.split())
