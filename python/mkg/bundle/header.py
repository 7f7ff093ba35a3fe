"""The header block of a `.cypher` file: its whole grammar, and nothing else.

Source: style 4.2. A header is an unbroken run of `//` lines at the top of the file.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mkg.errors import HeaderError

Mode = Literal["read", "write", "schema"]
Card = Literal["many", "one", "maybe", "none"]
KEYS = (
    "query",
    "since",
    "until",
    "mode",
    "card",
    "param",
    "return",
    "locks",
    "index",
    "uses",
    "allow",
    "why",
)
ONCE = frozenset({"query", "since", "until", "mode", "card", "locks", "index", "uses"})
REQUIRED = ("query", "since", "mode", "card", "locks")
SCALARS = (
    "STRING",
    "INTEGER",
    "FLOAT",
    "BOOLEAN",
    "ZONED DATETIME",
    "DATE",
    "DURATION",
    "MAP",
    "ANY",
)
_LINE = re.compile(r"//\s*@(\w+)\s+(.*\S)\s*$")
_TYPE = re.compile(
    r"(?P<list>LIST<(?P<inner>[A-Z ]+?)(?P<innernn> NOT NULL)?>|"
    r"(?:STRING|INTEGER|FLOAT|BOOLEAN|ZONED DATETIME|DATE|DURATION|MAP|ANY))(?P<nn> NOT NULL)?"
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class CypherType:
    """A Cypher type name as declared; `inner` is the element type of a list."""

    name: str
    nullable: bool
    inner: str | None = None
    inner_nullable: bool = True

    def __str__(self) -> str:
        base = self.name
        if self.inner:
            base = f"LIST<{self.inner}{'' if self.inner_nullable else ' NOT NULL'}>"
        return base if self.nullable else f"{base} NOT NULL"


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter or a column."""

    name: str
    type: CypherType
    note: str = ""


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """One query: its contract and its text."""

    name: str
    since: str
    mode: Mode
    card: Card
    params: tuple[Field, ...]
    returns: tuple[Field, ...]
    locks: str
    index: tuple[str, ...]
    uses: tuple[str, ...]
    allow: tuple[str, ...]
    why: str
    body: str
    path: Path
    language: str = "CYPHER 25"
    until: str = ""

    def allows(self, what: str) -> bool:
        """Whether an `@allow` line names this exception."""
        return any(line.split()[0] == what for line in self.allow)

    @property
    def text(self) -> str:
        """What is sent: the language selector of the bundle, then the file's body."""
        return f"{self.language}\n{self.body}"


def parse(path: Path, name: str, *, language: str = "CYPHER 25") -> QuerySpec:
    """Read one file.

    Raises:
        HeaderError: the header breaks the grammar, or its name is not `name`.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    values: dict[str, list[tuple[int, str]]] = {key: [] for key in KEYS}
    last = 0
    end = 0
    for number, line in enumerate(lines, start=1):
        if not line.startswith("//"):
            break
        end = number
        match = _LINE.match(line)
        if match is None:
            if values["why"]:
                values["why"].append((number, line.removeprefix("//").strip()))
                continue
            raise HeaderError(f"{path}:{number}: not a header line; write // @key  value")
        key, value = match.groups()
        last = _accept(path, number, key, last, values)
        values[key].append((number, value))
    for key in REQUIRED:
        if not values[key]:
            raise HeaderError(f"{path}:1: @{key} is missing")
    return _build(path, name, values, "\n".join(lines[end:]).strip(), language)


def _accept(
    path: Path, number: int, key: str, last: int, values: dict[str, list[tuple[int, str]]]
) -> int:
    if key not in KEYS:
        raise HeaderError(f"{path}:{number}: @{key} is unknown; known are {', '.join(KEYS)}")
    position = KEYS.index(key)
    if position < last:
        raise HeaderError(f"{path}:{number}: @{key} must stand before @{KEYS[last]}")
    if key in ONCE and values[key]:
        raise HeaderError(f"{path}:{number}: @{key} stands twice")
    return position


def _build(
    path: Path, name: str, values: dict[str, list[tuple[int, str]]], body: str, language: str
) -> QuerySpec:
    def one(key: str, default: str = "") -> str:
        return values[key][0][1] if values[key] else default

    def several(key: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in one(key).split(",") if part.strip())

    def field(number: int, value: str) -> Field:
        return _field(path, number, value)

    if one("query") != name:
        raise HeaderError(f"{path}:1: @query is {one('query')!r}, the path says {name!r}")
    mode, card = one("mode"), one("card")
    if mode not in ("read", "write", "schema"):
        raise HeaderError(f"{path}:1: @mode {mode!r} is not read, write or schema")
    if card not in ("many", "one", "maybe", "none"):
        raise HeaderError(f"{path}:1: @card {card!r} is not many, one, maybe or none")
    if not body:
        raise HeaderError(f"{path}:1: the statement is missing")
    returns = tuple(field(number, value) for number, value in values["return"])
    if bool(returns) == (card == "none"):
        raise HeaderError(f"{path}:1: @card {card} and {len(returns)} @return lines do not fit")
    return QuerySpec(
        name=name,
        since=one("since"),
        mode=mode,
        card=card,
        params=tuple(field(number, value) for number, value in values["param"]),
        returns=returns,
        locks=one("locks"),
        index=several("index"),
        uses=several("uses"),
        allow=tuple(value for _, value in values["allow"]),
        why=" ".join(value for _, value in values["why"]),
        body=body,
        path=path,
        language=language,
        until=one("until"),
    )


def _field(path: Path, number: int, value: str) -> Field:
    name, _, rest = value.partition(" ")
    if not _NAME.fullmatch(name):
        raise HeaderError(f"{path}:{number}: {name!r} is not a lower_snake name")
    kind, _, note = rest.strip().partition("  ")
    return Field(name, parse_type(kind.strip(), f"{path}:{number}"), note.strip())


def parse_type(text: str, where: str) -> CypherType:
    """A declared type.

    Raises:
        HeaderError: the text is not one of the known Cypher types.
    """
    match = _TYPE.fullmatch(text)
    if match is None:
        raise HeaderError(f"{where}: {text!r} is not a known type")
    nullable = match["nn"] is None
    if match["inner"] is None:
        return CypherType(match["list"], nullable)
    if match["inner"] not in SCALARS:
        raise HeaderError(f"{where}: {match['inner']!r} is not a known element type")
    return CypherType("LIST", nullable, match["inner"], match["innernn"] is None)
