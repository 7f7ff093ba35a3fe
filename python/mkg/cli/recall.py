"""`mkg recall`: what is known about something, now or on an earlier day."""

import dataclasses
import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.cli.basics import visible
from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.features.learnings import Hit, Known, Version

    Row = Hit | Known | Version

REVIEW = "mkg review"
_LINE = 300


def recall(
    query: Annotated[str, typer.Argument(help="What it is about, in your own words.")],
    as_of: Annotated[
        str, typer.Option("--as-of", help="What held then: a date, or a date and time.")
    ] = "",
    limit: Annotated[int, typer.Option(help="Most lines of each kind.", min=1, max=50)] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is known about something: of this project, and about you."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.embed import load
    from mkg.features.gate import review
    from mkg.features.learnings import retrieval
    from mkg.features.timeline import person, project
    from mkg.settings import client_folder, load_settings

    if not query.strip():
        raise Refused("say what it is about: mkg recall 'which port does the API use'")
    settings = load_settings()
    then = retrieval.moment(as_of) if as_of.strip() else None
    here = project.resolve(settings, str(client_folder() or ""))
    asked = retrieval.prepare(query, load(settings))
    owners = {"user": f"user:{person.resolve(settings).id}"}
    if here is not None:
        owners = {"project": f"project:{here.id}", **owners}
    found: dict[str, list[Any]] = {}
    with connect(settings, caller="recall") as run:
        migrate.check_schema(run)
        for kind, owner in owners.items():
            if then is not None:
                found[kind] = [
                    *retrieval.held_at(run, asked, owner_key=owner, at=then, limit=limit)
                ]
            else:
                found[kind] = [*retrieval.hits(run, asked, owner_key=owner, limit=limit)]
        size = review.queue_size(run, owner_keys=[*owners.values()], project_id=None)
    if as_json:
        shown = {kind: [dataclasses.asdict(row) for row in rows] for kind, rows in found.items()}
        waits = {"waiting": {"count": size.waiting, "command": REVIEW}}
        typer.echo(json.dumps({"as_of": as_of or None, **shown, **waits}, default=_text, indent=2))
        return
    lines = [line for rows in found.values() for row in rows for line in _lines(row)]
    near = [row for rows in found.values() for row in rows if _only_near(row)]
    if near and len(near) == sum(len(rows) for rows in found.values()):
        lines.insert(0, "nothing has a word of that; nearest by meaning:")
    lines = lines or ["nothing is known about that"]
    if size.waiting:
        lines.append(f"({size.waiting} wait{'s' * (size.waiting == 1)} for you: {REVIEW})")
    typer.echo("\n".join(lines))


def _only_near(row: "Row") -> bool:
    """Whether no word of the question is in it: the nearest of all may be far."""
    return "text" not in getattr(row, "sources", ["text"])


def _lines(row: "Row") -> list[str]:
    from mkg.features.learnings import Version

    lines = [f"{row.short_id}  {visible(row.text)[:_LINE]}"]
    if isinstance(row, Version):
        until = f" until {row.until:%Y-%m-%d %H:%M}" if row.until else ", and still does"
        lines.append(f"    held from {row.since:%Y-%m-%d %H:%M}{until}")
        if row.now:
            lines.append(f"    now: {visible(row.now)[:_LINE]}")
    elif (was := getattr(row, "was", None)) is not None:
        lines.append(f"    was: {visible(str(was['text']))[:_LINE]}")
    if (later := getattr(row, "said_later", None)) is not None:
        told = f"{visible(str(later['text']))[:_LINE]} ({later['short_id']})"
        lines.append(f"    said later, near this: {told}")
    return lines


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
