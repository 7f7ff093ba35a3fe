"""`mkg redact`: mask the credentials of a text, as every exit of the product does."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, cast

import typer

from mkg.errors import ConfigError


def redact(
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help='Read lines {"id", "text"}, answer each with {"id", "text", "found"}.',
        ),
    ] = False,
) -> None:
    """Copy stdin to stdout with every credential masked."""
    from mkg_hooks.redact import redact as mask

    sys.stdin.reconfigure(encoding="utf-8", errors="replace", newline="")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="")  # type: ignore[union-attr]
    if jsonl:
        for answer in redact_lines(sys.stdin):
            # ASCII only: a lone surrogate of the input has no other way through a pipe.
            sys.stdout.write(json.dumps(answer) + "\n")
        return
    sys.stdout.write(mask(sys.stdin.read())[0])


def redact_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield one answer for each line of JSON, with the spans in offsets of the given text.

    Raises:
        ConfigError: a line is no JSON object, or has no text.
    """
    from mkg_hooks.redact import redact as mask

    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except ValueError as error:
            # The line itself may be what is to be masked, so only its number is named.
            raise ConfigError(f"line {number} is not JSON; give one object a line") from error
        text = cast(dict[str, Any], row).get("text") if isinstance(row, dict) else None
        if not isinstance(text, str):
            raise ConfigError(f'line {number} has no text; give {{"id": ..., "text": "..."}}')
        masked, found = mask(text)
        yield {
            "id": cast(dict[str, Any], row).get("id"),
            "text": masked,
            "found": [{"rule": f.rule, "start": f.start, "end": f.end} for f in found],
        }
