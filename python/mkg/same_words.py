"""Words by their root, and words for the same thing: 'retention' and 'deleted after'.

The groups stand in `same_words.txt`. They are what somebody says in another way, not what is near
in meaning: nearness decides nothing (D29).
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from mkg import word_lists

# How nouns are made of verbs, and how much of the verb has to be left.
_NOUNS = (("ation", 5), ("ment", 4), ("ion", 4), ("al", 5), ("er", 3), ("or", 3))
# Verbs whose past no ending tells; a statement is told as a fact or as what was decided.
_PAST = {
    "built": "build", "kept": "keep", "held": "hold", "sent": "send", "ran": "run", "led": "lead",
    "wrote": "write", "written": "write", "grew": "grow", "made": "make",
    "met": "meet", "spent": "spend", "found": "find", "told": "tell", "went": "go",
    "chose": "choose", "began": "begin", "gave": "give", "given": "give", "paid": "pay",
}  # fmt: skip


def base(word: str) -> str:
    """A word without what grammar adds to it: 'planned', 'plans' and 'plan' are one."""
    if not word.replace("-", "").isalpha():
        return word
    for end in ("ing", "ed", "s"):
        if word.endswith(end) and len(word) - len(end) >= 3 and not word.endswith("ss"):
            word = word[: -len(end)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def root(word: str) -> str:
    """A word and whoever does it: 'owner' and 'own'."""
    plain = base(_PAST.get(word, word))
    for end, least in _NOUNS:
        if plain.isalpha() and plain.endswith(end) and len(plain) - len(end) >= least:
            plain = base(plain[: -len(end)])
            break
    return plain[:-1] if len(plain) > 5 and plain.endswith("y") else plain


def sense(word: str) -> str:
    """One name for all words of a group; of any other word its root."""
    plain = root(word.replace("-", ""))
    return _senses().get(plain, plain)


def in_one(text: str) -> str:
    """A text in lower or upper case with the groups' phrases as one word: 'entry-point'."""
    return _phrases().sub(lambda match: "-".join(match[0].split()), text)


def others(words: Iterable[str]) -> list[str]:
    """What else the things are called that are named, without what is named already."""
    said = [*words]
    roots = {root(word.replace("-", "")) for word in said}
    found: dict[str, None] = {}
    for word in said:
        for other in _groups().get(sense(word), ()):
            if root(other.replace("-", "")) not in roots:
                # 'up', 'out' and 'in' of a phrase are in every second text.
                parts = (part for part in other.split("-") if part == other or len(part) > 3)
                found.update(dict.fromkeys(parts))
    return [word for word in found if root(word) not in roots]


@lru_cache(maxsize=1)
def _groups() -> dict[str, tuple[str, ...]]:
    """Each group by its first word's root."""
    listed = word_lists.rows(Path(__file__).with_name("same_words.txt"))
    return {root(words[0].replace("-", "")): tuple(words) for words in listed}


@lru_cache(maxsize=1)
def _senses() -> dict[str, str]:
    found: dict[str, str] = {}
    for name, words in _groups().items():
        found.update({root(word.replace("-", "")): name for word in words})
    return found


@lru_cache(maxsize=1)
def _phrases() -> re.Pattern[str]:
    phrases = (word for words in _groups().values() for word in words if "-" in word)
    made = "|".join(
        r"\s+".join(map(re.escape, word.split("-")))
        for word in sorted(phrases, key=len, reverse=True)
    )
    return re.compile(rf"\b(?:{made})(?:s)?\b", re.IGNORECASE)
