"""The rules that a server's EXPLAIN decides.

B1 accepted, B2 mode, B3 columns, B4 notifications, B5 plan, B6 indexes, B7 procedures.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mkg.bundle.catalog import Catalog
from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.model import Model
from mkg.bundle.rules_language import DYNAMIC_LABEL, LAYOUT
from mkg.bundle.rules_text import code_only
from mkg.bundle.sample import sample
from mkg.errors import GraphError

if TYPE_CHECKING:
    from mkg.db import Explained, Neo4jRunner

PROCEDURE_MODE = "ProcedureMode"
_MODES: dict[str, Callable[[str], bool]] = {
    "read": lambda kind: kind == "r",
    "write": lambda kind: "w" in kind,
    "schema": lambda kind: kind == "s",
}
_REFUSED = frozenset({"DEPRECATION", "UNRECOGNIZED", "UNSUPPORTED", "HINT"})
_PERFORMANCE = "PERFORMANCE"
# Operators that read everything there is, or pair everything with everything.
_WIDE = re.compile(r"(AllNodes|AllRelationships|Labels?|Types?)Scan$|^CartesianProduct$")
_CALL = re.compile(r"\b([A-Za-z]\w*(?:\.\w+)+)\s*\(")


@dataclass(frozen=True, slots=True)
class Index:
    """An index of the server; `guard` is true when a uniqueness constraint stands on it."""

    type: str
    state: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    guard: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server has, as the rules need it."""

    catalog: Catalog
    indexes: Mapping[str, Index]


def explained(
    query: QuerySpec, run: "Neo4jRunner", facts: Facts, unstored: Model | None = None
) -> Iterator[Finding]:
    """Every finding on one query.

    Args:
        run: a runner that asks for notifications.
        unstored: the model whose nouns this database may not hold yet; None where it holds all.
    """
    try:
        plan = run.explain(query.text, sample(query))
    except GraphError as error:
        yield Finding("B1", query.name, f"EXPLAIN refuses it: {error} ({error.status})")
        return
    if not _MODES[query.mode](plan.query_type):
        yield Finding("B2", query.name, f"@mode {query.mode}, the server says {plan.query_type!r}")
    declared = tuple(column.name for column in query.returns)
    if query.card != "none" and plan.columns != declared:
        yield Finding("B3", query.name, f"columns {plan.columns}, declared {declared}")
    yield from notified(query, plan, unstored)
    yield from planned(query, plan)
    yield from indexed(query, plan, facts)
    yield from called(query, facts)


def notified(query: QuerySpec, plan: "Explained", unstored: Model | None) -> Iterator[Finding]:
    """B4: nothing deprecated, unknown, unsupported or hinted at; slow only with `@allow`."""
    for kind, status, text in plan.notifications:
        if kind == "UNRECOGNIZED" and unstored is not None and _known(text, unstored):
            continue
        if kind in _REFUSED or (kind == _PERFORMANCE and not query.allows(status)):
            yield Finding("B4", query.name, f"{kind} {status}: {text}")


def _known(text: str, model: Model) -> bool:
    """Whether a notification speaks of a noun that the model names."""
    found = re.search(r"`([^`]+)`", text)
    nouns = model.properties | model.labels.keys() | model.relationships.keys()
    return found is not None and found[1] in nouns


def planned(query: QuerySpec, plan: "Explained") -> Iterator[Finding]:
    """B5: no scan of everything, no pairing of everything, unless `@allow` says why."""
    operators = {operator for operator, _ in plan.operators}
    for operator in sorted(filter(_WIDE.search, operators)):
        if not query.allows(operator):
            yield Finding("B5", query.name, f"the plan holds {operator}; use an index or @allow it")
    statuses = {status for kind, status, _ in plan.notifications if kind == _PERFORMANCE}
    met = operators | statuses | {LAYOUT, DYNAMIC_LABEL, PROCEDURE_MODE}
    for line in query.allow:
        if line.split()[0] not in met:
            yield Finding("B5", query.name, f"@allow {line.split()[0]} is not needed")


def indexed(query: QuerySpec, plan: "Explained", facts: Facts) -> Iterator[Finding]:
    """B6: each `@index` exists, is online and is used: by the plan, or by a write it guards."""
    details = " ".join(text for _, text in plan.operators)
    for name in query.index:
        index = facts.indexes.get(name)
        if index is None:
            yield Finding("B6", query.name, f"@index {name}: the server has no such index")
        elif index.state != "ONLINE":
            yield Finding("B6", query.name, f"@index {name} is {index.state.lower()}")
        elif not _used(name, index, query, details):
            yield Finding("B6", query.name, f"@index {name} is not in the plan")


def _used(name: str, index: Index, query: QuerySpec, details: str) -> bool:
    if index.type in ("FULLTEXT", "VECTOR"):
        # The plan hides a procedure's arguments, so the name is looked for in the text.
        return name in query.body
    keys = ", ".join(index.properties)
    if any(f":{label}({keys})" in details for label in index.labels):
        return True
    guards = index.guard and query.mode == "write"
    return guards and any(re.search(rf":{label}\b", query.body) for label in index.labels)


def called(query: QuerySpec, facts: Facts) -> Iterator[Finding]:
    """B7: each `@uses` exists, what is called stands there, and a read query calls READ only."""
    procedures, functions = facts.catalog.procedures, facts.catalog.functions
    for name in query.uses:
        if name not in procedures and name not in functions:
            yield Finding("B7", query.name, f"@uses {name}: the server has nothing of that name")
    named = {match[1] for match in _CALL.finditer(code_only(query.body))}
    plugins = {name for name in named if not functions.get(name, {}).get("built_in", False)}
    for name in sorted(plugins & (procedures.keys() | functions.keys()) - set(query.uses)):
        yield Finding("B7", query.name, f"{name} is called and does not stand in @uses")
    for name in query.uses if query.mode == "read" else ():
        mode = procedures.get(name, {}).get("mode", "READ")
        if mode != "READ" and not query.allows(PROCEDURE_MODE):
            yield Finding("B7", query.name, f"@mode read, and {name} is a {mode} procedure")
