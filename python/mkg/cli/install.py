"""`mkg install` and `mkg uninstall`: registering the memory with an agent client."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mkg.errors import Refused

if TYPE_CHECKING:
    from mkg.install.plan import Plan

Scope = Literal["user", "project"]
Name = Annotated[
    str, typer.Argument(help="claude, codex, gemini, copilot or custom:NAME.", metavar="CLIENT")
]
InScope = Annotated[
    Scope, typer.Option("--scope", help="Your own settings, or this project's files.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Face = Annotated[
    Literal["memory", "encounter", "both"], typer.Option("--face", help="Which face to register.")
]


def install(
    client: Name,
    scope: InScope = "user",
    face: Face = "memory",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Register hooks and MCP server with an agent client; shows the changes and asks first."""
    from mkg.bundle.files import root
    from mkg.install import plan as installing
    from mkg.install.lines import write_script
    from mkg.settings import load_settings, subprocess_env

    if face != "memory":
        raise Refused(
            f"the face {face!r} is not here yet: this version has the memory face only; "
            "use --face memory"
        )
    settings = load_settings(origin="client")
    if client.startswith("custom:"):
        shown = installing.custom(settings, client)
        if not dry_run:
            write_script(settings)
        _print_custom(client, shown, as_json)
        return
    plan = installing.plan_install(
        settings, client, scope=scope, env=subprocess_env(), folder=Path.cwd()
    )
    label = plan.client.label
    _carry_out(settings, plan, dry_run, yes, as_json, f"{label} has all of it already")
    if not dry_run and not as_json:
        typer.echo(f"mkg is registered with {label}. {plan.client.after}")
        where = root("hooks")
        if where.parent.name != "_data":
            typer.echo(
                f"Its hooks run from {where}: what is changed there changes them. An installed"
                " package (pip install meta-knowledge-graph) stands still."
            )


def uninstall(
    client: Name,
    scope: InScope = "user",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Take hooks and MCP server out of a client's files; what is not ours stays as it is."""
    from mkg.install import plan as installing
    from mkg.settings import load_settings, subprocess_env

    settings = load_settings(origin="client")
    if client.startswith("custom:"):
        raise Refused(f"{client} was registered by you: remove the lines where you put them")
    plan = installing.plan_uninstall(
        settings, client, scope=scope, env=subprocess_env(), folder=Path.cwd()
    )
    label = plan.client.label
    _carry_out(settings, plan, dry_run, yes, as_json, f"nothing of mkg is registered with {label}")
    if not dry_run and not as_json:
        typer.echo(f"mkg is not registered with {label}. What it remembers is untouched.")


def _carry_out(
    settings: Any, plan: "Plan", dry_run: bool, yes: bool, as_json: bool, nothing: str
) -> None:
    from mkg.install import plan as installing

    if not as_json:
        for change in plan.changes:
            if change.action != "keep":
                typer.echo(change.diff())
    applied = False
    if not dry_run:
        if plan.changes_something and not yes:
            _ask(plan)
        # Without changes too: the ledger, the script and the bytecode may be what is missing.
        installing.apply(settings, plan)
        applied = True
    if as_json:
        typer.echo(installing.json_of(plan, applied))
    elif not plan.changes_something:
        typer.echo(nothing)
    elif dry_run:
        typer.echo("nothing was changed (dry run)")


def _ask(plan: "Plan") -> None:
    changed = sum(change.action != "keep" for change in plan.changes)
    if not sys.stdin.isatty():
        raise Refused("nothing was changed: say --yes to change the files shown by --dry-run")
    if not typer.confirm(f"Change {changed} file(s)?"):
        raise Refused("nothing was changed")


def _print_custom(client: str, shown: dict[str, Any], as_json: bool) -> None:
    import json

    if as_json:
        typer.echo(json.dumps({"client": client, **shown}, indent=2))
        return
    typer.echo(
        f"Register this command for each event of {client}, with its name in place of EVENT and "
        "the event's JSON on stdin;\nit always exits 0 and prints an answer or nothing:\n"
    )
    typer.echo(f"  {shown['hook']}\n")
    typer.echo("and this MCP server:\n")
    typer.echo(json.dumps(shown["server"], indent=2))
