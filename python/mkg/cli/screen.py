"""`mkg screen`: what the deterministic screen makes of a text."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, cast

import typer

from mkg.errors import ConfigError


def screen(
    channel: Annotated[
        str,
        typer.Option(
            help="Where the text comes from: U user, M assistant, T tool, A write tool, "
            "S search, P payload, G model answer."
        ),
    ] = "U",
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help='Read lines {"id", "channel", "text"}, answer one line each.'),
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")] = False,
) -> None:
    """Screen the text on stdin: pass, wait for a person, or block, with the rule that says so."""
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    if jsonl:
        for answer in screen_lines(sys.stdin, channel):
            typer.echo(json.dumps(answer))
        return
    answer = _judged({"id": None, "channel": channel, "text": sys.stdin.read()}, channel)
    if json_:
        typer.echo(json.dumps(answer))
    else:
        detail = f": {answer['category']}/{answer['rule']}, it {answer['reason']}"
        typer.echo(answer["verdict"] + (detail if answer["rule"] else ""))


def screen_lines(lines: Iterable[str], channel: str) -> Iterator[dict[str, Any]]:
    """Yield one answer for each line of JSON; a row without text gets the verdict for no text.

    Raises:
        ConfigError: a line is no JSON object, or names an unknown channel.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except ValueError as error:
            raise ConfigError(
                f"line {number} is not JSON ({error}); give one object a line"
            ) from error
        if not isinstance(row, dict):
            raise ConfigError(f"line {number} is not an object; give {{id, channel, text}}")
        yield _judged(cast(dict[str, Any], row), channel)


def _judged(row: dict[str, Any], channel: str) -> dict[str, Any]:
    from mkg.features.gate.screen import screen as judge

    text = row.get("text")
    try:
        found = judge(
            text if isinstance(text, str) else "", channel=str(row.get("channel") or channel)
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return {
        "id": row.get("id"),
        "verdict": found.verdict,
        "category": found.category,
        "rule": found.rule,
        "reason": found.reason,
    }
