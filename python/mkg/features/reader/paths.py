"""Finds paths and quantifiers that are unbounded or too long, and too many of them (SEC-42).

Where a star or a plus might be arithmetic as well, what looks like a path counts as one.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from mkg.features.reader.lexer import Token

MOST_STEPS = 6
MOST_RELATIONSHIPS = 16
"""The server had no answer to 45 hops within 20 s, with a limit of 8 s; 24 hops ended in time."""
_RELATIONSHIP = {("-", "-"), ("-", "["), ("<", "-"), ("-", ">")}


def too_long(tokens: Sequence[Token], closing: Mapping[int, int]) -> int | None:
    """Index of the first sign that lets a path grow too long; None when there is none."""
    opening = {end: start for start, end in closing.items()}
    for i, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text == "[" and _sign(tokens, i - 1) == "-":
            bad = _star(tokens, i, closing)
            if bad is not None:
                return bad
        if token.text not in {"+", "*", "{"} or not _quantifies(tokens, i, opening):
            continue
        if token.text != "{" or not _bounded(tokens[i + 1 : closing[i]]):
            return i
    return None


def too_many(tokens: Sequence[Token]) -> int | None:
    """Index of the sign that begins one relationship too many; None when there are few."""
    count = 0
    for i, token in enumerate(tokens):
        if token.kind == "sign" and token.text == "-" and _sign(tokens, i + 1) in {"-", "["}:
            count += 1
            if count > MOST_RELATIONSHIPS:
                return i
    return None


def _star(tokens: Sequence[Token], start: int, closing: Mapping[int, int]) -> int | None:
    """`*` inside the brackets of a relationship, before its properties or its WHERE."""
    i, end = start + 1, closing[start]
    while i < end:
        token = tokens[i]
        if token.kind == "word" and token.folded == "where":
            return None
        if i in closing:
            i = closing[i]
        elif _sign(tokens, i) == "*" and not _range(tokens[i + 1 : end]):
            return i
        i += 1
    return None


def _range(after: Sequence[Token]) -> bool:
    """Whether a star is followed by `n`, `n..m` or `..m` with a last number within the bound."""
    rest = list(after[:3])
    if rest and rest[0].kind == "number":
        if len(rest) < 2 or _sign(rest, 1) != "..":
            return _small(rest[0])
        rest = rest[1:]
    return len(rest) >= 2 and _sign(rest, 0) == ".." and _small(rest[1])


def _quantifies(tokens: Sequence[Token], i: int, opening: Mapping[int, int]) -> bool:
    """Whether the sign at `i` stands where a quantifier would."""
    before = _sign(tokens, i - 1)
    if before == ")":
        start = opening[i - 1]
        first = tokens[start - 1] if start else None
        if first is not None and first.kind == "word" and first.folded == "call":
            return False
        return tokens[i].text == "{" or _is_path(tokens[start + 1 : i - 1])
    if before == ">":
        return _sign(tokens, i - 2) == "-"
    return before == "-" and _sign(tokens, i - 2) in {"-", "]"}


def _is_path(inside: Sequence[Token]) -> bool:
    """Whether a bracketed group holds a relationship, outside subqueries and lists."""
    flat: list[Token] = []
    depth = 0
    for token in inside:
        if token.kind == "sign" and token.text in "]}":
            depth -= 1
        if depth == 0:
            flat.append(token)
        if token.kind == "sign" and token.text in "[{":
            depth += 1
    signs = [token.text if token.kind == "sign" else "" for token in flat]
    return any(pair in _RELATIONSHIP for pair in pairwise(signs))


def _bounded(inside: Sequence[Token]) -> bool:
    """`{n}`, `{n,m}` or `{,m}` within the bound."""
    if len(inside) == 1:
        return _small(inside[0])
    if not inside or not _small(inside[-1]) or _sign(inside, len(inside) - 2) != ",":
        return False
    return len(inside) == 2 or (len(inside) == 3 and inside[0].kind == "number")


def _small(token: Token) -> bool:
    return token.kind == "number" and token.text.isdecimal() and int(token.text) <= MOST_STEPS


def _sign(tokens: Sequence[Token], i: int) -> str | None:
    if 0 <= i < len(tokens) and tokens[i].kind == "sign":
        return tokens[i].text
    return None
