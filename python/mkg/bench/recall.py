"""Recall on labelled dialogues: the shipped import, the shipped query, and plain baselines.

A figure is the mean fraction of a question's gold turns among the first k (performance.md 2.2);
`any` asks for one of them only. Intervals are bootstrapped over questions.
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mkg.bench.baselines import Baselines
from mkg.bench.labelled import CATEGORIES, Labelled, Question
from mkg.bundle import Runner, load_bundle
from mkg.embed import Embedder
from mkg.features.learnings import retrieval
from mkg.features.timeline import dialogue, recall

QUERY = "timeline.search"
CUTS = (5, 10, 20)
DEPTH = 50
UNTUNED = (7, 8, 9)
"""Conversations 8 to 10 were never looked at while weights were chosen."""
SHIPPED = "as shipped"
_ROUNDS = 1000


@dataclass(slots=True)
class Memo:
    """An embedder that remembers, so that no system pays for another's vectors."""

    inner: Embedder
    known: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    model: str = field(init=False)
    dimension: int = field(init=False)

    def __post_init__(self) -> None:
        self.model, self.dimension = self.inner.model, self.inner.dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors in the order of `texts`; a batch of equal lengths pads least."""
        missing = sorted({text for text in texts if text not in self.known}, key=len)
        for start in range(0, len(missing), 32):
            batch = missing[start : start + 32]
            self.known.update(zip(batch, self.inner.embed(batch), strict=True))
        return [self.known[text] for text in texts]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question answered by one system."""

    conversation: int
    category: int
    found: tuple[float, ...]
    """Fraction of the gold turns within each of CUTS."""
    first: int | None
    """Place of the first gold turn, from 1; None when there is none within DEPTH."""


def variants() -> dict[str, recall.Weights]:
    """The shipped weights, and the same with one piece taken out."""
    full = recall.DEFAULT
    return {
        SHIPPED: full,
        "without neighbours": replace(full, after=(1.0, 0, 0, 0), before=(1.0, 0, 0, 0)),
        "without speaker": replace(full, speaker=1.0),
        "without question rule": replace(full, asking=1.0),
        "without vectors": replace(full, vector=0.0),
    }


def bench(
    run: Runner,
    embedder: Embedder,
    sets: Sequence[Labelled],
    *,
    prefix: str,
    ablate: bool = True,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Import each dialogue into a project of its own, ask every question, score every system."""
    memo, systems, timed = Memo(embedder), dict[str, list[Asked]](), list[float]()
    for number, labelled in enumerate(sets):
        project = f"{prefix}/{number}"
        progress(f"conversation {number + 1}: {len(labelled.dialogue.turns)} turns")
        dialogue.store(run, memo, labelled.dialogue, project_id=project, user_id="bench")
    for number, labelled in enumerate(sets):
        progress(f"conversation {number + 1}: {len(labelled.questions)} questions")
        for name, rows in _ask(run, memo, labelled, number, prefix, ablate, timed).items():
            systems.setdefault(name, []).extend(rows)
    return report(systems, timed, len(sets))


def report(systems: dict[str, list[Asked]], timed: list[float], sets: int) -> dict[str, Any]:
    """Everything that is printed, as plain data."""
    untuned = [number for number in UNTUNED if number < sets]
    ours = systems[SHIPPED]
    return {
        "query": QUERY,
        "body_sha256": hashlib.sha256(load_bundle().queries[QUERY].body.encode()).hexdigest(),
        "questions": len(ours),
        "systems": {name: scores(rows) for name, rows in systems.items()},
        "untuned": {
            name: scores(row for row in rows if row.conversation in untuned)
            for name, rows in systems.items()
            if untuned
        },
        "interval_at_10": interval([row.found[1] for row in ours]),
        "gain_over_best_baseline": _gain(systems),
        "ms_per_question": {
            "median": round(1000 * _quantile(timed, 0.5), 1),
            "p95": round(1000 * _quantile(timed, 0.95), 1),
        },
    }


def scores(rows: Iterable[Asked]) -> dict[str, float]:
    """Means over questions."""
    kept = list(rows)
    made: dict[str, float] = {}
    for place, cut in enumerate(CUTS):
        made[f"recall@{cut}"] = _mean([row.found[place] for row in kept])
    for place, cut in enumerate(CUTS):
        made[f"any@{cut}"] = _mean([float(row.found[place] > 0) for row in kept])
    made["mrr"] = _mean([1 / row.first if row.first else 0.0 for row in kept])
    for number, name in CATEGORIES.items():
        made[name] = _mean([row.found[1] for row in kept if row.category == number])
    return {name: round(value, 4) for name, value in made.items()}


def interval(values: Sequence[float], *, seed: int = 7) -> tuple[float, float]:
    """The middle 95% of means of resampled questions."""
    chance, size = random.Random(seed), len(values)
    means = sorted(_mean(chance.choices(values, k=size)) for _ in range(_ROUNDS))
    return round(means[int(0.025 * _ROUNDS)], 4), round(means[int(0.975 * _ROUNDS) - 1], 4)


def judge(question: Question, ranking: Sequence[str], conversation: int) -> Asked:
    """How much of the gold a ranking has in its first places."""
    found = tuple(len(question.gold & set(ranking[:cut])) / len(question.gold) for cut in CUTS)
    first = next(
        (place for place, id in enumerate(ranking[:DEPTH], 1) if id in question.gold), None
    )
    return Asked(conversation, question.category, found, first)


def _ask(
    run: Runner,
    memo: Memo,
    labelled: Labelled,
    number: int,
    prefix: str,
    ablate: bool,
    timed: list[float],
) -> dict[str, list[Asked]]:
    project = f"{prefix}/{number}"
    ids = {dialogue.turn_id(project, turn.id): turn.id for turn in labelled.dialogue.turns}
    memo.embed([question.text for question in labelled.questions])
    plain = Baselines(labelled.dialogue, memo.embed)
    wanted = variants() if ablate else {SHIPPED: recall.DEFAULT}
    made: dict[str, list[Asked]] = {}
    for question in labelled.questions:
        query = retrieval.prepare(question.text, memo)
        for name, weights in wanted.items():
            start = time.perf_counter()
            hits = recall.find(run, query, project_id=project, limit=DEPTH, weights=weights)
            if name == SHIPPED:
                timed.append(time.perf_counter() - start)
            made.setdefault(name, []).append(judge(question, [ids[h.id] for h in hits], number))
        for name, ranking in plain.rank(question.text, query.vector or []).items():
            made.setdefault(name, []).append(judge(question, ranking, number))
    plain.close()
    return made


def _gain(systems: dict[str, list[Asked]]) -> dict[str, Any]:
    """Paired over the same questions, against the best baseline (PERF-12)."""
    others = {name: rows for name, rows in systems.items() if name not in variants()}
    best = max(others, key=lambda name: _mean([row.found[1] for row in others[name]]))
    pairs = zip(systems[SHIPPED], others[best], strict=True)
    gains = [ours.found[1] - theirs.found[1] for ours, theirs in pairs]
    return {"over": best, "mean": round(_mean(gains), 4), "interval": interval(gains)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
