"""Where a word is a name and nothing else: property, label, type, map key, parameter.

There a refused word is harmless, because no clause can begin in such a place. The places are taken
narrowly: a word after `AS` is not one of them, since `AS` may itself be a name.
"""

from collections.abc import Sequence
from typing import Literal

from mkg.features.reader.lexer import Token

Role = Literal["property", "label", "key", "parameter"]
_NAMES = ("word", "quoted")


def roles(tokens: Sequence[Token]) -> dict[int, Role]:
    """The role of each token that is only a name, by its index."""
    found: dict[int, Role] = {}
    for i, token in enumerate(tokens):
        if token.kind == "sign" and token.text == ":":
            found.update(dict.fromkeys(_labels(tokens, i), "label"))
        elif token.kind in _NAMES and i not in found:
            role = _role(tokens, i)
            if role is not None:
                found[i] = role
    return found


def _role(tokens: Sequence[Token], i: int) -> Role | None:
    before = _sign(tokens, i - 1)
    if before == "$":
        return "parameter"
    if before == ".":
        return "property"
    if before in {"{", ","} and _sign(tokens, i + 1) == ":" and _sign(tokens, i + 2) != ":":
        return "key"
    return None


def _labels(tokens: Sequence[Token], colon: int) -> list[int]:
    """Names in the label expression behind a colon: operands joined by `|`, `&`, `:` and `!`."""
    if _sign(tokens, colon - 1) == ":":
        return []
    names: list[int] = []
    depth, i, wants_name = 0, colon + 1, True
    while i < len(tokens):
        token = tokens[i]
        sign = token.text if token.kind == "sign" else ""
        if wants_name and sign == "(":
            depth += 1
        elif wants_name and token.kind in _NAMES:
            names.append(i)
            wants_name = False
        elif not wants_name and sign == ")" and depth:
            depth -= 1
        elif not wants_name and sign in {"|", "&", ":"}:
            wants_name = True
        elif not (wants_name and (sign == "!" or (sign == ":" and tokens[i - 1].text == "|"))):
            break
        i += 1
    return names


def _sign(tokens: Sequence[Token], i: int) -> str | None:
    """The sign at an index; None for everything else and outside."""
    if 0 <= i < len(tokens) and tokens[i].kind == "sign":
        return tokens[i].text
    return None
