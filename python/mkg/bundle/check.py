"""The query contract: the same rules for `mkg check` and for the contract tests.

Source: style 4.3. Offline here: A1, A2, A5, A9. On a server: B1, B2, B3. The other rules of the
list join these as functions of the same two shapes.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkg.bundle.header import CypherType, QuerySpec
from mkg.bundle.loader import Bundle
from mkg.bundle.stub import BOUND
from mkg.errors import GraphError

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner

_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_CLAUSE = re.compile(
    r"(?m)^\s*(OPTIONAL MATCH|MATCH|MERGE|CREATE|UNWIND|DETACH DELETE|CALL)\s*[\(\{`a-z]"
    r"|^\s*(RETURN)\s+\S+\s+AS\b"
)
VECTOR = 384


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule."""

    rule: str
    query: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.query}: {self.message}"


def offline(bundle: Bundle, sources: Path) -> list[Finding]:
    """Every offline finding; A1 is the loading itself, which raises HeaderError.

    Args:
        sources: the folder of Python packages that A9 reads.
    """
    found = [finding for query in bundle.queries.values() for finding in parameters(query)]
    found += bindings(bundle)
    found += [f for path in sorted(sources.rglob("*.py")) for f in cypher_in_python(path, sources)]
    return found


def online(bundle: Bundle, run: "Neo4jRunner") -> list[Finding]:
    """Every finding of a server's EXPLAIN."""
    return [finding for query in bundle.queries.values() for finding in explained(query, run)]


def parameters(query: QuerySpec) -> Iterator[Finding]:
    """A2: the body's parameters equal the header's, both ways."""
    used = set(_PARAMETER.findall(code_only(query.body)))
    declared = {parameter.name for parameter in query.params}
    for name in sorted(used - declared):
        yield Finding("A2", query.name, f"${name} is used and not declared")
    for name in sorted(declared - used):
        yield Finding("A2", query.name, f"${name} is declared and not used")


def bindings(bundle: Bundle) -> list[Finding]:
    """A5: each query has exactly one stub; that they agree is checked when the stub is bound."""
    return [
        Finding("A5", name, "no stub is bound to this query")
        for name in sorted(bundle.queries)
        if name not in BOUND
    ]


def cypher_in_python(path: Path, sources: Path) -> Iterator[Finding]:
    """A9: no string constant of a module looks like a Cypher clause."""
    relative = path.relative_to(sources)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in documented and _CLAUSE.search(node.value):
            yield Finding(
                "A9", f"{relative}:{node.lineno}", "Cypher text belongs in a .cypher file"
            )


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


_MODES: dict[str, Callable[[str], bool]] = {
    "read": lambda kind: kind == "r",
    "write": lambda kind: "w" in kind,
    "schema": lambda kind: kind == "s",
}


def sample(query: QuerySpec) -> dict[str, Any]:
    """Parameter values of the declared types, as EXPLAIN needs them."""
    return {parameter.name: _value(parameter.type) for parameter in query.params}


def _value(kind: CypherType) -> Any:
    plain: dict[str, Any] = {
        "STRING": "x",
        "INTEGER": 1,
        "FLOAT": 0.5,
        "BOOLEAN": True,
        "ZONED DATETIME": datetime(2026, 1, 1, tzinfo=UTC),
        "MAP": {},
        "ANY": "x",
    }
    if kind.name == "LIST":
        return [0.1] * VECTOR if kind.inner == "FLOAT" else []
    return plain[kind.name]


def code_only(body: str) -> str:
    """The body without comments and quoted text."""
    return re.sub(
        r"//[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`",
        lambda match: " " if match[0][0] != "`" else match[0],
        body,
        flags=re.S,
    )


def _docstrings(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value
