"""Asks a running server who it is and proves what the product needs of it, by a query each."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from mkg.bundle import Runner, cypher
from mkg.errors import GraphRejected

_WORD = "mkg"
_DIMENSIONS = 384


@dataclass(frozen=True, slots=True)
class Plugin:
    version: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Hashed:
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class Hits:
    hits: int


@dataclass(frozen=True, slots=True)
class Component:
    name: str
    version: str
    edition: str


@dataclass(frozen=True, slots=True)
class Member:
    name: str


@cypher("ops.prove_gds")
def prove_gds(run: Runner) -> Plugin: ...


@cypher("ops.prove_apoc")
def prove_apoc(run: Runner, *, text: str) -> Hashed: ...


@cypher("ops.prove_vector")
def prove_vector(run: Runner, *, vector: list[float]) -> Hits: ...


@cypher("ops.prove_fulltext")
def prove_fulltext(run: Runner, *, text: str) -> Hits: ...


@cypher("ops.server_components")
def server_components(run: Runner) -> list[Component]: ...


@cypher("ops.server_procedures")
def server_procedures(run: Runner, *, names: list[str]) -> list[Member]: ...


@cypher("ops.server_functions")
def server_functions(run: Runner, *, names: list[str]) -> list[Member]: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Versions of a server; None for a plugin that it lacks."""

    neo4j: str
    edition: str
    gds: str | None
    apoc: str | None


def identify(run: Runner) -> Identity:
    """Versions of the server and of its plugins."""
    kernel = next(c for c in server_components(run) if c.name == "Neo4j Kernel")
    return Identity(
        neo4j=kernel.version,
        edition=kernel.edition,
        gds=_unless_rejected(lambda: prove_gds(run).version),
        apoc=_unless_rejected(lambda: prove_apoc(run, text=_WORD).version),
    )


def _unless_rejected(ask: Callable[[], str]) -> str | None:
    try:
        return ask()
    except GraphRejected:
        return None


def missing(run: Runner, names: list[str]) -> list[str]:
    """Those of some plugin procedures and functions that the server does not offer."""
    found = {m.name for m in server_procedures(run, names=names)}
    found |= {m.name for m in server_functions(run, names=names)}
    return sorted(set(names) - found)


def prove(run: Runner) -> dict[str, str]:
    """What was proved: "ok", or why not, for GDS, APOC, vector search and full-text search."""
    return {name: _outcome(check, run) for name, check in _CHECKS.items()}


def _outcome(check: Callable[[Runner], bool], run: Runner) -> str:
    try:
        return "ok" if check(run) else "gives a wrong answer"
    except GraphRejected as error:
        return str(error)


def _gds(run: Runner) -> bool:
    return prove_gds(run).bytes > 0


def _apoc(run: Runner) -> bool:
    expected = hashlib.sha256(_WORD.encode()).hexdigest()
    return prove_apoc(run, text=_WORD).digest == expected


def _vector(run: Runner) -> bool:
    unit = [1.0] + [0.0] * (_DIMENSIONS - 1)
    return prove_vector(run, vector=unit).hits >= 0


def _fulltext(run: Runner) -> bool:
    return prove_fulltext(run, text=_WORD).hits >= 0


_CHECKS: dict[str, Callable[[Runner], bool]] = {
    "gds": _gds,
    "apoc": _apoc,
    "vector": _vector,
    "fulltext": _fulltext,
}
