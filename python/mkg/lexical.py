"""Words for the full-text side: any script, identifiers and paths taken apart, nothing unescaped.

Source: MEM-W05, NEO-110, NEO-111, D22. User text never reaches Lucene's parser as syntax: a query
is built from tokens made here, and the scope term from an alphanumeric token made by code.
"""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

MAX_TERMS = 12
_MAX_TEXT = 20_000
_WORD = re.compile(r"[^\W_]+(?:[._-][^\W_]+)*", re.UNICODE)
_PIECE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+", re.UNICODE)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_OPERATORS = frozenset({"and", "or", "not", "to"})
# Words that tell nothing about a subject, in several languages; a short list on purpose.
STOP = frozenset((Path(__file__).parent / "stop_words.txt").read_text(encoding="utf-8").split("\n"))


def index_terms(text: str) -> list[str]:
    """The tokens of a stored text, identifiers and paths also in their parts, without repeats.

    Stop words are never searched, so they are not stored: the number of tokens then says how much
    a text tells.
    """
    return [token for token in dict.fromkeys(_tokens(text)) if token not in STOP][:400]


def words(text: str) -> list[str]:
    """Every token of a question, also the common ones: a person may be called Will."""
    return list(dict.fromkeys(_tokens(text)))[:400]


def query_terms(text: str, *, limit: int = MAX_TERMS) -> list[str]:
    """The informative tokens of a prompt: stop words out, longer and rarer-looking ones first."""
    found: dict[str, int] = {}
    for token in _tokens(text):
        if token not in STOP and (len(token) > 2 or not token.isascii() or token.isdigit()):
            found[token] = found.get(token, 0) + 1
    order = {token: place for place, token in enumerate(found)}
    ranked = sorted(found, key=lambda token: (-weight(token), order[token]))
    return ranked[:limit]


def weight(token: str) -> float:
    """A guess at how rare a token is: length, digits, mixed tokens, other scripts speak for it."""
    score = min(len(token), 12) / 4
    if any(c.isdigit() for c in token):
        score += 1
    if any(c in "._-" for c in token):
        score += 1
    if not token.isascii():
        score += 1
    return score


def lucene(terms: list[str], token: str, also: Sequence[str] = ()) -> str:
    """The full-text query: scope required and weightless, any of the terms; '' without terms.

    Args:
        also: other words for the same things; each counts for half.
    """
    if not terms:
        return ""
    wanted = [_quoted(term) for term in terms]
    wanted += [
        f"{_quoted(term)}^0.5" for term in dict.fromkeys(t for a in also for t in _tokens(a))
    ]
    return f"+owner_token:{token}^0 +({' '.join(wanted)})"


def owner_token(owner: str) -> str:
    """An alphanumeric stand-in for an owner key, safe inside a Lucene query."""
    return "o" + hashlib.sha1(owner.encode()).hexdigest()[:20]


def _quoted(term: str) -> str:
    # Tokens hold letters, digits and . _ - only; a quoted phrase keeps Lucene from reading a
    # leading hyphen or a word operator out of them.
    return f'"{term}"'


def _tokens(text: str) -> list[str]:
    made: list[str] = []
    plain = unicodedata.normalize("NFKC", text[:_MAX_TEXT])
    for match in _WORD.finditer(plain):
        word = match[0]
        lowered = word.casefold()
        if lowered not in _OPERATORS:
            made.append(lowered)
        pieces = [piece.casefold() for piece in _PIECE.findall(word)]
        if len(pieces) > 1:
            made.extend(piece for piece in pieces if len(piece) > 1)
        if _CJK.search(word):
            made.extend(_bigrams(word))
    return made


def _bigrams(word: str) -> list[str]:
    """Scripts without spaces are searched by pairs of characters."""
    runs = re.findall(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+", word)
    return [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
