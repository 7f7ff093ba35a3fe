"""`mkg redact`: mask the credentials of a text, as every exit of the product does."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, cast

import typer


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
            sys.stdout.flush()
        return
    sys.stdout.write(mask(sys.stdin.read())[0])


def redact_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield one answer for each line that is not blank, in order.

    `{"id", "text", "found": [{"rule", "start", "end"}]}` with the spans in characters of the given
    text, or `{"id", "error"}` for a line that cannot be read: one bad line costs no other.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _answer(line, number)


def _answer(line: str, number: int) -> dict[str, Any]:
    from mkg_hooks.redact import redact as mask

    # The line itself may be what is to be masked, so an error names its number only.
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {"id": None, "error": f"line {number} is not JSON; give one object a line"}
    known = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
    name, text = known.get("id"), known.get("text")
    if not isinstance(name, str | int | float | bool | None):
        name = None
    if not isinstance(text, str):
        return {
            "id": name,
            "error": f'line {number} has no text; give {{"id": ..., "text": "..."}}',
        }
    masked, found = mask(text)
    spans = [{"rule": f.rule, "start": f.start, "end": f.end} for f in found]
    return {"id": name, "text": masked, "found": spans}
