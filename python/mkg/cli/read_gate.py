"""`mkg read-gate`: what the gate for raw queries says of many, against the running store."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, cast

import typer

from mkg.errors import ConfigError, MkgError

LONGEST_LINE = 1 << 20


def read_gate(
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl",
            help='Read lines {"id", "query", "parameters"?}, answer each with '
            '{"id", "verdict": "allow|refuse", "reason"}.',
        ),
    ] = False,
) -> None:
    """Judge queries on stdin by the gate's own rules and by the store's plans; nothing is run."""
    from mkg.db.raw import connect_raw
    from mkg.features.reader.meter import Meter
    from mkg.features.reader.reader import Asked, Reader
    from mkg.settings import load_settings

    if not jsonl:
        raise ConfigError("say how the queries come: mkg read-gate --jsonl < queries.jsonl")
    # A broken byte becomes a lone surrogate, which the gate refuses; a replacement would pass.
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    raw = connect_raw(load_settings())
    with raw:
        reader = Reader(raw, Meter())
        reader.judge(Asked("RETURN 1", {}))
        for answer in judge_lines(sys.stdin, lambda q, p: reader.judge(Asked(q, p))):
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def judge_lines(
    lines: Iterable[str], judge: Callable[[str, dict[str, Any]], str]
) -> Iterator[dict[str, Any]]:
    """Yield one answer for each line that is not blank; whatever is wrong with it is a refusal."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row = _row(line)
        if isinstance(row, str):
            yield _answer(None, f"line {number}: {row}")
            continue
        query, params = row.get("query"), row.get("parameters")
        if not isinstance(query, str):
            yield _answer(row.get("id"), "the line has no query")
            continue
        try:
            reason = judge(query, cast("dict[str, Any]", {} if params is None else params))
        except MkgError as error:
            reason = str(error)
        yield _answer(row.get("id"), reason)


def _row(line: str) -> dict[str, Any] | str:
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE} characters"
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "not JSON; give one object a line"
    return cast("dict[str, Any]", row) if isinstance(row, dict) else "not a JSON object"


def _answer(given: Any, reason: str) -> dict[str, Any]:
    return {
        "id": given,
        "verdict": "refuse" if reason else "allow",
        "reason": reason or "reads only",
    }
