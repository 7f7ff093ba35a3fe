"""What a server offers: its procedures and functions, asked of it or read from a stored file.

The file (`tests/server_catalog.json`, written by `make catalog`) lets the offline rules judge a
call without a server. One entry a line, so that a change of the pinned server reads as a diff.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mkg.bundle.stub import Runner, cypher
from mkg.errors import BundleError

Entry = dict[str, Any]

_NAME = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*")


@dataclass(frozen=True, slots=True)
class Procedure:
    name: str
    mode: str
    arguments: list[Entry]
    returns: list[Entry]
    deprecated: bool
    deprecated_by: str | None


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    built_in: bool
    aggregating: bool
    arguments: list[Entry]
    returns: str
    deprecated: bool
    deprecated_by: str | None


@cypher("ops.procedures")
def procedures(run: Runner) -> list[Procedure]: ...


@cypher("ops.functions")
def functions(run: Runner) -> list[Function]: ...


@dataclass(frozen=True, slots=True)
class Catalog:
    """Procedures and functions by name, as plain values."""

    procedures: Mapping[str, Entry]
    functions: Mapping[str, Entry]


def ask(run: Runner) -> Catalog:
    """The catalog of a running server."""
    return Catalog(
        {
            p.name: {"mode": p.mode, "arguments": _short(p.arguments), "returns": _short(p.returns)}
            | _deprecated(p.deprecated, p.deprecated_by)
            for p in procedures(run)
        },
        {
            f.name: {
                "built_in": f.built_in,
                "aggregating": f.aggregating,
                "arguments": _short(f.arguments),
                "returns": f.returns,
            }
            | _deprecated(f.deprecated, f.deprecated_by)
            for f in functions(run)
        },
    )


def read(path: Path) -> Catalog:
    """A stored catalog.

    Raises:
        BundleError: the file is missing or is none of ours.
    """
    try:
        return read_text(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError) as error:
        raise BundleError(
            f"{path} cannot be used ({type(error).__name__}); make it with: make catalog"
        ) from None


def read_text(content: str) -> Catalog:
    """The catalog that a file's content holds."""
    data = cast("dict[str, dict[str, Entry]]", json.loads(content))
    return Catalog(data["procedures"], data["functions"])


def text(catalog: Catalog) -> str:
    """The file's content."""
    parts = [f'"procedures": {{\n{_lines(catalog.procedures)}\n}}']
    parts.append(f'"functions": {{\n{_lines(catalog.functions)}\n}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def called(catalog: Catalog, body: str) -> Catalog:
    """The part of a catalog whose names stand somewhere in a text."""
    # A whole name: `gds.x.stream` does not stand in `gds.x.stream.estimate`.
    words = set(_NAME.findall(body.lower()))
    return Catalog(
        {name: entry for name, entry in catalog.procedures.items() if name.lower() in words},
        {name: entry for name, entry in catalog.functions.items() if name.lower() in words},
    )


def _lines(entries: Mapping[str, Entry]) -> str:
    def line(name: str) -> str:
        return f"{json.dumps(name)}: {json.dumps(entries[name], ensure_ascii=False)}"

    return ",\n".join(line(name) for name in sorted(entries))


def _short(described: Iterable[Entry]) -> list[list[str]]:
    return [
        [d["name"], d["type"], *([d["default"]] if d.get("default") else [])] for d in described
    ]


def _deprecated(is_deprecated: bool, instead: str | None) -> Entry:
    return {"deprecated": instead or ""} if is_deprecated else {}
