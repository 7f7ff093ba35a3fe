"""`mkg setup`: the user's settings file, asked for, tried out, and written for that user alone."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from mkg.errors import ConfigError, Refused

if TYPE_CHECKING:
    from mkg.settings import Settings

STORE = ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE")
MODEL_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")
SECONDS = 15.0
Text = str | None


def setup(
    uri: Annotated[Text, typer.Option(help="Address of a database of your own.")] = None,
    username: Annotated[Text, typer.Option(help="User there.")] = None,
    database: Annotated[Text, typer.Option(help="Database there.")] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Use the managed local server again.")
    ] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE of another setting; empty drops.")
    ] = None,
    untested: Annotated[
        bool, typer.Option("--untested", help="Write it although the store does not answer.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask; take what the options say.")
    ] = False,
) -> None:
    """Write your settings file: asks, tries the connection, keeps every line it does not know."""
    from mkg.settings import config_file, read_env_file

    path = config_file()
    had = read_env_file(path)
    given = {"NEO4J_URI": uri, "NEO4J_USERNAME": username, "NEO4J_DATABASE": database}
    chosen: dict[str, str] = {name: value for name, value in given.items() if value is not None}
    chosen |= _pairs(set_ or [])
    if local:
        chosen |= dict.fromkeys(STORE, "")
    if password_stdin:
        chosen["NEO4J_PASSWORD"] = sys.stdin.readline().rstrip("\r\n")
    if not yes:
        if not sys.stdin.isatty():
            raise Refused(
                "nothing was written: say --yes with the options to set, or use a terminal"
            )
        chosen |= _ask(had, chosen)
    wanted = {name: value for name, value in {**had, **chosen}.items() if value}
    _try(wanted, untested=untested, ask=not yes)
    changed = sorted(name for name in {*had, *wanted} if had.get(name) != wanted.get(name))
    if not changed:
        typer.echo(f"{path} says all of that already")
        return
    _write(path, {name: wanted.get(name, "") for name in changed})
    typer.echo(f"{path}: {', '.join(changed)} written, readable by you alone")


def _pairs(words: list[str]) -> dict[str, str]:
    """KEY=VALUE words of the settings that are no secret.

    Raises:
        Refused: a key is not known, or must not stand in an argument list.
    """
    from mkg.settings import SECRETS, VARIABLES

    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in VARIABLES.values():
            known = ", ".join(sorted(set(VARIABLES.values()) - SECRETS))
            raise Refused(f"--set takes KEY=VALUE with one of: {known}")
        if key in SECRETS:
            how = "--password-stdin" if key == "NEO4J_PASSWORD" else "mkg setup in a terminal"
            raise Refused(f"other programs see an argument list: use {how}")
        found[key] = value
    return found


def _ask(had: Mapping[str, str], chosen: Mapping[str, str]) -> dict[str, str]:
    """What a person answers; Enter keeps."""
    now = {**had, **chosen}
    answers: dict[str, str] = {}
    own = typer.confirm(
        "Use a Neo4j database of your own, not the managed local server?",
        default=bool(now.get("NEO4J_URI")),
    )
    if not own:
        answers |= dict.fromkeys(STORE, "")
    else:
        for name, default in (
            ("NEO4J_URI", "bolt://127.0.0.1:7687"),
            ("NEO4J_USERNAME", "neo4j"),
            ("NEO4J_DATABASE", "neo4j"),
        ):
            answers[name] = typer.prompt(name, default=now.get(name) or default)
        kept = " (set; Enter keeps it)" if now.get("NEO4J_PASSWORD") else ""
        secret = typer.prompt(
            f"NEO4J_PASSWORD{kept}", default="", show_default=False, hide_input=True
        )
        answers["NEO4J_PASSWORD"] = secret or now.get("NEO4J_PASSWORD", "")
    model = now.get("EMBEDDING_MODEL") or "minilm-l6-int8"
    answer = typer.prompt("EMBEDDING_MODEL (none: search by words alone)", default=model)
    if answer != model or "EMBEDDING_MODEL" in now:
        answers["EMBEDDING_MODEL"] = answer
    return answers | _ask_models(now)


def _ask_models(now: Mapping[str, str]) -> dict[str, str]:
    """Model access, which nobody needs: without it statements are found by rules."""
    named = any(now.get(name) for name in (*MODEL_KEYS, "LLM_MODEL", "MKG_LLM_BASE_URL"))
    if not typer.confirm("May a language model read what was said, within a cap?", default=named):
        return {"MKG_LLM_BACKEND": "off"} if named else {}
    answers = {"MKG_LLM_BACKEND": ""} if now.get("MKG_LLM_BACKEND") == "off" else {}
    for name, hint in (
        ("LLM_MODEL", "such as anthropic/claude-haiku-4-5; Enter: chosen by client"),
        ("MKG_LLM_BASE_URL", "of an OpenAI-compatible server of yours; Enter: none"),
        ("MKG_LLM_DAILY_USD", "dollars a day at most; Enter: 1"),
    ):
        answers[name] = typer.prompt(
            f"{name} ({hint})", default=now.get(name, ""), show_default=bool(now.get(name))
        )
    for name in MODEL_KEYS:
        kept = "set; Enter keeps it" if now.get(name) else "Enter: none"
        secret = typer.prompt(f"{name} ({kept})", default="", show_default=False, hide_input=True)
        answers[name] = secret or now.get(name, "")
    return answers


def _try(wanted: Mapping[str, str], *, untested: bool, ask: bool) -> None:
    """Check every value, and that the store answers.

    Raises:
        ConfigError: a value does not fit.
        Refused: the store does not answer, and nobody said to go on.
    """
    from mkg import embed
    from mkg.settings import settings_with

    settings = settings_with(wanted)
    embed.load(settings)
    if settings.store.uri is None:
        typer.echo("the managed local server: `mkg db up` starts it")
        return
    problem = _problem(settings)
    if problem is None:
        typer.echo("the store answers")
        return
    typer.echo(f"the store does not do: {problem}", err=True)
    if untested or (ask and typer.confirm("Write the settings all the same?", default=False)):
        return
    raise Refused("nothing was written: put it right, or say --untested")


def _problem(settings: "Settings") -> str | None:
    """What is wrong with the store, or None; never waits longer than SECONDS."""
    import threading

    from mkg import localdb

    found: list[str | None] = []

    def look() -> None:
        status = localdb.status(settings)
        missing = f"it lacks {', '.join(status.missing[:5])}" if status.missing else None
        found.append(missing if status.running else status.problem)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return found[0] if found else f"no answer within {SECONDS:g} s"


def _write(path: "os.PathLike[str]", changes: Mapping[str, str]) -> None:
    from pathlib import Path

    from mkg.private import write_private

    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text; nothing was written") from None
    write_private(file, edited(text, changes))


def edited(text: str, changes: Mapping[str, str]) -> str:
    """The lines of a settings file with some values changed; an empty value drops its lines.

    Raises:
        ConfigError: a value has a line end.
    """
    left = dict(changes)
    lines: list[str] = []
    for line in reversed(text.splitlines()):
        words = line.strip().removeprefix("export ")
        name = words.partition("=")[0].strip() if "=" in words else ""
        if words.startswith("#") or name not in changes:
            lines.append(line)
        elif left.get(name):
            # The last line of a name is the one that counts.
            lines.append(f"{name}={_quoted(name, left.pop(name))}")
    lines.reverse()
    lines += [f"{name}={_quoted(name, value)}" for name, value in left.items() if value]
    return "".join(f"{line}\n" for line in lines)


def _quoted(name: str, value: str) -> str:
    if len(value.splitlines()) != 1:
        raise ConfigError(f"{name} must be one line")
    plain = value == value.strip() and value[0] not in "\"'"
    return value if plain else f'"{value}"'
