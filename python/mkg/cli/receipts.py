"""`mkg log`: what a session was told, at which prompt, and whether its client passed it on."""

import dataclasses
import itertools
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mkg.cli import person
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
    ask: Annotated[
        bool, typer.Option("--ask", help="With --last: one key a line says what you think of it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a session was told at which prompt, and what became of it."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.settings import load_settings

    if ask:
        person.demand("mkg log --ask")
    settings = load_settings()
    with connect(settings, caller="log") as run:
        migrate.check_schema(run)
        session, told = _told(run, settings, session)
        told = told[:1] if last or ask else told
        if ask:
            for row in told[0] if told else []:
                _ask(run, settings, session, row)
            return
    if as_json:
        shown = {"session_id": session or None, "told": [_object(group) for group in told]}
        typer.echo(json.dumps(shown, indent=2))
        return
    typer.echo("\n".join(_lines(session, told)))


def verdict(
    line: Annotated[
        str, typer.Argument(help="A learning's id, or a line's number in `mkg log --last`.")
    ],
    kind: Annotated[str, typer.Argument(help="wrong, outdated or not-here.")],
    note: Annotated[str, typer.Option("--note", help="Why, in your own words.")] = "",
    session: Annotated[
        str, typer.Option("--session", help="Whose line the number is, as in `mkg log --session`.")
    ] = "",
) -> None:
    """Say what you think of a line that was told; it acts at once."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.features.gate import review
    from mkg.features.gate.verdict import KINDS
    from mkg.settings import load_settings

    person.demand("mkg verdict")
    if kind not in KINDS:
        raise Refused(f"a verdict is one of: {', '.join(KINDS)}", code="invalid")
    settings = load_settings()
    with connect(settings, caller="verdict") as run:
        migrate.check_schema(run)
        if line.isdigit() and len(line) < 4:
            session, told = _told(run, settings, session)
            rows = told[0] if told else []
            if not 1 <= int(line) <= len(rows):
                raise Refused(f"the last prompt was told {len(rows)} line(s); see `mkg log --last`")
            line = rows[int(line) - 1].id
        typer.echo(_given(run, settings, session, review.one(run, line).id, kind, note))


def _given(run: Any, settings: Any, session: str, id: str, kind: str, note: str) -> str:
    from mkg.features.gate import verdict as gate
    from mkg.features.timeline import person as user
    from mkg.features.timeline import project
    from mkg.settings import client_folder
    from mkg_hooks.redact import redact

    here = project.resolve(settings, str(client_folder() or ""))
    if kind == "not-here" and here is None:
        raise Refused("there is no project here that it could be kept out of")
    words = " ".join(redact(note)[0].split())[: gate.NOTE]
    found = gate.verdict(
        run,
        id=id,
        kind=kind,
        project_id=here.id if here else None,
        session_id=session or None,
        user_id=user.resolve(settings).id,
        note=words or None,
        at=datetime.now(UTC).isoformat(),
    )
    if found is None:
        raise Refused("it is not there any more")
    if kind != "not-here" and not found.acted:
        return f"noted; it was {found.status} already and is not told"
    return f"noted: {gate.MEANING[kind]}"


def _ask(run: Any, settings: Any, session: str, row: "Receipt") -> None:
    from mkg.cli.review import Keys

    keys = Keys()
    keys.ready()
    typer.echo(f"{row.short_id}  {visible(row.text)}\n[w]rong  [o]utdated  [n]ot here  [s]kip")
    kinds = {"w": "wrong", "o": "outdated", "n": "not-here"}
    chosen = kinds.get(keys.one())
    typer.echo(_given(run, settings, session, row.id, chosen, "") if chosen else "skipped")


def _told(run: Any, settings: Any, session: str) -> "tuple[str, list[list[Receipt]]]":
    """A session, this project's newest unless one is named, and what it was told, newest first."""
    from mkg.features.learnings import receipts
    from mkg.features.timeline import project
    from mkg.settings import client_folder

    if not session:
        here = project.resolve(settings, str(client_folder() or ""))
        if here is None:
            raise Refused("there is no project here: name a session with --session ID")
        newest = receipts.last_told(run, project_id=here.id)
        session = newest.session_id if newest else ""
    rows = receipts.receipts(run, session_id=session, limit=_MOST) if session else []
    told = [list(rows) for _, rows in itertools.groupby(rows, key=lambda r: (r.at, r.hook_event))]
    return session, told


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
        for number, row in enumerate(group, 1):
            now = "" if row.status == row.status_then else f", now {row.status}"
            lines.append(
                f"  {number:>2} {row.state:<9}  {row.short_id}  {visible(row.text)[:_LINE]}"
            )
            lines.append(
                f"             {row.status_then}{now}, {row.origin}; mkg why {row.short_id}"
            )
    return lines
