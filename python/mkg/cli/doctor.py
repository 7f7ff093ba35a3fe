"""`mkg doctor`: every link of the chain, and the command that repairs it."""

import dataclasses
import json
from typing import Annotated

import typer

SIGNS = {"ok": "ok     ", "warning": "warning", "broken": "BROKEN ", "unknown": "unknown"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look at every link between client and graph; tells the command that repairs each."""
    from mkg import doctor as examination

    links = examination.examine()
    code = examination.exit_code(links)
    if as_json:
        rows = [dataclasses.asdict(link) for link in links]
        typer.echo(json.dumps({"ok": code == 0, "links": rows}, indent=2))
        raise typer.Exit(code)
    for link in links:
        typer.echo(f"{SIGNS[link.state]}  {link.link:13} {link.says}")
        if link.repair:
            typer.echo(f"{'':9}{'':13} run: {link.repair}")
    raise typer.Exit(code)
