"""What Neo4j's language package decides: A3 (words), A4 (layout), A6 (types), A8 (writers)."""

import re
from collections.abc import Iterator, Mapping

from mkg.bundle.findings import Finding
from mkg.bundle.header import CypherType, QuerySpec
from mkg.bundle.language import Analysis, Write
from mkg.bundle.model import Model

LAYOUT = "Layout"
DYNAMIC_LABEL = "DynamicLabel"
BODY_LINES = 60
# The package's names for what a header declares.
_INFERRED = {
    "STRING": "String",
    "INTEGER": "Integer",
    "FLOAT": "Float",
    "BOOLEAN": "Boolean",
    "ZONED DATETIME": "DateTime",
    "DATE": "Date",
    "DURATION": "Duration",
    "MAP": "Map",
}
_NUMBERS = frozenset({"Integer", "Float"})


def words(query: QuerySpec, analysis: Analysis, model: Model) -> Iterator[Finding]:
    """A3: the package reports nothing, and what is written stands in the model.

    The package takes a property that a query writes for a new one; the model does not.
    """
    for line, message in analysis.diagnostics:
        yield Finding("A3", query.name, f"line {line}: {message}")
    for write in analysis.writes:
        for key in sorted(set(write.keys) - _properties(write, model)):
            yield Finding("A3", query.name, f"model.toml gives {write.name} no property {key}")


def _properties(write: Write, model: Model) -> frozenset[str]:
    if write.kind == "label" and write.name in model.labels:
        return frozenset(model.labels[write.name].properties)
    links = model.relationships.get(write.name, ()) if write.kind == "type" else ()
    return frozenset(name for link in links for name in link.properties)


def layout(query: QuerySpec, analysis: Analysis, model: Model) -> Iterator[Finding]:
    """A4: the formatter would change nothing.

    A query that it would stretch past the limit of a body may keep its own line breaks, with
    `@allow Layout` and the reason; its words, capitals and spaces are the formatter's all the same.
    """
    wanted = analysis.formatted.rstrip()
    if not query.allows(LAYOUT):
        if query.body != wanted:
            where = _first_difference(query.body, wanted)
            told = f"line {where} is laid out otherwise; run: make format-cypher"
            yield Finding("A4", query.name, told)
        return
    lines = sum(1 for line in wanted.splitlines() if line.strip())
    if lines <= BODY_LINES:
        yield Finding("A4", query.name, f"fits {lines} lines: @allow {LAYOUT} is not needed")
    elif _folded(query.body) != _folded(wanted):
        yield Finding("A4", query.name, "spaces or capitals differ from the formatter's")


def types(query: QuerySpec, analysis: Analysis, model: Model) -> Iterator[Finding]:
    """A6: each declared column type lies within what the package infers for that column."""
    for column in query.returns:
        inferred = analysis.columns.get(column.name, ())
        if inferred and not _within(column.type, inferred):
            told = (
                f"{column.name} is declared {column.type} and can only be {' or '.join(inferred)}"
            )
            yield Finding("A6", query.name, told)


def _within(declared: CypherType, inferred: tuple[str, ...]) -> bool:
    if "Any" in inferred or declared.name == "ANY":
        return True
    if declared.name == "LIST":
        element = _INFERRED.get(declared.inner or "ANY")
        lists = {name for name in inferred if name.startswith("List")}
        exact = f"List<{element}>" in lists or (element in _NUMBERS and "List<Number>" in lists)
        return exact or "List<Any>" in lists or (element is None and bool(lists))
    name = _INFERRED[declared.name]
    return name in inferred or (name in _NUMBERS and "Number" in inferred)


def writers(query: QuerySpec, analysis: Analysis, model: Model) -> Iterator[Finding]:
    """A8: only a writer named in the model creates, changes or deletes a label or a type."""
    room = query.name.rsplit(".", 1)[0]
    for write in dict.fromkeys((w.how, w.kind, w.name) for w in analysis.writes):
        how, kind, name = write
        if kind == "unknown":
            told = f"it cannot be seen what {name} is; name its label or type in a pattern"
            yield Finding("A8", query.name, told)
        elif name.startswith("$"):
            if not query.allows(DYNAMIC_LABEL):
                yield Finding("A8", query.name, f"{name} is computed: @allow {DYNAMIC_LABEL}")
        elif room not in _writers(kind, name, model):
            told = f"{room} is no writer of {name} in model.toml ({how})"
            yield Finding("A8", query.name, told)


def _writers(kind: str, name: str, model: Model) -> frozenset[str]:
    if kind == "label":
        return frozenset(model.labels[name].writers) if name in model.labels else frozenset()
    links = model.relationships.get(name, ())
    return frozenset(writer for link in links for writer in link.writers)


def fixed(queries: Mapping[str, QuerySpec], analyses: Mapping[str, Analysis]) -> list[str]:
    """Lay out every file as the formatter does; the names of those that changed."""
    changed: list[str] = []
    for name, query in queries.items():
        wanted = analyses[name].formatted.rstrip()
        if query.allows(LAYOUT) or query.body == wanted:
            continue
        lines = query.path.read_text(encoding="utf-8").splitlines()
        header = lines[: _header_length(lines)]
        query.path.write_text("\n".join([*header, wanted]) + "\n", encoding="utf-8")
        changed.append(name)
    return changed


def _header_length(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))


def _first_difference(body: str, wanted: str) -> int:
    pairs = zip([*body.splitlines(), ""], [*wanted.splitlines(), ""], strict=False)
    return next((i for i, (a, b) in enumerate(pairs, start=1) if a != b), 1)


def _folded(text: str) -> str:
    """A text without its line breaks and indentation."""
    return re.sub(r" ?([()\[\]{}]) ?", r"\1", " ".join(text.split()))
