"""`mkg log`: what a session was told, at which prompt, and whether its client passed it on."""

import dataclasses
import itertools
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.cli.basics import visible
from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.features.learnings.receipts import Receipt

_PROMPT = 80
_MOST = 500
_LINE = 160


def log(
    last: Annotated[
        bool,
        typer.Option("--last", help="Only the newest prompt or start told something."),
    ] = False,
    session: Annotated[
        str, typer.Option("--session", help="A session's id; without it this project's newest.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a session was told at which prompt, and what became of it."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.features.learnings import receipts
    from mkg.features.timeline import project
    from mkg.settings import client_folder, load_settings

    settings = load_settings()
    with connect(settings, caller="log") as run:
        migrate.check_schema(run)
        if not session:
            here = project.resolve(settings, str(client_folder() or ""))
            if here is None:
                raise Refused("there is no project here: name a session with --session ID")
            newest = receipts.last_told(run, project_id=here.id)
            session = newest.session_id if newest else ""
        rows = receipts.receipts(run, session_id=session, limit=_MOST) if session else []
    told = [list(rows) for _, rows in itertools.groupby(rows, key=lambda r: (r.at, r.hook_event))]
    told = told[:1] if last else told
    if as_json:
        shown = {"session_id": session or None, "told": [_object(group) for group in told]}
        typer.echo(json.dumps(shown, indent=2))
        return
    typer.echo("\n".join(_lines(session, told)))


def _object(group: "list[Receipt]") -> dict[str, Any]:
    first = group[0]
    rows = [dataclasses.asdict(row) for row in group]
    for row in rows:
        for name in ("at", "hook_event", "prompt"):
            del row[name]
    return {
        "at": first.at.isoformat(),
        "hook_event": first.hook_event,
        "prompt": first.prompt,
        "lines": rows,
    }


def _lines(session: str, told: "list[list[Receipt]]") -> list[str]:
    if not told:
        return ["nothing was told yet"]
    lines = [f"session {session}"]
    for group in told:
        first = group[0]
        at = f"{first.at:%Y-%m-%d %H:%M:%S}"
        prompt = f": {visible(first.prompt)[:_PROMPT]}" if first.prompt else ""
        lines.append(f"{at}  {first.hook_event}{prompt}")
        for row in group:
            now = "" if row.status == row.status_then else f", now {row.status}"
            lines.append(f"  {row.state:<9}  {row.short_id}  {visible(row.text)[:_LINE]}")
            lines.append(
                f"             {row.status_then}{now}, {row.origin}; mkg why {row.short_id}"
            )
    return lines
