"""Small commands: why, config, trust."""

import dataclasses
import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, cast

import typer

from mkg import log
from mkg.errors import ConfigError, MkgError, Refused
from mkg.json_shape import as_object
from mkg.unseen import unseen

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def begin() -> None:
    """What every command does first: log to the file, leave the pointer for the hooks.

    The pointer names the store of the user's file, never one of this process's environment: it
    outlives the process, and a client may have started it.
    """
    from mkg.install.lines import refresh_script
    from mkg.pointer import write_pointer
    from mkg.settings import load_settings

    try:
        settings = load_settings(origin="client")
    except ConfigError:
        # The command itself reports it, if it needs settings at all.
        return
    try:
        log.to_file(settings.paths.log_dir, level=settings.log_level)
        write_pointer(settings)
        refresh_script(settings)
    except OSError:
        # A home that cannot be written: a command that has to write there says so itself.
        return


def why(
    id: Annotated[str, typer.Argument(help="The id of an injected line.")], as_json: Json = False
) -> None:
    """Show where a line comes from: the words, who said them, what let it pass, who was told."""
    from mkg import migrate
    from mkg.db import connect
    from mkg.features.learnings import story
    from mkg.settings import load_settings

    with connect(load_settings(), caller="why") as run:
        migrate.check_schema(run)
        found = story.of(run, id)
    if not found:
        raise Refused(f"nothing is known by the id {id.strip()[:80]!r}; copy it from the line")
    if as_json:
        shown = [{**dataclasses.asdict(f.why), **dataclasses.asdict(f.story)} for f in found]
        typer.echo(json.dumps(shown, default=_text, indent=2))
        return
    for each in found:
        typer.echo("\n".join(visible(line) for line in story.lines(each)))


def visible(text: str) -> str:
    """A text for a terminal: what could move the cursor or hide something is shown as an escape."""
    return "".join(f"\\u{ord(c):04x}" if not c.isprintable() or unseen(c) else c for c in text)


def config(as_json: Json = False) -> None:
    """Show every setting, its value and where the value comes from; secrets are masked."""
    from mkg.settings import FOLDER_VARIABLES, SECRETS, VARIABLES, load_settings

    settings = load_settings()
    rows: list[tuple[str, str, str]] = []
    for field, variable in {**FOLDER_VARIABLES, **VARIABLES}.items():
        value: object = settings
        for part in field.split("."):
            value = getattr(value, part)
        if variable in SECRETS:
            shown = "set" if value is not None else "not set"
        elif isinstance(value, tuple):
            shown = ",".join(str(v) for v in cast("tuple[object, ...]", value))
        else:
            shown = "" if value is None else str(value)
        if isinstance(value, dict):
            pairs = cast("dict[str, str]", value).items()
            shown = ",".join(f"{k}={v}" for k, v in pairs)
        if field == "store.uri" and value is None:
            shown = "(managed local server)"
        rows.append((variable, shown, settings.sources.get(field, "default")))
    from mkg.cli import capture

    pauses = capture.shown(capture.paused_state(settings.home))
    rows.append(("(paused)", pauses, "mkg pause" if pauses != "no" else "default"))
    if as_json:
        typer.echo(
            json.dumps(
                [dict(zip(("name", "value", "source"), r, strict=True)) for r in rows], indent=2
            )
        )
        return
    width = max(len(name) for name, _, _ in rows)
    for name, shown, source in rows:
        typer.echo(f"{name:<{width}}  {shown}  [{source}]")


def trust(
    folder: Annotated[Path, typer.Argument(help="A folder with a .mkg.toml.")] = Path(),
    remove: Annotated[bool, typer.Option("--remove", help="Take the trust back.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Let a folder's .mkg.toml choose the store, as it stands now; any edit ends the trust."""
    from mkg.private import write_private
    from mkg.settings import (
        TRUSTED_KEYS,
        content_hash,
        load_settings,
        project_file,
        read_project_file,
    )

    settings = load_settings()
    path = project_file(folder.resolve())
    if path is None:
        raise Refused(f"there is no .mkg.toml at or above {folder.resolve()}")
    ledger = settings.paths.trust
    try:
        entries = as_object(json.loads(ledger.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        entries = {}
    key = str(path.resolve())
    if remove:
        entries.pop(key, None)
        write_private(ledger, json.dumps(entries, indent=1, sort_keys=True))
        typer.echo(f"{path} is not trusted any more")
        return
    chosen = {k: v for k, v in read_project_file(path).items() if k in TRUSTED_KEYS}
    for name, value in chosen.items():
        typer.echo(f"  {name} = {value}")
    if not chosen:
        raise Refused(f"{path} names nothing that needs trust")
    if not yes and not typer.confirm(f"Let {path} choose this store?"):
        raise Refused("nothing was changed")
    entries[key] = content_hash(path)
    write_private(ledger, json.dumps(entries, indent=1, sort_keys=True))
    typer.echo(f"{path} is trusted until it is edited")


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise MkgError(f"cannot print a {type(value).__name__}")
