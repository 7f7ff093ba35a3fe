"""`mkg import`: bringing in what was said elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from mkg.errors import ConfigError

app = typer.Typer(no_args_is_help=True, help="Bring in what was said elsewhere.")


@app.command()
def dialogue(
    file: Annotated[Path, typer.Argument(help="A JSON list of conversations, or JSON lines.")],
    project: Annotated[
        str, typer.Option(help="Project id; with several conversations each gets /NAME after it.")
    ] = "",
) -> None:
    """Store the turns of dialogues as episodes, with their order and their speakers."""
    from mkg import embed
    from mkg.db import connect
    from mkg.features.timeline import dialogue as importer
    from mkg.features.timeline.person import resolve
    from mkg.settings import load_settings

    found = importer.read(file)
    if not found:
        raise ConfigError(f"{file.name} holds no dialogue")
    settings = load_settings()
    embedder = embed.load(settings)
    base = project or f"dialogue/{file.stem}"
    with connect(settings, caller="import") as run:
        for each in found:
            target = base if len(found) == 1 else f"{base}/{each.id}"
            done = importer.store(
                run, embedder, each, project_id=target, user_id=resolve(settings).id
            )
            typer.echo(
                f"{target}: {done.turns} turns, {done.created} new, {done.redacted} secrets cut out"
            )
