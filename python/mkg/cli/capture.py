"""`mkg pause` and `mkg resume`: nothing is recorded or recalled in between.

The state is a file that the launcher reads without the product, so a pause holds from the next
event on, for sessions that run already, and when nothing else of the product works.
"""

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mkg.errors import Refused

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OnlyProject = Annotated[
    bool, typer.Option("--project", help="Only the project of the folder, not everything.")
]
Folder = Annotated[Path, typer.Argument(help="A folder of the project.")]


def pause(folder: Folder = Path(), project: OnlyProject = False, as_json: Json = False) -> None:
    """Record and recall nothing from the next event on, everywhere or for one project."""
    home = _home()
    state = paused_state(home)
    if project:
        top = str(project_top(folder))
        if "\n" in top:
            raise Refused("a folder with a line break in its name cannot be paused; rename it")
        state["projects"] = sorted({*state["projects"], top})
    else:
        state["all"] = True
    _write(home, state)
    _tell(state, as_json)


def resume(folder: Folder = Path(), project: OnlyProject = False, as_json: Json = False) -> None:
    """End the pause, or with --project that of one project."""
    home = _home()
    state = paused_state(home)
    if project:
        here = folder.absolute().resolve()
        above = {str(path) for path in (here, *here.parents)}
        ended = above & set(state["projects"])
        if not ended:
            raise Refused(f"no pause of a project holds in {here}; see `mkg worker status`")
        state["projects"] = [path for path in state["projects"] if path not in ended]
    else:
        state["all"] = False
    _write(home, state)
    _tell(state, as_json)


def paused_state(home: Path) -> dict[str, Any]:
    """What is paused: `{"all": bool, "projects": [absolute folders]}`."""
    from mkg_hooks import consent

    lines = consent.read(os.fsencode(home) + b"/" + consent.STATE.encode()).split(b"\n")
    projects = [
        os.fsdecode(line[len(consent.PROJECT) :])
        for line in lines
        if line.startswith(consent.PROJECT)
    ]
    return {"all": consent.ALL in lines, "projects": projects}


def shown(state: dict[str, Any]) -> str:
    """The pauses in one line."""
    if state["all"]:
        return "everywhere"
    return ", ".join(state["projects"]) or "no"


def project_top(folder: Path) -> Path:
    """The folder of a project: where its `.mkg.toml` or its repository stands, else the folder.

    Raises:
        Refused: there is no such folder.
    """
    here = folder.absolute().resolve()
    if not here.is_dir():
        raise Refused(f"{here} is not a folder; name one of the project")
    for above in (here, *here.parents):
        if (above / ".mkg.toml").is_file() or (above / ".git").exists():
            return above
    return here


def _home() -> Path:
    from mkg.settings import load_settings

    return load_settings(origin="client").home


def _write(home: Path, state: dict[str, Any]) -> None:
    from mkg.private import write_private
    from mkg_hooks import consent

    path = home / consent.STATE
    lines = [consent.ALL.decode()] if state["all"] else []
    lines += [consent.PROJECT.decode() + folder for folder in state["projects"]]
    if lines:
        write_private(path, "\n".join(lines) + "\n")
    else:
        path.unlink(missing_ok=True)


def _tell(state: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(state))
    else:
        typer.echo(f"paused: {shown(state)}")
