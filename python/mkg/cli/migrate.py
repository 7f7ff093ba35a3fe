"""`mkg migrate`: a person changes the schema of a store; nothing else but its first start does."""

import dataclasses
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner
    from mkg.migrate import MigrationState, Planned
    from mkg.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Apply schema migrations and see how they stand.")
_MARKS = {
    "applied": "applied",
    "pending": "waiting",
    "interrupted": "interrupted, will be finished",
    "failed": "FAILED, see --retry",
    "skipped": "skipped",
    "edited": "EDITED after it was applied",
    "renamed": "its file was RENAMED",
    "missing": "its file is MISSING",
    "newer": "from a NEWER version",
}
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Retry = Annotated[
    bool,
    typer.Option(
        "--retry",
        help="Run again what failed or was cut short, and look again at what was skipped.",
    ),
]
Id = Annotated[str, typer.Argument(help="The migration, such as V0002__learnings.")]


@app.command("plan")
def plan(as_json: Json = False, retry: Retry = False) -> None:
    """Show what apply would run, checked on the server; takes no lock and writes nothing."""
    from mkg import migrate

    with _connected() as (_, run):
        planned = migrate.plan(run, retry=retry)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(step) for step in planned], indent=2))
        return
    for step in planned:
        typer.echo(_step(step))
    typer.echo("checked against the schema of now" if planned else "nothing to apply")


@app.command("apply")
def apply(
    yes: Yes = False,
    retry: Retry = False,
    to: Annotated[str, typer.Option("--to", help="Stop after this migration.")] = "",
    as_json: Json = False,
) -> None:
    """Apply every migration that waits, in order."""
    from mkg import migrate

    with _connected() as (settings, run):
        waiting = migrate.pending(run, again=retry)
        if waiting and not yes:
            _ask(f"To apply to {_where(settings)}: {', '.join(waiting)}", "Apply?")
        told = _to_stderr if as_json else typer.echo
        done = migrate.apply_all(run, progress=told, retry=retry, to=to or None)
    if as_json:
        typer.echo(json.dumps({"done": done}))
        return
    typer.echo(f"{len(done)} migration(s) done" if done else "nothing to apply")


@app.command("status")
def status(as_json: Json = False) -> None:
    """Show every migration and how it stands; takes no lock and writes nothing."""
    from mkg import migrate

    with _connected() as (_, run):
        states, holder, hindrance = migrate.status(run), migrate.holder(run), migrate.hindrance(run)
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(state) for state in states], indent=2))
        return
    for state in states:
        typer.echo(_line(state))
    if hindrance is not None:
        typer.echo(f"apply would refuse: {hindrance}")
    if holder is not None:
        typer.echo(f"the migration lock is held by {holder}")


@app.command("verify")
def verify(as_json: Json = False) -> None:
    """Compare files and schema with what was applied; takes no lock and writes nothing."""
    from mkg import migrate
    from mkg.errors import MigrationUnverified

    with _connected() as (_, run):
        found = migrate.verify(run)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), indent=2))
    else:
        for line in found.problems:
            typer.echo(line)
        if found.undeclared:
            typer.echo(f"beyond the migrations: {', '.join(found.undeclared)}")
        typer.echo(f"{found.checked} index(es) and constraint(s) compared")
    if found.problems:
        raise MigrationUnverified(
            f"the database differs from its migrations in {len(found.problems)} place(s)"
        )


@app.command("mark")
def mark(id: Id, yes: Yes = False) -> None:
    """Record a migration as applied without running it: when you finished it by hand."""
    from mkg import migrate

    with _connected() as (settings, run):
        if not yes:
            _ask(f"To record as applied in {_where(settings)}: {id}", "Record it?")
        migrate.mark(run, id)
    typer.echo(f"{id} is recorded as applied; nothing of it was run")


@app.command("unmark")
def unmark(id: Id, yes: Yes = False) -> None:
    """Forget that the newest migration was applied; what it did stays in the database."""
    from mkg import migrate

    with _connected() as (settings, run):
        if not yes:
            _ask(f"To forget in {_where(settings)}: {id}", "Forget it?")
        migrate.unmark(run, id)
    typer.echo(f"{id} is no longer recorded; what it did is still there")


@app.command("repair")
def repair(yes: Yes = False) -> None:
    """Accept applied files that were edited or renamed as they are now."""
    from mkg import migrate

    with _connected() as (settings, run):
        changed = migrate.to_repair(run)
        if not changed:
            typer.echo("nothing to repair")
            return
        if not yes:
            shown = ", ".join(f"{state.id} ({state.state}: {state.path})" for state in changed)
            _ask(f"To accept in {_where(settings)}: {shown}", "Accept?")
        done = migrate.repair(run)
    typer.echo(f"accepted: {', '.join(done)}")


@app.command("break-lock")
def break_lock(yes: Yes = False) -> None:
    """Take the migration lock away from its holder; nothing it still does counts."""
    from mkg import migrate
    from mkg.errors import MigrationLocked

    with _connected() as (_, run):
        holder = migrate.holder(run)
        if holder is None:
            typer.echo("nobody holds the migration lock")
            return
        if not yes:
            _ask(f"The lock is held by {holder}", "Take it away?")
        if not migrate.break_lock(run, holder):
            raise MigrationLocked("the lock changed hands meanwhile; run: mkg migrate status")
    typer.echo(f"the lock was taken away from {holder.by} on {holder.host}")


@contextmanager
def _connected() -> Generator[tuple["Settings", "Neo4jRunner"]]:
    from mkg.db import connect
    from mkg.settings import load_settings

    settings = load_settings()
    with connect(settings, caller="migrate") as run:
        yield settings, run


def _ask(said: str, question: str) -> None:
    from mkg.errors import Refused

    typer.echo(said)
    if not sys.stdin.isatty():
        raise Refused("nobody is here to confirm; add --yes")
    if not typer.confirm(question):
        raise Refused("nothing was changed")


def _where(settings: "Settings") -> str:
    # The URI may carry credentials; a person recognises the store without them.
    return settings.store.uri.split("@")[-1] if settings.store.uri else "the local store"


def _to_stderr(line: str) -> None:
    typer.echo(line, err=True)


def _step(step: "Planned") -> str:
    parts = [f"{step.id:<32}", f"{step.kind or '?'}, @tx {step.tx}, {step.statements} statement(s)"]
    if step.batch:
        parts.append(f"batches of {step.batch}")
    if step.predicted:
        parts.append("predicts " + ", ".join(f"{k} {v}" for k, v in step.predicted.items()))
    return "\n    ".join(["  ".join(parts), *step.notes])


def _line(state: "MigrationState") -> str:
    parts = [f"{state.id:<32}", _MARKS[state.state]]
    if state.applied_at and state.state != "pending":
        parts.append(f"{state.applied_at[:19]} by {state.applied_by} ({state.tool})")
    if state.message:
        parts.append(state.message)
    return "  ".join(parts)
