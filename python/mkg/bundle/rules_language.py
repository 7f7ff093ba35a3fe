"""The rules that need Neo4j's language package: A4 (layout)."""

import re
from collections.abc import Iterator, Mapping

from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.language import Analysis

LAYOUT = "Layout"
BODY_LINES = 60


def layout(query: QuerySpec, analysis: Analysis) -> Iterator[Finding]:
    """A4: the formatter would change nothing.

    A query that it would stretch past the limit of a body may keep its own line breaks, with
    `@allow Layout` and the reason; its words, capitals and spaces are the formatter's all the same.
    """
    wanted = analysis.formatted.rstrip()
    if not query.allows(LAYOUT):
        if query.body != wanted:
            where = _first_difference(query.body, wanted)
            yield Finding("A4", query.name, f"line {where} is laid out otherwise; mkg check --fix")
        return
    lines = sum(1 for line in wanted.splitlines() if line.strip())
    if lines <= BODY_LINES:
        yield Finding("A4", query.name, f"fits {lines} lines: @allow {LAYOUT} is not needed")
    elif _folded(query.body) != _folded(wanted):
        yield Finding("A4", query.name, "spaces or capitals differ from the formatter's")


def fixed(queries: Mapping[str, QuerySpec], analyses: Mapping[str, Analysis]) -> list[str]:
    """Lay out every file as the formatter does; the names of those that changed."""
    changed: list[str] = []
    for name, query in queries.items():
        wanted = analyses[name].formatted.rstrip()
        if query.allows(LAYOUT) or query.body == wanted:
            continue
        lines = query.path.read_text(encoding="utf-8").splitlines()
        header = [line for line in lines[: _header_length(lines)]]
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
