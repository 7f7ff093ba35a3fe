"""Splits a migration file into statements (NEO-81).

A `;` ends a statement unless it stands in '..', "..", `..`, after `//` or between `/*` and `*/`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mkg.errors import MigrationError

_TOKEN = re.compile(
    r"""
    (?P<string>'[^'\\]*(?:\\.[^'\\]*)*' | "[^"\\]*(?:\\.[^"\\]*)*")
  | (?P<name>`[^`]*(?:``[^`]*)*`)
  | (?P<comment>//[^\n]* | /\*.*?\*/)
  | (?P<end>;)
  | (?P<open>['"`] | /\*)
    """,
    re.VERBOSE | re.DOTALL,
)
# The server replaces \u escapes before it reads tokens, so an escaped quote ends a string.
_ESCAPE = re.compile(r"\\u+00(?:22|27|2a|2f|3b|5c|60)", re.IGNORECASE)
_INTERPOLATED = re.compile(r"(?<![\w`])[sS]\Z")
_LEAD = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_OPEN = {"'": "string", '"': "string", "`": "quoted name", "/*": "comment"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without its `;` and the comments before it, and the line it starts on.

    In `bare` every comment is a blank and every string is empty: keywords found there are keywords.
    """

    text: str
    line: int
    bare: str


def split(text: str, *, where: str, line: int = 1) -> tuple[Statement, ...]:
    """The statements of `text`, whose first line is number `line` of the file `where`.

    Raises:
        MigrationError: a string, name or comment is not closed, or the text hides its structure.
    """
    escape = _ESCAPE.search(text)
    if escape is not None:
        raise MigrationError(
            f"{where}:{line + text.count(chr(10), 0, escape.start())}: {escape[0]} stands for a "
            "character that changes how the text is read; write the character itself"
        )
    return tuple(_statements(text, where, line))


def _statements(text: str, where: str, line: int) -> Iterator[Statement]:
    begin, last, bare = 0, 0, ""
    for match in _TOKEN.finditer(text):
        bare += text[last : match.start()]
        last = match.end()
        kind = match.lastgroup
        at = f"{where}:{line + text.count(chr(10), 0, match.start())}"
        if kind == "open":
            raise MigrationError(f"{at}: this {_OPEN[match[0]]} is not closed")
        if kind == "string" and _INTERPOLATED.search(bare):
            raise MigrationError(f"{at}: s'..' needs server 2026.08; join strings with ||")
        if kind == "end":
            yield from _made(text, begin, match.start(), bare, line)
            begin, bare = match.end(), ""
        else:
            bare += {"string": "''", "name": match[0], "comment": " "}[kind or ""]
    yield from _made(text, begin, len(text), bare + text[last:], line)


def _made(text: str, begin: int, end: int, bare: str, line: int) -> Iterator[Statement]:
    if not bare.strip():
        return
    lead = _LEAD.match(text, begin, end)
    first = lead.end() if lead is not None else begin
    yield Statement(
        text[first:end].strip(), line + text.count("\n", 0, first), " ".join(bare.split())
    )
