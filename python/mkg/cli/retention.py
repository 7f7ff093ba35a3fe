"""`mkg retention`: what is over its time, and what faded."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from mkg.errors import Refused


def retention(
    yes: Annotated[bool, typer.Option("--yes", help="Act; else only counts.")] = False,
    restore: Annotated[str, typer.Option("--restore", help="An archived learning's id.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what MKG_RETAIN would let go, or do now what the worker does in idle time."""
    from mkg import db, migrate
    from mkg.features import forget
    from mkg.features.forget import keeping
    from mkg.settings import load_settings

    settings = load_settings()
    with db.connect(settings, caller="retention") as run:
        migrate.check_schema(run)
        if restore:
            if not forget.revive(run, keys=[restore]).revived:
                raise Refused("no archived learning has that id")
            typer.echo("it is a candidate again; mkg review decides of it")
            return
        before = keeping.cutoffs(settings.retain, datetime.now(UTC))
        done: dict[str, int] = {}
        if yes:
            while went := keeping.batch(run, before):
                done = {k: done.get(k, 0) + went.get(k, 0) for k in {**done, **went}}
        else:
            done = keeping.counted(run, before)
    if as_json:
        typer.echo(json.dumps({"changed": yes, "counts": done}))
        return
    for kind in keeping.KINDS:
        if kind in before:
            typer.echo(f"  {done.get(kind, 0):>8}  {kind} of before {before[kind]:%Y-%m-%d}")
    typer.echo("done" if yes else "nothing was changed")
