"""What waits is looked at again: a few of the oldest after each turn, by the same gate.

What a model left open, what a second session has supported since, and what an older version let
wait gets its answer here. Nothing is created, and a person's decisions stay.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from mkg import lexical
from mkg.bundle import Runner, Store
from mkg.embed import Embedder, check_dimension
from mkg.features import gate
from mkg.features.embedding import Embedded
from mkg.features.gate.decide import Blocked, decide
from mkg.features.gate.decision import NOBODY, Consulted, decision
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.gate.judge import judge, second_screen
from mkg.features.gate.rules import Rules
from mkg.features.gate.weigh import Weighed, look, weigh

HOLD = timedelta(minutes=10)
REST = timedelta(seconds=30)
AGAIN = timedelta(hours=1)


class Embeds(Protocol):
    """Stores vectors of rows {id, text, vector}."""

    def __call__(self, run: Runner, *, rows: list[dict[str, Any]], model: str) -> Embedded: ...


@dataclass(frozen=True, slots=True)
class Swept:
    """How many were looked at and how many moved; `held` when it was somebody else's turn."""

    looked_at: int
    moved: int
    held: bool = False


def sweep(
    run: Store,
    embedder: Embedder | None,
    embeds: Embeds,
    *,
    owner_keys: Sequence[str],
    rules: Rules,
    now: datetime | None = None,
) -> Swept:
    """Gate up to `rules.sweep` waiting learnings of these owners once more."""
    if not rules.on or rules.sweep == 0 or not owner_keys:
        return Swept(0, 0)
    at = now or datetime.now(UTC)
    key, me = f"sweep:{owner_keys[0]}", uuid.uuid4().hex
    turn = gate.sweep_turn(
        run,
        key=key,
        owner=me,
        at=at.isoformat(),
        expires_at=(at + HOLD).isoformat(),
        rested=(at - REST).isoformat(),
    )
    if not turn.taken:
        return Swept(0, 0, held=True)
    rows = gate.oldest(
        run, owner_keys=list(owner_keys), limit=rules.sweep, before=(at - AGAIN).isoformat()
    )
    moved = _regate(run, _with_vectors(run, embedder, embeds, rows), rules, embedder, at)
    ids = [row.id for row in rows]
    gate.sweep_done(run, key=key, owner=me, ids=ids, at=at.isoformat())
    return Swept(len(rows), moved)


def _with_vectors(
    run: Runner, embedder: Embedder | None, embeds: Embeds, rows: Sequence[gate.Old]
) -> list[tuple[gate.Old, list[float] | None]]:
    """Each row with its vector; those that lack one of the model in use get it, and keep it."""
    if embedder is None:
        return [(row, None) for row in rows]
    lacking = [r for r in rows if r.embedding is None or r.embedding_model != embedder.model]
    made: dict[str, list[float]] = {}
    if lacking:
        vectors = embedder.embed([row.text for row in lacking])
        check_dimension(embedder, vectors)
        made = {row.id: v for row, v in zip(lacking, vectors, strict=True)}
        stored = [{"id": r.id, "text": r.text, "vector": made[r.id]} for r in lacking]
        embeds(run, rows=stored, model=embedder.model)
    return [(row, made.get(row.id) or row.embedding) for row in rows]


def _regate(
    run: Store,
    rows: Sequence[tuple[gate.Old, list[float] | None]],
    rules: Rules,
    embedder: Embedder | None,
    at: datetime,
) -> int:
    moment, model = at.isoformat(), embedder.model if embedder else None
    weighed = [_weighed(no, row, vector) for no, (row, vector) in enumerate(rows)]
    said = _consult(run, weighed, rules, model, moment)
    lowered = [
        Weighed(w.no, w.text, w.origin, w.user_id, said.lower(w.no, w.outcome), w.row)
        for w in weighed
    ]
    if not lowered:
        return 0

    def work(unit: Runner) -> int:
        through = [w for w in lowered if not isinstance(w.outcome, Blocked)]
        near = look(unit, through, model=model, rules=rules, at=moment, lock=True)
        told = weigh(through, near, said.judged, model=model, at=at)
        decisions: list[dict[str, Any]] = []
        # Those that one before them has ended come again with the next sweep.
        for w in (w for w in through if w.no in told):
            one = decision(
                w, told[w.no], said.judged.get(w.no), said.screened.get(w.no), rules, moment
            )
            del one["value_key"]
            decisions.append({**one, "learning_id": w.row["id"], "by": "sweep"})
        decisions += [_block(w, moment) for w in lowered if isinstance(w.outcome, Blocked)]
        settled = gate.settle(unit, decisions=decisions)
        if ended := [id for s in settled for id in s.rejected]:
            reason = "something it was made from is believed no more"
            gate.flag_derived(unit, ids=ended, reason=reason)
        return sum(s.changed for s in settled)

    moved: int = run.in_one(work, name="gate.sweep")
    return moved


def _block(weighed: Weighed, at: str) -> dict[str, Any]:
    """A text that a stricter screen refuses now: blocked where it stands, its words with it."""
    assert isinstance(weighed.outcome, Blocked)
    return {
        "learning_id": weighed.row["id"],
        "at": at,
        "by": "sweep",
        "origin": weighed.origin,
        "ceiling": "blocked",
        "rule": weighed.outcome.rule,
        "reason": f"{weighed.outcome.category}: {weighed.outcome.reason}",
        "safety_status": "blocked",
        "relations": [],
    }


def _consult(
    run: Runner, weighed: Sequence[Weighed], rules: Rules, model: str | None, at: str
) -> Consulted:
    open_ = [w for w in weighed if not isinstance(w.outcome, Blocked)]
    if rules.model is None or not open_:
        return NOBODY
    screened = second_screen(rules.model, {w.no: w.text for w in open_})
    through = [w for w in open_ if screened[w.no].outcome is None]
    near = look(run, through, model=model, rules=rules, at=at, lock=False)
    beside = {w.no: near[w.no].neighbours for w in through}
    return Consulted(screened, judge(rules.model, {w.no: w.text for w in through}, beside))


def _weighed(no: int, row: gate.Old, vector: list[float] | None) -> Weighed:
    words = row.words_key or words_key(row.owner_key, row.text)
    asked: dict[str, Any] = {
        "no": no,
        "owner_key": row.owner_key,
        "value_key": row.value_key,
        "words_key": words,
        "frame_key": row.frame_key or frame_key(row.owner_key, row.text),
        "terms": lexical.lucene(lexical.query_terms(row.text), lexical.owner_token(row.owner_key)),
        "vector": vector,
        "event_id": "",
        "since": row.since,
        "came": (row.created_at, row.said_no, row.id),
    }
    outcome = decide(row.text, origin=row.origin, explicit=row.explicit)
    kept = {"id": row.id, "value_key": row.value_key, "words_key": words, "asked": asked}
    return Weighed(no, row.text, row.origin, row.user_id, outcome, kept)
