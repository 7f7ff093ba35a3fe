"""Commands for one query of the bundle: run, explain."""

import json
import math
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, cast

import typer

from mkg.bundle.header import QuerySpec
from mkg.cli.basics import visible
from mkg.errors import Refused

Name = Annotated[str | None, typer.Argument(metavar="QUERY", help="A name, as --list shows it.")]
Params = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="K=V", help="A parameter; lists and maps as JSON."),
]
_WIDEST = 60
_LONG_LIST = 8


def run(
    name: Name = None,
    param: Params = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
    as_table: Annotated[bool, typer.Option("--table", help="Print a table (default).")] = False,
    as_text: Annotated[
        bool, typer.Option("--print", help="Print the query for a query tool; run nothing.")
    ] = False,
    show_list: Annotated[bool, typer.Option("--list", help="Show every query.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
) -> None:
    """Run one query of the bundle, or print it for a query tool."""
    from mkg import migrate
    from mkg.cli.arguments import parameters, pasted
    from mkg.db import connect
    from mkg.settings import load_settings

    if as_json + as_table + as_text > 1:
        raise Refused("choose one of --json, --table and --print")
    if show_list:
        _list(as_json)
        return
    query = _query(name)
    values = parameters(query, param or [])
    if as_text:
        typer.echo(pasted(query, values))
        return
    if query.mode != "read" and not yes and not typer.confirm(f"{query.name} writes. Run it?"):
        raise Refused("nothing was run; --yes answers the question")
    with connect(load_settings(), caller="run") as runner:
        # The queries about the server and its migrations are how one finds out what is missing.
        if not query.name.startswith("ops."):
            migrate.check_schema(runner)
        rows = runner.fetch(query, values)
    if as_json:
        typer.echo(json.dumps([plain(row) for row in rows], indent=2, ensure_ascii=False))
        return
    columns = [column.name for column in query.returns]
    for line in table(columns, rows):
        typer.echo(line)
    typer.echo(f"{len(rows)} row(s)", err=True)


def explain(
    name: Name = None,
    param: Params = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how the server would run a query; it is not run. Parameters are made up if not given."""
    from mkg.bundle.sample import sample
    from mkg.cli.arguments import parameters
    from mkg.db import connect
    from mkg.settings import load_settings

    query = _query(name)
    values = parameters(query, param) if param else sample(query)
    with connect(load_settings(), caller="explain", notifications=True) as runner:
        plan = runner.explain(query.text, values)
    if as_json:
        told = {
            "query": query.name,
            "type": plan.query_type,
            "columns": plan.columns,
            "operators": [{"operator": o, "details": d} for o, d in plan.operators],
            "notifications": [
                {"kind": k, "status": s, "text": t} for k, s, t in plan.notifications
            ],
        }
        typer.echo(json.dumps(told, indent=2))
        return
    typer.echo(f"{query.name}: type {plan.query_type}, columns {', '.join(plan.columns)}")
    for operator, details in plan.operators:
        typer.echo(f"  {operator:<28} {visible(details)}".rstrip())
    for kind, status, text in plan.notifications:
        typer.echo(f"{kind} {status}: {text}")


def _query(name: str | None) -> QuerySpec:
    from mkg.bundle import load_bundle

    queries = load_bundle().queries
    if name is None:
        raise Refused("name a query; mkg run --list shows them")
    if name not in queries:
        near = [other for other in queries if name.split(".")[-1] in other]
        hint = f"; did you mean {', '.join(near[:5])}?" if near else ""
        raise Refused(f"there is no query {name!r}{hint} mkg run --list shows all")
    return queries[name]


def _list(as_json: bool) -> None:
    from mkg.bundle import load_bundle
    from mkg.cli.arguments import signature

    queries = load_bundle().queries.values()
    if as_json:
        typer.echo(json.dumps([_described(query) for query in queries], indent=2))
        return
    for query in queries:
        typer.echo(f"{query.name:<28} {query.mode:<6} {query.card:<6} {signature(query)}")


def _described(query: QuerySpec) -> dict[str, Any]:
    return {
        "query": query.name,
        "since": query.since,
        "mode": query.mode,
        "card": query.card,
        "params": [{"name": p.name, "type": str(p.type), "note": p.note} for p in query.params],
        "returns": [{"name": c.name, "type": str(c.type), "note": c.note} for c in query.returns],
        "why": query.why,
    }


def plain(value: object) -> Any:
    """A value as JSON can hold it: times by ISO 8601, what JSON has no number for as its name."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("list[object]", value)]
    return str(value)


def table(columns: list[str], rows: list[dict[str, Any]]) -> Iterable[str]:
    """Rows as lines of one width each; what is long is cut and says so."""
    if not columns:
        return
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(map(len, [name, *(row[i] for row in cells)])) for i, name in enumerate(columns)]
    for row in [columns, ["-" * width for width in widths], *cells]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cell(value: object) -> str:
    if isinstance(value, list):
        items = cast("list[object]", value)
        if len(items) > _LONG_LIST and all(isinstance(item, float) for item in items):
            return f"[{len(items)} numbers]"
    told = plain(cast("object", value))
    line = visible(told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
