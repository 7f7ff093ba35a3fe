"""Learning from a session: what is new in it is read once, a window at a time, under a lease.

Without a model what people state and what failed calls teach is found by rules. With one, each
chunk of a window is shown to it as well; a chunk whose model failed stays unread, for another try.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from mkg import embed
from mkg.bundle import Runner, Store
from mkg.embed import Embedder
from mkg.features import learnings
from mkg.features.forget.reading import Forgotten, stand
from mkg.features.gate.decide import Approved, Waits
from mkg.features.gate.decision import NOBODY, Consulted
from mkg.features.gate.rules import DEFAULT, Rules
from mkg.features.learnings import observe, revise
from mkg.features.learnings.chunks import Chunk, plan
from mkg.features.learnings.extract import Candidate, Turn, extract
from mkg.features.learnings.think import Reader, Thought, think
from mkg.features.learnings.turns import heard, placed
from mkg.features.learnings.write import EXTRACTOR, Owner, Written, consult, store
from mkg.features.lease import Lease, LeaseLost, leased
from mkg.llm import Failed

WINDOW = 200
TOLD = 100
MOST_ATTEMPTS = 5
# The chunk was read; what it gave waits, because the screen or the judge gave no clear answer.
UNJUDGED = "unjudged"
PATIENCE = timedelta(days=3)
_LIFECYCLE = frozenset({"SessionStart", "SessionEnd"})


@dataclass(frozen=True, slots=True)
class Learned:
    """What one window gave; `failed` tells why a chunk was left for later."""

    events: int
    approved: tuple[str, ...]
    waiting: tuple[str, ...]
    refused: int
    failed: str | None = None


@dataclass(slots=True)
class _Totals:
    events: int = 0
    approved: list[str] = field(default_factory=list[str])
    waiting: list[str] = field(default_factory=list[str])
    refused: int = 0

    def add(self, events: int, written: Sequence[Written]) -> None:
        self.events += events
        for item in written:
            match item.outcome:
                case Approved() if item.upserted:
                    self.approved.append(item.upserted.id)
                case Waits() if item.upserted:
                    self.waiting.append(item.upserted.id)
                case _:
                    self.refused += 1

    def learned(self, failed: str | None = None) -> Learned:
        return Learned(self.events, tuple(self.approved), tuple(self.waiting), self.refused, failed)


def learn(
    run: Store,
    embedder: Embedder | None,
    *,
    session_id: str,
    owner: Owner,
    rules: Rules = DEFAULT,
    client: str | None = None,
) -> Learned:
    """Read what is new in a session and its subagents, learn from it, mark it as read."""
    reader = Reader(run, embedder, session_id, owner, rules, client)
    totals = _Totals()
    failed: str | None = None
    # What came while another held the lease would wait for a next stop that may never be.
    while failed is None and _unread(reader):
        with leased(run, f"window:{session_id}") as lease:
            if lease is None:
                break
            try:
                failed = _windows(reader, lease, totals)
            except LeaseLost:
                break
    return totals.learned(failed)


def _unread(reader: Reader) -> list[learnings.WindowEvent]:
    events = learnings.window(reader.run, session_id=reader.session_id, limit=WINDOW)
    return [] if all(event.event_name in _LIFECYCLE for event in events) else events


def _windows(reader: Reader, lease: Lease, totals: _Totals) -> str | None:
    """Read until nothing is left; returns why it stopped before that."""
    while events := _unread(reader):
        told = learnings.told(reader.run, session_id=reader.session_id, limit=TOLD)
        said, places = placed(events)
        found = extract(said, recalled=[t.text for t in told])
        for chunk in _chunks(reader, said, places, len(events)):
            part = events[chunk.first : chunk.end]
            own = [c for c in found if c.event_id in {event.event_id for event in part}]
            try:
                failed, written = _one_chunk(reader, lease, part, chunk, own)
            except Forgotten:
                break
            totals.add(0 if failed else len(part), written)
            if failed is not None:
                return failed
    return None


def _chunks(
    reader: Reader, heard: Sequence[Turn], places: Sequence[int], events: int
) -> list[Chunk]:
    return [Chunk(0, events, ())] if reader.model is None else plan(heard, places, events)


def _one_chunk(
    reader: Reader,
    lease: Lease,
    part: Sequence[learnings.WindowEvent],
    chunk: Chunk,
    found: list[Candidate],
) -> tuple[str | None, list[Written]]:
    """Read one chunk and commit it; a text says why it was left unread."""
    thought = think(reader, chunk, found)
    first = hashlib.sha1(part[0].event_id.encode()).hexdigest()[:16]
    id = f"processing:{reader.owner.project_id or 'none'}:{reader.session_id}:turn:{first}"
    if isinstance(thought, Failed):
        given_up, written = _left(reader, lease, id, part, thought, found)
        if not given_up:
            return thought.reason, written
        # Read without a model in the end: a chunk that no model can read must not stop the rest.
        thought = Thought({"llm_status": "failed", "llm_skip_reason": thought.reason[:300]})
    return None, _commit(reader, lease, id, part, found, thought)


def _left(
    reader: Reader,
    lease: Lease,
    id: str,
    part: Sequence[learnings.WindowEvent],
    failed: Failed,
    found: list[Candidate],
) -> tuple[bool, list[Written]]:
    """Note that a chunk could not be read; what rules found in it is kept the first time.

    Returns whether it has been tried for long enough.
    """
    now = datetime.now(UTC)
    at = now.isoformat()
    vectors = _vectors(reader.embedder, found)

    def work(unit: Runner) -> tuple[bool, list[Written]]:
        lease.check(unit)
        stand(unit, (event.event_id for event in part))
        tried = learnings.record_failure(
            unit,
            id=id,
            session_id=reader.session_id,
            project_id=reader.owner.project_id,
            user_id=reader.owner.user_id,
            reason=failed.reason[:300],
            reached=failed.reached,
            most=MOST_ATTEMPTS,
            patience=(now - PATIENCE).isoformat(),
            at=at,
        )
        stored = [] if tried.attempts > 1 else _stored(unit, reader, found, vectors, at, NOBODY)
        return tried.given_up, stored

    return reader.run.in_one(work, name="learnings.failed")


def _commit(
    reader: Reader,
    lease: Lease,
    id: str,
    part: Sequence[learnings.WindowEvent],
    found: list[Candidate],
    thought: Thought,
) -> list[Written]:
    """Everything that a chunk gave, and that it was read, in one transaction."""
    at = datetime.now(UTC).isoformat()
    candidates = [*found, *(p.candidate for p in thought.proposed)]
    vectors = _vectors(reader.embedder, candidates)
    changes = revise.changes(
        thought.proposed,
        vectors[len(found) :],
        owner=reader.owner,
        model=reader.vectors_by,
        version=id,
        at=at,
    )
    # Before the transaction: nothing is locked while a model thinks.
    said = consult(
        reader.run,
        candidates,
        vectors,
        owner=reader.owner,
        model=reader.vectors_by,
        at=at,
        rules=reader.rules,
    )
    if said.trouble and thought.facts["llm_status"] == "ok":
        facts = {**thought.facts, "llm_status": UNJUDGED, "llm_error": said.trouble[:300]}
        thought = replace(thought, facts=facts)

    def work(unit: Runner) -> list[Written]:
        lease.check(unit)
        stand(unit, (event.event_id for event in part))
        revised = revise.revise(unit, rows=changes, owner_keys=reader.owner_keys) if changes else []
        foreign = {r.id for r in revised if r.outcome == "foreign"}
        kept = [
            n
            for n in range(len(candidates))
            if n < len(found) or thought.proposed[n - len(found)].existing not in foreign
        ]
        written = _stored(
            unit,
            reader,
            [candidates[n] for n in kept],
            [vectors[n] for n in kept],
            at,
            said if len(kept) == len(candidates) else _renumbered(said, kept),
        )
        _record(unit, reader, id, part, thought, written, revised, at)
        return written

    return reader.run.in_one(work, name="learnings.learn")


def _record(
    unit: Runner,
    reader: Reader,
    id: str,
    part: Sequence[learnings.WindowEvent],
    thought: Thought,
    written: Sequence[Written],
    revised: Sequence[revise.Revised],
    at: str,
) -> None:
    """Write down what happened, and that these events were read."""
    produced = list(dict.fromkeys(item.upserted.id for item in written if item.upserted))
    episodes = observe.write(
        unit,
        thought.observed,
        project_id=reader.owner.project_id or "",
        session_id=reader.session_id,
        started_at=min(event.at for event in part),
        ended_at=max(event.at for event in part),
        model=reader.vectors_by,
    )
    learnings.record_window(
        unit,
        id=id,
        session_id=reader.session_id,
        project_id=reader.owner.project_id,
        user_id=reader.owner.user_id,
        event_ids=[event.event_id for event in part],
        produced=produced,
        episodes=episodes,
        revised=[
            {"id": r.id, "model": thought.facts.get("llm_model"), "demoted": r.demoted}
            for r in revised
            if r.outcome == "revised"
        ],
        facts={
            "mode": "turn",
            "extractor": EXTRACTOR,
            "learning_count": len(produced),
            "refused_count": sum(1 for item in written if item.upserted is None),
            "observation_count": len(episodes),
            **thought.facts,
        },
        at=at,
        heard=heard(part),
    )


def _stored(
    unit: Runner,
    reader: Reader,
    candidates: Sequence[Candidate],
    vectors: Sequence[list[float] | None],
    at: str,
    consulted: Consulted,
) -> list[Written]:
    return store(
        unit,
        candidates,
        vectors,
        owner=reader.owner,
        session_id=reader.session_id,
        source="hooks-stop",
        model=reader.vectors_by,
        at=at,
        rules=reader.rules,
        consulted=consulted,
    )


def _renumbered(said: Consulted, kept: Sequence[int]) -> Consulted:
    """What was said of the candidates that are left, by their new numbers."""
    return Consulted(
        {n: said.screened[old] for n, old in enumerate(kept) if old in said.screened},
        {n: said.answers[old] for n, old in enumerate(kept) if old in said.answers},
    )


def _vectors(
    embedder: Embedder | None, candidates: Sequence[Candidate]
) -> list[list[float] | None]:
    return embed.kept(embedder, [candidate.text for candidate in candidates])
