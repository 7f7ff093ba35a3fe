"""`mkg migrate`: a person changes the schema of a store; nothing else but its first start does."""

import dataclasses
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mkg.migrate import MigrationState
    from mkg.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Apply schema migrations and see how they stand.")
_MARKS = {
    "applied": "applied",
    "pending": "waiting",
    "interrupted": "interrupted, will be finished",
    "failed": "FAILED, see --retry",
    "edited": "EDITED after it was applied",
    "missing": "its file is MISSING",
    "newer": "from a NEWER version",
}


@app.command("apply")
def apply(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run a migration again that failed or was cut short.")
    ] = False,
) -> None:
    """Apply every migration that waits, in order."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.settings import load_settings

    settings = load_settings()
    with connect(settings, caller="migrate") as run:
        waiting = migrate.pending(run)
        if waiting and not yes:
            _ask(settings, waiting)
        done = migrate.apply_all(run, progress=typer.echo, retry=retry)
    typer.echo(f"{len(done)} migration(s) applied" if done else "nothing to apply")


@app.command("status")
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show every migration and how it stands; takes no lock and writes nothing."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.settings import load_settings

    with connect(load_settings(), caller="migrate") as run:
        states = migrate.status(run)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(state) for state in states], indent=2))
        return
    for state in states:
        typer.echo(_line(state))


def _ask(settings: "Settings", waiting: list[str]) -> None:
    from mkg.errors import Refused

    # The URI may carry credentials; a person recognises the store without them.
    where = settings.store.uri.split("@")[-1] if settings.store.uri else "the local store"
    typer.echo(f"To apply to {where}: {', '.join(waiting)}")
    if not sys.stdin.isatty():
        raise Refused("nobody is here to confirm; add --yes")
    if not typer.confirm("Apply?"):
        raise Refused("nothing was applied")


def _line(state: "MigrationState") -> str:
    parts = [f"{state.id:<32}", _MARKS[state.state]]
    if state.applied_at and state.state != "pending":
        parts.append(f"{state.applied_at[:19]} by {state.applied_by} ({state.tool})")
    if state.message:
        parts.append(state.message)
    return "  ".join(parts)
