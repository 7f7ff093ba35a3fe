"""Cuts a Cypher text into tokens, without the server's help, and fails closed (SEC-42).

What is not surely understood is refused: an escape that the server would resolve before it reads,
a character that looks like nothing, an end that does not come. The server's own lexer must never
see a word where this one saw a comment, a string or a quoted name.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Kind = Literal["word", "quoted", "string", "number", "sign"]
SIGNS = frozenset("()[]{},.:;+-*/%^=<>|&!$")
# What a reader cannot see, and what no version of Unicode has given a meaning.
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_BLANKS = " \t\n\r"
_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F_]+|0o[0-7_]+|[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?"
    r"|\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?",
    re.ASCII,
)


class Unreadable(Exception):
    """The text cannot be cut into tokens with certainty."""

    def __init__(self, reason: str, at: int):
        super().__init__(reason)
        self.reason, self.at = reason, at


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; `text` of a string or quoted name is what stands between its quotes."""

    kind: Kind
    text: str
    at: int

    @property
    def folded(self) -> str:
        """A word with every likeness of case and form removed; a sign as it is."""
        if self.kind != "word":
            return self.text
        return folded(self.text)


def folded(word: str) -> str:
    """A word as the most generous reader of keywords could take it."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).upper()).casefold()


def lex(text: str) -> tuple[Token, ...]:
    """The tokens of a text, comments and blanks left out.

    Raises:
        Unreadable: a character, an escape, a number or an end is not as it must be.
    """
    _check_characters(text)
    tokens: list[Token] = []
    at, end = 0, len(text)
    while at < end:
        char = text[at]
        if char in _BLANKS:
            at += 1
        elif text.startswith("//", at):
            at = _line_end(text, at)
        elif text.startswith("/*", at):
            close = text.find("*/", at + 2)
            if close < 0:
                raise Unreadable("a comment does not end", at)
            at = close + 2
        else:
            token, at = _token(text, at)
            tokens.append(token)
    return tuple(tokens)


def _check_characters(text: str) -> None:
    for at, char in enumerate(text):
        if char == "\\" and text[at + 1 : at + 2] in {"u", "U"}:
            raise Unreadable("a unicode escape; give the value as a parameter", at)
        if char > "~" or char < " ":
            if char in _BLANKS:
                continue
            if unicodedata.category(char) in _UNSEEN:
                raise Unreadable("a control, format or separator character", at)


def _line_end(text: str, at: int) -> int:
    found = [place for place in (text.find("\n", at), text.find("\r", at)) if place >= 0]
    return min(found, default=len(text))


def _token(text: str, at: int) -> tuple[Token, int]:
    char = text[at]
    if char in "'\"":
        return _string(text, at)
    if char == "`":
        return _quoted(text, at)
    if _starts_word(char):
        return _word(text, at)
    if text.startswith("..", at):
        if text.startswith("...", at):
            raise Unreadable("three dots", at)
        return Token("sign", "..", at), at + 2
    if char in "0123456789" or (char == "." and text[at + 1 : at + 2] in set("0123456789")):
        return _number(text, at)
    if char in SIGNS:
        return Token("sign", char, at), at + 1
    if char == "~":
        raise Unreadable("a regular expression or a sign that is not known", at)
    raise Unreadable("a character that may stand only in a string", at)


def _string(text: str, at: int) -> tuple[Token, int]:
    quote, place = text[at], at + 1
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text[place] == quote:
            return Token("string", text[at + 1 : place], at), place + 1
        else:
            place += 1
    raise Unreadable("a string does not end", at)


def _quoted(text: str, at: int) -> tuple[Token, int]:
    place = at + 1
    while place < len(text):
        if text[place] == "\\":
            raise Unreadable("a backslash in a quoted name", place)
        if text[place] != "`":
            place += 1
        elif text.startswith("``", place):
            place += 2
        else:
            name = text[at + 1 : place]
            if not name:
                raise Unreadable("an empty quoted name", at)
            return Token("quoted", name, at), place + 1
    raise Unreadable("a quoted name does not end", at)


def _word(text: str, at: int) -> tuple[Token, int]:
    place = at + 1
    while place < len(text) and _goes_on(text[place]):
        place += 1
    after = text[place : place + 1]
    # The server takes a currency sign for a part of the name.
    if after and (after == "$" or unicodedata.category(after) in {"Sc", "Pc"}):
        raise Unreadable("a name with a sign in it; quote it", place)
    return Token("word", text[at:place], at), place


def _starts_word(char: str) -> bool:
    return char == "_" or (char.isalpha() if char > "~" else char.isascii() and char.isalpha())


def _goes_on(char: str) -> bool:
    if char == "_" or char.isalpha():
        return True
    return unicodedata.category(char) in {"Nd", "Nl", "Mn", "Mc"}


def _number(text: str, at: int) -> tuple[Token, int]:
    found = _NUMBER.match(text, at)
    assert found is not None
    place = found.end()
    after = text[place : place + 1]
    if after and (_starts_word(after) or after in "$`_" or _goes_on(after)):
        raise Unreadable("a number that runs into a name", place)
    if after == "." and not text.startswith("..", place):
        raise Unreadable("a number that ends in a dot", place)
    return Token("number", found.group(), at), place
