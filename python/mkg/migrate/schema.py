"""What a schema statement declares, and whether the database really has it afterwards.

The server keeps an existing object of another definition under the same name, and skips an equal
one under another name, without an error (NEO-84, neo4j.md 10.4).
"""

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mkg.bundle import Runner, cypher
from mkg.errors import MigrationError, MigrationUnverified
from mkg.migrate.lexer import Statement

AWAIT_SECONDS = 300.0
_NAME = r"`(?:[^`]|``)+`|\w+"
_HEAD = re.compile(
    rf"(?P<verb>CREATE|DROP) (?:(?P<type>[A-Z]+) )?(?P<what>INDEX|CONSTRAINT)"
    rf"(?: (?!(?:IF|FOR)\b)(?P<name>{_NAME}))?(?P<guard> IF (?:NOT )?EXISTS)?(?= |$)",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"FOR ?(?:\( ?\) ?<?- ?\[|\() ?\w* ?: ?(?P<labels>[^)\]]+?) ?[)\]]", re.IGNORECASE
)
_PROPERTY = re.compile(rf"\. ?({_NAME})")
_OPTIONS = re.compile(r"\bOPTIONS\b", re.IGNORECASE)
_OPTION = re.compile(r"`([\w.]+)`\s*:\s*(?:'([^']*)'|\"([^\"]*)\"|([\w.+-]+))")
_UNIQUE = re.compile(r"\bIS (?:NODE |RELATIONSHIP |REL )?UNIQUE\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declared:
    """One index or constraint a file creates or drops."""

    name: str
    what: str
    line: int
    dropped: bool = False
    type: str = ""
    labels: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Index:
    """An index of the database."""

    name: str
    type: str
    state: str
    labels: list[str] | None
    properties: list[str] | None
    options: dict[str, Any]
    failure: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of the database."""

    name: str
    type: str
    labels: list[str] | None
    properties: list[str] | None


@cypher("ops.schema_indexes")
def schema_indexes(run: Runner) -> list[Index]: ...


@cypher("ops.schema_constraints")
def schema_constraints(run: Runner) -> list[Constraint]: ...


def declared(statement: Statement, where: str) -> Declared:
    """What a schema statement creates or drops.

    Raises:
        MigrationError: it is no statement about an index or constraint, has no name, or cannot be
            repeated.
    """
    at = f"{where}:{statement.line}"
    head = _HEAD.match(statement.bare)
    if head is None:
        raise MigrationError(f"{at}: only indexes and constraints are created or dropped here")
    if head["name"] is None:
        raise MigrationError(f"{at}: give the {head['what'].lower()} a name")
    if head["guard"] is None:
        raise MigrationError(f"{at}: write IF NOT EXISTS (or IF EXISTS) so that it can be repeated")
    name, what, line = _plain(head["name"]), head["what"].lower(), statement.line
    if head["verb"].upper() == "DROP":
        return Declared(name, what, line, dropped=True)
    body = statement.bare[head.end() :]
    target = _FOR.search(body)
    options = _OPTIONS.search(body)
    covered = body[target.end() if target else 0 : options.start() if options else len(body)]
    return Declared(
        name,
        what,
        line,
        type=_type(head, what, body),
        labels=tuple(_plain(part) for part in target["labels"].split("|")) if target else (),
        properties=tuple(_plain(part) for part in _PROPERTY.findall(covered)) if target else (),
        options={key: a or b or c for key, a, b, c in _OPTION.findall(statement.text)},
    )


def declares(statement: Statement) -> bool:
    """Whether a statement creates or drops an index or constraint."""
    return _HEAD.match(statement.bare) is not None


def differences(run: Runner, wanted: Iterable[tuple[Declared, str]]) -> list[str]:
    """A line for every declared object that the database lacks or has otherwise.

    `wanted` holds the last declaration of each object with the path of its file.
    """
    indexes = {index.name: index for index in schema_indexes(run)}
    constraints = {constraint.name: constraint for constraint in schema_constraints(run)}
    lines: list[str] = []
    for item, where in wanted:
        if item.dropped:
            if item.name in (indexes if item.what == "index" else constraints):
                lines.append(f"{where}:{item.line}: {item.what} {item.name} is dropped, yet there")
            continue
        try:
            if _judge(item, indexes, constraints, where):
                lines.append(f"{where}:{item.line}: index {item.name} is still being built")
        except MigrationUnverified as error:
            lines.append(str(error))
    return lines


def others(run: Runner, names: set[str]) -> list[str]:
    """Names of indexes and constraints beyond `names`; a constraint's own index is not counted."""
    constraints = {constraint.name for constraint in schema_constraints(run)}
    indexes = {index.name for index in schema_indexes(run) if index.type != "LOOKUP"}
    return sorted((constraints | indexes) - names)


def settle(run: Runner, wanted: Sequence[Declared], where: str, *, patience: float) -> None:
    """Wait until the indexes are online, then compare what is there with what was declared.

    Raises:
        MigrationUnverified: an object is missing, different or failed, or an index is not online
            within `patience` seconds.
    """
    last = {(item.what, item.name): item for item in wanted}
    deadline, pause = time.monotonic() + patience, 0.02
    while True:
        indexes = {index.name: index for index in schema_indexes(run)}
        constraints = {constraint.name: constraint for constraint in schema_constraints(run)}
        building = [
            item.name
            for item in last.values()
            if not item.dropped and _judge(item, indexes, constraints, where)
        ]
        if not building:
            return
        if time.monotonic() > deadline:
            raise MigrationUnverified(
                f"{where}: {', '.join(building)} not online after {patience:.0f} s; "
                "wait for the database to build it, then run: mkg migrate apply --retry"
            )
        time.sleep(pause)
        pause = min(pause * 2, 1.0)


def _judge(
    item: Declared, indexes: dict[str, Index], constraints: dict[str, Constraint], where: str
) -> bool:
    """True while the object is still being built."""
    at = f"{where}:{item.line}"
    found = (indexes if item.what == "index" else constraints).get(item.name)
    if found is None:
        raise MigrationUnverified(
            f"{at}: {item.what} {item.name} is not there; the server keeps what exists: look for "
            "one that covers the same properties under another name, or another kind of this name"
        )
    differs = _difference(item, found)
    if differs:
        raise MigrationUnverified(
            f"{at}: {item.what} {item.name} exists with {differs}; drop it, then run: "
            "mkg migrate apply --retry"
        )
    if isinstance(found, Constraint):
        return False
    if found.state == "FAILED":
        raise MigrationUnverified(f"{at}: index {item.name} failed: {found.failure[:300]}")
    return found.state != "ONLINE"


def _difference(item: Declared, found: Index | Constraint) -> str:
    if item.type and not found.type.endswith(item.type):
        return f"type {found.type}"
    if item.labels and sorted(item.labels) != sorted(found.labels or []):
        return f"labels {', '.join(found.labels or [])}"
    if item.properties and list(item.properties) != list(found.properties or []):
        return f"properties {', '.join(found.properties or [])}"
    if isinstance(found, Index):
        settings: dict[str, Any] = found.options.get("indexConfig", {})
        for key, value in item.options.items():
            if str(settings.get(key)).casefold() != value.casefold():
                return f"{key} {settings.get(key)}"
    return ""


def _type(head: re.Match[str], what: str, body: str) -> str:
    if what == "index":
        return (head["type"] or "RANGE").upper()
    return "UNIQUENESS" if _UNIQUE.search(body) else ""


def _plain(name: str) -> str:
    name = name.strip()
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
