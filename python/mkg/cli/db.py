"""`mkg db`: the store that holds the memory, started, looked at, stopped."""

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.localdb.backups import Done
    from mkg.localdb.look import Status

app = typer.Typer(
    no_args_is_help=True, help="Start, look at and stop the database that holds the memory."
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def up(
    tune: Annotated[
        bool, typer.Option("--tune", help="First make starts faster; takes a minute or two, once.")
    ] = False,
    new_password: Annotated[
        bool,
        typer.Option("--new-password", help="Make another password, when the old one is lost."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local database, or check your own; prepare it at its first start."""
    from mkg import localdb
    from mkg.settings import load_settings, subprocess_env

    settings, env = load_settings(), subprocess_env()
    if tune and settings.store.uri is None and not localdb.tune(settings, _tell, env=env):
        _tell("starts are already as fast as they get")
    _print(localdb.up(settings, _tell, env=env, new_password=new_password), as_json)


@app.command()
def down() -> None:
    """Stop the local database."""
    from mkg import localdb
    from mkg.settings import load_settings

    was = localdb.down(load_settings(), _tell)
    typer.echo("the local database is stopped" if was else "the local database did not run")


@app.command()
def status(as_json: Json = False) -> None:
    """Show where the database is, what runs it, and whether it is ready."""
    from mkg import localdb
    from mkg.settings import load_settings

    _print(localdb.status(load_settings()), as_json)


@app.command()
def logs(
    lines: Annotated[int, typer.Option("-n", "--lines", min=1, help="How many lines.")] = 50,
) -> None:
    """Show the last lines that the local database wrote."""
    from mkg import localdb
    from mkg.settings import load_settings

    for line in localdb.logs(load_settings(), lines):
        typer.echo(line)


@app.command()
def reset(
    yes: Annotated[bool, typer.Option("--yes", help="Really delete everything in it.")] = False,
) -> None:
    """Stop the local database and delete everything in it."""
    from mkg import localdb
    from mkg.settings import load_settings

    settings = load_settings()
    if not yes:
        raise Refused(
            f"this deletes every memory in {settings.paths.store_dir}; "
            "if that is what you want, run: mkg db reset --yes"
        )
    there = localdb.reset(settings, _tell)
    typer.echo("the local store is deleted" if there else "there was no local store")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="A new file.")],
    as_json: Json = False,
) -> None:
    """Write the local database into a file; it is away meanwhile, and nothing is lost."""
    from mkg import localdb
    from mkg.features.forget import places
    from mkg.settings import load_settings, subprocess_env

    settings = load_settings()
    done = localdb.backup(settings, file, _tell, env=subprocess_env())
    # Whoever forgets later must know where a copy lies.
    places.note_backup(settings.home, file)
    _print_done(done, as_json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `mkg db backup` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Really replace what is there now.")] = False,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the local database."""
    from mkg import localdb
    from mkg.settings import load_settings, subprocess_env

    settings = load_settings()
    if not yes and settings.store.uri is None:
        found = localdb.look_into(file)
        raise Refused(
            f"this replaces every memory in {settings.paths.store_dir} by the "
            f"{found.content.numbers()} of {found.made_at}; "
            f"if that is what you want, run: mkg db restore '{file}' --yes"
        )
    _print_done(localdb.restore(settings, file, _tell, env=subprocess_env()), as_json)


def _print_done(done: "Done", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(done), indent=2))
        return
    typer.echo(f"file      {done.file}, {done.bytes / 1e6:.1f} MB")
    typer.echo(f"made      {done.made_at}, Neo4j {done.neo4j}")
    typer.echo(f"holds     {done.content.numbers()}, checksum {done.content.digest[:16]}")
    state = "running again" if done.running else "stopped, as before; start it with: mkg db up"
    typer.echo(f"database  {state}; this took {done.seconds} s")


def _tell(text: str) -> None:
    typer.echo(text, err=True)


def _print(found: "Status", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), indent=2))
        return
    for line in describe(found):
        typer.echo(line)


def describe(found: "Status") -> list[str]:
    """A status in plain lines."""
    whose = "managed local store" if found.kind == "managed" else "your own server (NEO4J_URI)"
    lines = [f"store     {whose}, database {found.database}"]
    if not found.running:
        lines.append(f"state     {found.problem}")
        if found.kind == "managed" and found.pid is None:
            lines.append("          start it with: mkg db up")
        return lines
    process = f", process {found.pid}" if found.pid else ""
    lines.append(f"address   {found.uri}{process}")
    java = f", Java {found.java}" if found.java else ""
    lines.append(f"versions  Neo4j {found.neo4j} {found.edition}{java}")
    lines.append(f"plugins   GDS {found.gds or 'missing'}, APOC {found.apoc or 'missing'}")
    if found.missing:
        lines.append(f"          not there, and switched off: {', '.join(found.missing)}")
    if found.data_bytes is not None and found.log_bytes is not None:
        lines.append(
            f"size      data {found.data_bytes / 1e6:.1f} MB, logs {found.log_bytes / 1e6:.1f} MB"
        )
    lines.append("migrated  yes" if found.migrated else _waiting(found))
    if found.proofs:
        told = ", ".join(f"{name} {outcome}" for name, outcome in found.proofs.items())
        lines.append(f"proved    {told}")
    if found.started_s is not None:
        lines.append(f"ready after {found.started_s} s")
    return lines


def _waiting(found: "Status") -> str:
    return f"migrated  no: {len(found.pending)} to apply; run: mkg migrate apply"
