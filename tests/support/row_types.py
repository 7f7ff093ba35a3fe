"""C: the types that a query's rows really have on the seed graph, against its header.

The seed and the query share one transaction that is rolled back, so nothing has to be wiped. What
the server stores for good are the names of labels, types and properties, and those are wanted.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkg.bundle.findings import Finding
from mkg.bundle.header import CypherType, Field, QuerySpec
from mkg.bundle.sample import sample
from mkg.db import Neo4jRunner, Unit

TESTS = Path(__file__).resolve().parents[1]
SEED = "CYPHER 25\n" + (TESTS / "graph.cypher").read_text(encoding="utf-8")
PARAMETERS = tomllib.loads((TESTS / "contract" / "parameters.toml").read_text(encoding="utf-8"))

# Queries that give no row on the seed graph whatever they are asked, and where their rows are seen.
ROWLESS = {
    "ops.calls_running": "only a raw query's transaction carries such an id: tests/reader",
    "forget.tainted": "all evidence of the seed graph is one event: tests/features/test_forget.py",
}

_LOOK = {
    "nodes": "MATCH (n) UNWIND labels(n) AS label UNWIND keys(n) AS key RETURN DISTINCT label, key",
    "links": "MATCH (a)-[r]->(b) UNWIND keys(r) + [''] AS key RETURN DISTINCT type(r) AS type, "
    "labels(a)[0] AS start, labels(b)[0] AS end, key",
}


class Undone(Exception):
    """Ends a unit without keeping it."""


def sow(run: Neo4jRunner) -> None:
    """Make the server store every name of the model, and no data."""
    try:
        with run.unit(name="test.seed") as unit:
            unit.execute(SEED)
            raise Undone
    except Undone:
        return


def sown(run: Neo4jRunner, what: str) -> list[dict[str, Any]]:
    """What lies in the seed graph, by one of the statements below."""
    found: list[dict[str, Any]] = []
    try:
        with run.unit(name="test.seed") as unit:
            unit.execute(SEED)
            found = unit.execute(f"CYPHER 25 {_LOOK[what]}").rows
            raise Undone
    except Undone:
        return found


def row_types(query: QuerySpec, run: Neo4jRunner) -> list[Finding]:
    """Every column whose type is not the declared one, and a query that gave no row at all."""
    given: dict[str, Any] = sample(query) | PARAMETERS.get(query.name, {})
    found: list[Finding] = []
    try:
        with run.unit(name="test.rows") as unit:
            unit.execute(SEED)
            found = list(_compared(query, unit, given))
            raise Undone
    except Undone:
        return found


def _compared(query: QuerySpec, unit: Unit, given: dict[str, Any]) -> Iterator[Finding]:
    if query.card == "none":
        unit.execute(query.text, given)
        return
    rows = list(_types(query, unit, given))
    if not rows and query.name not in ROWLESS:
        yield Finding("C", query.name, "no row on the seed graph; see parameters.toml")
    if rows and query.name in ROWLESS:
        yield Finding("C", query.name, "gives rows: its exemption in ROWLESS is no longer needed")
    for column in query.returns:
        for actual in sorted({row[column.name] for row in rows}):
            if not fits(column.type, actual):
                told = f"{column.name} is {actual}, declared {column.type}"
                yield Finding("C", query.name, told)


def _types(query: QuerySpec, unit: Unit, given: dict[str, Any]) -> Iterator[dict[str, str]]:
    if query.body.startswith("SHOW"):
        # SHOW stands in no subquery: what the driver made of the values has to do.
        for row in unit.execute(query.text, given).rows:
            yield {column.name: _python(column, row[column.name]) for column in query.returns}
        return
    asked = ", ".join(f"valueType({c.name}) AS {c.name}" for c in query.returns)
    text = f"{query.language}\nCALL () {{\n{query.body}\n}}\nRETURN DISTINCT {asked}"
    yield from unit.execute(text, given).rows


def _python(column: Field, value: object) -> str:
    if value is None:
        return "NULL"
    made = {str: "STRING", bool: "BOOLEAN", int: "INTEGER", float: "FLOAT", dict: "MAP"}
    if isinstance(value, list):
        inner = {f"{made.get(type(item), '?')} NOT NULL" for item in value}
        return f"LIST<{' | '.join(sorted(inner)) or 'NOTHING'}> NOT NULL"
    return f"{made.get(type(value), '?')} NOT NULL"


def fits(declared: CypherType, actual: str) -> bool:
    """Whether a value of the type that the server names may stand in the column."""
    if actual == "NULL":
        return declared.nullable
    if declared.name == "ANY":
        return True
    bare = actual.removesuffix(" NOT NULL")
    if declared.name != "LIST":
        return bare == declared.name
    inner = bare.removeprefix("LIST<").removesuffix(">")
    if bare == inner:
        return False
    null_inside = not inner.endswith(" NOT NULL") and inner != "NOTHING"
    element = inner.removesuffix(" NOT NULL")
    return element in ("NOTHING", declared.inner) and (declared.inner_nullable or not null_inside)
