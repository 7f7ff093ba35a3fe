"""The rules that a server's EXPLAIN decides: B1 (accepted), B2 (mode), B3 (columns)."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.sample import sample
from mkg.errors import GraphError

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner

_MODES: dict[str, Callable[[str], bool]] = {
    "read": lambda kind: kind == "r",
    "write": lambda kind: "w" in kind,
    "schema": lambda kind: kind == "s",
}


def explained(query: QuerySpec, run: "Neo4jRunner") -> Iterator[Finding]:
    """B1: EXPLAIN accepts it. B2: its type fits the mode. B3: its columns are the declared ones."""
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
