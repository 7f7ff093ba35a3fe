"""`mkg screen`: what the gate's screens make of a text: the rules, and with `--model` a model."""

import json
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any, cast

import typer

from mkg.errors import ConfigError
from mkg.llm import Model

AT_ONCE = 8
CAP = "no model was asked: the day's allowance is used up (mkg cost)"


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
    model: Annotated[
        bool,
        typer.Option("--model", help="Ask the model as well, as the gate does; its cap holds."),
    ] = False,
) -> None:
    """Screen the text on stdin: pass, wait for a person, or block, with the rule that says so."""
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    if model:
        _with_model(channel, jsonl=jsonl, as_json=json_)
        return
    if jsonl:
        for answer in screen_lines(sys.stdin, channel):
            typer.echo(json.dumps(answer))
        return
    _say(_judged({"id": None, "channel": channel, "text": sys.stdin.read()}, channel), json_)


def _with_model(channel: str, *, jsonl: bool, as_json: bool) -> None:
    with _asked() as asked:
        if not jsonl:
            row = {"id": None, "channel": channel, "text": sys.stdin.read()}
            (answer,) = _second(asked, [(row, _judged(row, channel))])
            _say(answer, as_json)
            return
        rows = _rows(sys.stdin)
        while part := list(islice(rows, AT_ONCE)):
            for answer in _second(asked, [(row, _judged(row, channel)) for row in part]):
                typer.echo(json.dumps(answer))


@contextmanager
def _asked() -> Generator[Model]:
    """The model that the gate would ask, metered like any other call.

    Raises:
        ConfigError: there is none to ask.
    """
    from mkg import db
    from mkg.llm import asking
    from mkg.settings import load_settings

    settings = load_settings()
    with db.connect(settings, caller="screen") as run:
        model = asking.load(settings, lambda: run)
        if (problem := model.available("screen")) is not None:
            raise ConfigError(f"no model can be asked: {problem}")
        try:
            yield model
        finally:
            model.close()


def _second(
    model: Model, rows: Sequence[tuple[dict[str, Any], dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """The stricter of both screens for each row; what the rules block no model is shown."""
    from mkg.features.gate.decide import Blocked, Waits
    from mkg.features.gate.judge import second_screen

    texts = {
        n: str(row["text"]) for n, (row, said) in enumerate(rows) if said["verdict"] != "block"
    }
    found = second_screen(model, texts)
    for n, (_, said) in enumerate(rows):
        second = found.get(n)
        answer = {**said, "model": second.model if second else None}
        match second.outcome if second else None:
            case Blocked(category=category, rule=rule, reason=reason):
                answer |= {"verdict": "block", "category": category, "rule": rule, "reason": reason}
            case Waits(rule=rule, reason=reason) if said["verdict"] == "pass":
                answer |= {"verdict": "wait", "category": "other", "rule": rule, "reason": reason}
            case None if second and second.model is None and said["verdict"] == "pass":
                reason = "no model was asked: the day's allowance is used up (mkg cost)"
                answer |= {
                    "verdict": "wait",
                    "category": "other",
                    "rule": "model",
                    "reason": reason,
                }
            case _:
                pass
        yield answer


def _say(answer: dict[str, Any], json_: bool) -> None:
    if json_:
        typer.echo(json.dumps(answer))
    else:
        # A model's reason is a sentence of its own.
        then = ": " if answer["rule"].startswith("model") else ", it "
        detail = f": {answer['category']}/{answer['rule']}{then}{answer['reason']}"
        typer.echo(answer["verdict"] + (detail if answer["rule"] else ""))


def screen_lines(lines: Iterable[str], channel: str) -> Iterator[dict[str, Any]]:
    """Yield one answer for each line of JSON; a row without text gets the verdict for no text.

    Raises:
        ConfigError: a line is no JSON object, or names an unknown channel.
    """
    for row in _rows(lines):
        yield _judged(row, channel)


def _rows(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
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
        yield cast(dict[str, Any], row)


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
