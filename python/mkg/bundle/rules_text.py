"""The rules that need the files alone: A2 (parameters), A5 (stubs), A9 (no Cypher in Python)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.loader import Bundle
from mkg.bundle.stub import BOUND

# `:$any(names)` and `:$all(names)` are forms of a computed label or type.
_PARAMETER = re.compile(r"\$(?!(?:any|all)\()([A-Za-z_][A-Za-z0-9_]*)")
_CLAUSE = re.compile(
    r"(?m)^\s*(OPTIONAL MATCH|MATCH|MERGE|CREATE|UNWIND|DETACH DELETE|CALL)\s*[\(\{`a-z]"
    r"|^\s*(RETURN)\s+\S+\s+AS\b"
)


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
