"""Facts whose value changes: told through the hooks' apply path, asked for in other words.

Keyless: what replaces what is found by words. Rules are tuned on the half "seen" alone; a rate on
"held_out" says something about kinds of values and phrasings that nobody tuned for. The bars are on
changes that can be seen without a model; those told in other words stand beside them.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from mkg.db import Neo4jRunner
from mkg.embed import Embedder, LocalMiniLM
from mkg.features import learnings
from mkg.features.learnings import retrieval
from mkg.features.learnings.value_key import normalised
from mkg.settings import Settings, StoreSettings
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from tests.bench import world
from tests.bench.changing import HALVES, STEP, Fact, Half, facts
from tests.bench.measure import Estimate, share
from tests.bench.report import Report, Row
from tests.conftest import Server, shared_cache
from tests.support.events import record

TOP = 3
AT_ONCE = 20
NAMES: dict[Half, str] = {"seen": "phrasings the rules were tuned on", "held_out": "held out"}
REWORDED = 3  # every third fact more is told in other words


@dataclass(frozen=True, slots=True)
class Answered:
    """What was found of one fact: values at a prompt, when asked for, and of each moment.

    A line that is told with what the same person said later, near it, is not told as current.
    """

    fact: Fact
    now: tuple[str, ...]
    then: tuple[tuple[str, ...], ...]
    prompted: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    """Values of the lines that were asked for and told with later words."""

    @property
    def current(self) -> bool:
        """The value that holds is told when it is asked for."""
        return self.fact.told[-1].value in self.now

    @property
    def unasked(self) -> bool:
        """The value that holds is told at a prompt."""
        return self.fact.told[-1].value in self.prompted

    @property
    def stale(self) -> bool:
        """A value that holds no more is told as if it did, asked for or at a prompt."""
        return any(value != self.fact.told[-1].value for value in (*self.now, *self.prompted))

    @property
    def wronged(self) -> bool:
        """The value that holds is told with later words, as if it held no more."""
        return self.fact.told[-1].value in self.doubted

    @property
    def moments(self) -> int:
        """Of how many moments the value of then is told, and no other."""
        return sum(
            set(found) == {told.value}
            for found, told in zip(self.then, self.fact.told, strict=True)
        )


def measure(run: Neo4jRunner, store: Server, *, count: int, say: Callable[[str], None]) -> Report:
    """Tell all facts, round by round, then ask for each: now, and at each of its times."""
    made = [*facts(count), *facts(count // REWORDED, way="reworded", seed=12)]
    answered = ask(run, store, made, say)
    rows: list[Row] = []
    for half in HALVES:
        mine = [one for one in answered if one.fact.half == half]
        plain = [one for one in mine if one.fact.way == "plain"]
        other = [one for one in mine if one.fact.way == "reworded"]
        name, moments = NAMES[half], sum(len(one.fact.told) for one in plain)
        rows += [
            _row(f"{name}: current value among the first {TOP}", _share(plain, "current"), 98),
            Row(f"{name}: stale value told as current, %", _share(plain, "stale"), 2),
            _row(f"{name}: value of an earlier moment right",
                 share(sum(one.moments for one in plain), moments), 98),
            _row(f"{name}: current value told at a prompt, unasked", _share(plain, "unasked")),
            _row(f"{name}: current value told with later words of another fact",
                 _share(plain, "wronged")),
            _row(f"{name}, changed in other words: current value among the first {TOP}",
                 _share(other, "current")),
            _row(f"{name}, changed in other words: stale value told as current",
                 _share(other, "stale")),
        ]  # fmt: skip
    changes = sum(len(one.fact.told) - 1 for one in answered)
    return Report("updates", rows, count, [f"{len(made)} facts, {changes} changes, no model"])


def _share(
    answered: Sequence[Answered], what: Literal["current", "stale", "unasked", "wronged"]
) -> Estimate:
    return share(sum(bool(getattr(one, what)) for one in answered), len(answered))


def _row(what: str, rate: Estimate, bar: float | None = None) -> Row:
    return Row(f"{what}, %", rate, bar, "at least")


def ask(
    run: Neo4jRunner,
    store: Server,
    made: Sequence[Fact],
    say: Callable[[str], None],
    embedder: Embedder | None = None,
) -> list[Answered]:
    """Play what was typed as the worker does, then look for each fact."""
    world.wipe(run)
    model = embedder or LocalMiniLM()
    with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
        deps = _deps(run, store, model, Path(folder))
        _tell(deps, made, Path(folder), say)
        projects = {
            one.project: identify(
                {"session_id": f"who{one.project}", "cwd": _place(Path(folder), one)}, deps
            ).project_id
            for one in made
        }
    answered: list[Answered] = []
    for number, fact in enumerate(made):
        if number % 50 == 0:
            say(f"asking for {number} of {len(made)}")
        answered.append(_answered(run, fact, str(projects[fact.project]), model))
    return answered


def _answered(run: Neo4jRunner, fact: Fact, project: str, model: Embedder) -> Answered:
    query = retrieval.prepare(fact.question, model)
    found = retrieval.at_prompt(
        run, query, project_id=project, session_id=None, excluded=(), limit=TOP
    )
    then: list[tuple[str, ...]] = []
    for told in fact.told:
        rows = retrieval.held_at(
            run,
            query,
            owner_key=f"project:{project}",
            at=told.at + timedelta(seconds=STEP / 2),
            limit=TOP,
        )
        then.append(_values(fact, _plain(rows)))
    asked = retrieval.hits(run, query, owner_key=f"project:{project}", limit=TOP)
    now, prompted = (_values(fact, _plain(hits)) for hits in (asked, found.hits))
    doubted = _values(fact, [hit.text for hit in asked if hit.said_later])
    return Answered(fact, now, tuple(then), prompted, doubted)


def _plain(rows: Sequence[learnings.Hit | learnings.Version]) -> list[str]:
    """The texts that are told as they are, without later words beside them."""
    return [row.text for row in rows if not row.said_later]


def _values(fact: Fact, texts: Sequence[str]) -> tuple[str, ...]:
    """The values that the texts give of this fact; texts are kept as parts of what was typed."""
    said = {normalised(told.prompt): told.value for told in fact.told}
    return tuple(
        value
        for text in texts
        for prompt, value in said.items()
        if f" {prompt} ".endswith(f" {normalised(text)} ")
    )


def _tell(deps: Deps, made: Sequence[Fact], folder: Path, say: Callable[[str], None]) -> None:
    for place in range(max(len(fact.told) for fact in made)):
        due = [(n, fact) for n, fact in enumerate(made) if place < len(fact.told)]
        for start in range(0, len(due), AT_ONCE):
            if start % (5 * AT_ONCE) == 0:
                say(f"telling, round {place + 1}: {start} of {len(due)}")
            records = [
                one
                for n, fact in due[start : start + AT_ONCE]
                for one in _session(f"f{n}-{place}", fact, place, _place(folder, fact))
            ]
            dispatch.apply(records, deps)


def _session(name: str, fact: Fact, place: int, cwd: str) -> list[dict[str, object]]:
    said = {"session": name, "cwd": cwd, "prompt_source": "user"}
    second, prompt = STEP * (place + 1), fact.told[place].prompt
    return [
        record("UserPromptSubmit", second=second, prompt=prompt, **said),
        record("Stop", second=second + 1, last_message="Noted.", **said),
    ]


def _place(folder: Path, fact: Fact) -> str:
    made = folder / f"project-{fact.project}"
    made.mkdir(exist_ok=True)
    return str(made)


def _deps(run: Neo4jRunner, store: Server, model: Embedder, folder: Path) -> Deps:
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
