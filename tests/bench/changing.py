"""Facts that change, made from `changes.toml`: what is typed when, and what is asked afterwards.

A change is told "plain" or "reworded". Plain is what can be seen without a model: a sentence names
the value that goes, or is the sentence from before with another value. Reworded, the sentence has
other words and only the new value: that it replaces anything is for a model or a person to say.
"""

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from tests.bench import world
from tests.support.events import START

Half = Literal["seen", "held_out"]
HALVES: tuple[Half, Half] = ("seen", "held_out")
Way = Literal["plain", "reworded"]
STEP = 600
PROJECTS = 6
# These openings ask to remember; the others say that something before was not right.
_FIRST = ("emember", "note", "mind", "reference", "forget")
_ORDERS = ("use ", "ask ", "test ", "build ", "page ", "report ", "start ", "announce ")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a fact is stated, changed and asked for; the forms of a change may name `old`."""

    name: str
    half: Half
    of: str
    values: tuple[str, ...]
    stated: tuple[str, ...]
    changed: tuple[str, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """One prompt and the value it gives, from that moment on."""

    prompt: str
    value: str
    at: datetime


@dataclass(slots=True)
class Fact:
    """One fact of one project: its question, and what was said of it, in order."""

    half: Half
    kind: str
    project: int
    question: str
    way: Way = "plain"
    told: list[Told] = field(default_factory=list[Told])


@dataclass(frozen=True, slots=True)
class _Table:
    kinds: tuple[Kind, ...]
    subjects: dict[str, Sequence[str]]
    openings: dict[Half, Sequence[str]]


def facts(count: int, *, way: Way = "plain", seed: int = 11) -> list[Fact]:
    """`count` facts, half of each half; every one changes one to three times."""
    chance, table = random.Random(seed), _table()
    made: list[Fact] = []
    for half in HALVES:
        left = [
            (kind, _places(kind, table, chance, way)) for kind in table.kinds if kind.half == half
        ]
        number = 0
        while number < count // 2:
            # A project has one package manager: when all have theirs, others have more facts.
            left = [(kind, places) for kind, places in left if places]
            kind, places = left[number % len(left)]
            project, subject = places.pop()
            made.append(
                _fact(kind, project, subject, table, chance, way=way, changes=1 + number % 3)
            )
            number += 1
    chance.shuffle(made)
    return made


def _places(kind: Kind, table: _Table, chance: random.Random, way: Way) -> list[tuple[int, str]]:
    # Projects of their own: two facts of one place would give it two values.
    first = PROJECTS if way == "reworded" else 0
    found = [(p, s) for p in range(first, first + PROJECTS) for s in table.subjects[kind.of]]
    chance.shuffle(found)
    return found


def _fact(
    kind: Kind,
    project: int,
    subject: str,
    table: _Table,
    chance: random.Random,
    *,
    way: Way,
    changes: int,
) -> Fact:
    question = chance.choice(kind.asked).format(s=subject)
    fact = Fact(kind.half, kind.name, project, question, way)
    values = chance.sample(kind.values, min(1 + changes, len(kind.values)))
    if changes == 3 and chance.random() < 0.2:
        # Sometimes it is as it was before.
        values[-1] = values[0]
    form = ""
    for place, new in enumerate(values):
        old = values[place - 1] if place else ""
        form = chance.choice(_forms(kind, form, way) if place else kind.stated)
        said = form.format(s=subject, new=new, old=old)
        opening = chance.choice(_openings(table.openings[kind.half], form, first=not place))
        prompt = opening.format(x=said)
        prompt = prompt[0].upper() + prompt[1:]
        fact.told.append(Told(prompt, new, START + timedelta(seconds=STEP * (place + 1))))
    return fact


def _forms(kind: Kind, before: str, way: Way) -> list[str]:
    """In which forms a change may be told after the form before it."""
    if way == "reworded":
        return [
            form for form in (*kind.changed, *kind.stated) if form != before and "{old}" not in form
        ]
    named = [form for form in kind.changed if "{old}" in form]
    # As often the same again as with the old value.
    return named if "{old}" in before else [*named, *[before] * len(named)]


def _openings(known: Sequence[str], form: str, *, first: bool) -> list[str]:
    fitting = [o for o in known if not first or any(word in o for word in _FIRST)]
    if form.startswith(_ORDERS):
        fitting = [o for o in fitting if "that {x}" not in o]
    if form.startswith("we "):
        # Who tells what was done often begins with that.
        fitting = [*fitting, "{x}", "{x}"]
    return fitting


def _table() -> _Table:
    data = tomllib.loads(Path(__file__).with_name("changes.toml").read_text(encoding="utf-8"))
    lists = ("values", "stated", "changed", "asked")
    kinds = tuple(
        Kind(**{key: tuple(v) if key in lists else v for key, v in kind.items()})
        for kind in data["kind"]
    )
    subjects = {"": ("",), "part": tuple(world.PARTS), **data["subjects"]}
    return _Table(kinds, subjects, data["openings"])
