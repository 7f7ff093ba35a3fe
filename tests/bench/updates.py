"""Facts whose value changes: told through the hooks' apply path, asked for in other words.

Keyless: what replaces what is found by words. Every fact is stated once and changed one to three
times, by the same sentence with another value or by a sentence that names the old one.
"""

import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from mkg.db import Neo4jRunner
from mkg.embed import LocalMiniLM
from mkg.features.learnings import retrieval
from mkg.settings import Settings, StoreSettings
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from tests.bench import world
from tests.bench.measure import Estimate
from tests.bench.report import Report, Row
from tests.conftest import Server, shared_cache
from tests.support.events import START, record

STEP = 600
TOP = 3


@dataclass(frozen=True, slots=True)
class Kind:
    """How a fact is stated, changed and asked for; the changes name `old`, or do not."""

    stated: str
    changed: tuple[str, ...]
    asked: str
    values: tuple[str, ...]


KINDS = (
    Kind(
        "The {part} listens on port {new}.",
        (
            "The {part} listens on port {new}.",
            "No, the {part} listens on port {new}, not {old}.",
            "The {part} now listens on port {new}.",
        ),
        "Which port does the {part} use?",
        tuple(str(port) for port in range(7101, 7160, 7)),
    ),
    Kind(
        "The owner of the {part} is {new}.",
        (
            "The owner of the {part} is {new}.",
            "The owner of the {part} is {new} now, no longer {old}.",
        ),
        "Who is responsible for the {part}?",
        ("Alice", "Bogdan", "Chen", "Dolores", "Emeka", "Farida", "Greta"),
    ),
    Kind(
        "The {part} keeps its data in {new}.",
        (
            "The {part} keeps its data in {new}.",
            "We moved the data of the {part} from {old} to {new}.",
            "The {part} keeps its data in {new} instead of {old}.",
        ),
        "Where is the data of the {part} stored?",
        ("Postgres", "MySQL", "SQLite", "MongoDB", "Cassandra", "DynamoDB"),
    ),
    Kind(
        "The {part} is deployed on {new}.",
        (
            "The {part} is deployed on {new}.",
            "The {part} is deployed on {new}, not on {old}.",
        ),
        "On which day do we roll out the {part}?",
        ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays"),
    ),
    Kind(
        "Requests to the {part} time out after {new} seconds.",
        (
            "Requests to the {part} time out after {new} seconds.",
            "Requests to the {part} time out after {new} seconds instead of {old}.",
        ),
        "How long may a request to the {part} take?",
        ("5", "10", "15", "20", "30", "45", "90"),
    ),
)


@dataclass(slots=True)
class Fact:
    """One fact: its question, and what was said of it when, in order."""

    question: str
    told: list[tuple[str, str, datetime]] = field(default_factory=list[tuple[str, str, datetime]])


def measure(run: Neo4jRunner, store: Server, *, facts: int, say: Callable[[str], None]) -> Report:
    """Tell all facts, round by round, then ask for each: now, and at each of its times."""
    world.wipe(run)
    model = LocalMiniLM()
    made = _facts(facts)
    with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
        deps = _deps(run, store, model, Path(folder))
        _tell(deps, made, folder, say)
        project = str(run.execute("CYPHER 25\nMATCH (p:Project) RETURN p.id AS id").rows[0]["id"])
    say("asking")
    current = stale = right = moments = 0
    for fact in made:
        query = retrieval.prepare(fact.question, model)
        found = retrieval.at_prompt(
            run, query, project_id=project, session_id=None, excluded=(), limit=TOP
        )
        texts = [hit.text.casefold() for hit in found.hits]
        current += fact.told[-1][0].casefold() in texts
        stale += any(old.casefold() in texts for old, _, _ in fact.told[:-1])
        for text, _, at in fact.told:
            rows = retrieval.held_at(
                run,
                query,
                owner_key=f"project:{project}",
                at=at + timedelta(seconds=STEP / 2),
                limit=TOP,
            )
            every = {said.casefold() for said, _, _ in fact.told}
            own = [row.text.casefold() for row in rows if row.text.casefold() in every]
            right += own == [text.casefold()]
            moments += 1
    rows = [
        Row(f"current value among the first {TOP}, %", _share(current, facts), 98, "at least"),
        Row("stale value told as current, %", _share(stale, facts), 2),
        Row("value of an earlier moment right, %", _share(right, moments), 98, "at least"),
    ]
    changes = sum(len(fact.told) - 1 for fact in made)
    return Report("updates", rows, facts, [f"{facts} facts, {changes} changes, no model"])


def _facts(count: int, *, seed: int = 11) -> list[Fact]:
    chance = random.Random(seed)
    pairs = [(kind, part) for kind in KINDS for part in world.PARTS]
    chance.shuffle(pairs)
    made: list[Fact] = []
    for number, (kind, part) in enumerate(pairs[:count]):
        values = chance.sample(kind.values, 2 + number % 3)
        fact = Fact(kind.asked.format(part=part))
        for place, new in enumerate(values):
            form = kind.stated if place == 0 else chance.choice(kind.changed)
            old = values[place - 1]
            at = START + timedelta(seconds=STEP * (place + 1))
            fact.told.append((form.format(part=part, new=new, old=old), new, at))
        made.append(fact)
    return made


def _tell(deps: Deps, made: Sequence[Fact], folder: str, say: Callable[[str], None]) -> None:
    for place in range(max(len(fact.told) for fact in made)):
        say(f"telling, round {place + 1}")
        for number, fact in enumerate(made):
            if place >= len(fact.told):
                continue
            text, session = fact.told[place][0], f"f{number}-{place}"
            prompt = f"Remember that {text[0].lower()}{text[1:]}" if text[:2] != "No" else text
            if text.startswith("No, "):
                fact.told[place] = (text[4].upper() + text[5:], *fact.told[place][1:])
            said = {"session": session, "cwd": folder, "prompt_source": "user"}
            second = STEP * (place + 1)
            dispatch.apply(
                [
                    record("UserPromptSubmit", second=second, prompt=prompt, **said),
                    record("Stop", second=second + 1, last_message="Noted.", **said),
                ],
                deps,
            )


def _deps(run: Neo4jRunner, store: Server, model: LocalMiniLM, folder: Path) -> Deps:
    settings = Settings.model_validate(
        {
            "home": folder / "mkg",
            "cache": shared_cache(),
            "config_dir": folder / "config",
            "runtime_dir": folder / "run",
            "user_id": "ann",
            "store": StoreSettings.model_validate(
                {"uri": store.uri, "username": store.username, "password": store.password}
            ),
        }
    )
    return Deps(run, model, settings)


def _share(part: int, whole: int) -> Estimate:
    """A share in percent with Wilson's interval."""
    p, z = part / whole, 1.96
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * ((p * (1 - p) + z * z / (4 * whole)) / whole) ** 0.5 / (1 + z * z / whole)
    return Estimate(100 * p, 100 * max(0.0, middle - half), 100 * min(1.0, middle + half))
