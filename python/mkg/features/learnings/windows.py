"""Learning from a session: what is new in it is read once, a window at a time."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from mkg.bundle import Runner
from mkg.embed import Embedder, check_dimension
from mkg.features import learnings
from mkg.features.gate.decide import Approved, Waits
from mkg.features.gate.rules import DEFAULT, Rules
from mkg.features.learnings.extract import Candidate, Turn, extract
from mkg.features.learnings.extract import assistant_origin as origin_of_assistant
from mkg.features.learnings.write import EXTRACTOR, Owner, Written, consult, store

WINDOW = 200
TOLD = 100
_LIFECYCLE = frozenset({"SessionStart", "SessionEnd"})


class Store(Protocol):
    """A runner that can put several queries in one transaction."""

    def fetch(self, query: Any, params: Any) -> list[dict[str, Any]]: ...

    def in_one(self, work: Any, *, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Learned:
    """What one window gave."""

    events: int
    approved: tuple[str, ...]
    waiting: tuple[str, ...]
    refused: int


def learn(
    run: Store,
    embedder: Embedder | None,
    *,
    session_id: str,
    owner: Owner,
    rules: Rules = DEFAULT,
) -> Learned:
    """Read what is new in a session and its subagents, learn from it, mark it as read."""
    totals = [0, 0]
    approved: list[str] = []
    waiting: list[str] = []
    while True:
        events = learnings.window(run, session_id=session_id, limit=WINDOW)
        if not events or all(event.event_name in _LIFECYCLE for event in events):
            break
        written = _one_window(run, embedder, session_id, owner, events, rules)
        totals[0] += len(events)
        for item in written:
            match item.outcome:
                case Approved() if item.upserted:
                    approved.append(item.upserted.id)
                case Waits() if item.upserted:
                    waiting.append(item.upserted.id)
                case _:
                    totals[1] += 1
        if len(events) < WINDOW:
            break
    return Learned(totals[0], tuple(approved), tuple(waiting), totals[1])


def _one_window(
    run: Store,
    embedder: Embedder | None,
    session_id: str,
    owner: Owner,
    events: Sequence[learnings.WindowEvent],
    rules: Rules,
) -> list[Written]:
    recalled = [t.text for t in learnings.told(run, session_id=session_id, limit=TOLD)]
    candidates = extract(turns(events), recalled=recalled)
    at = datetime.now(UTC).isoformat()
    digest = hashlib.sha1("\n".join(e.event_id for e in events).encode()).hexdigest()[:16]
    vectors = _vectors(embedder, candidates)
    model = embedder.model if embedder else None
    said = consult(run, candidates, vectors, owner=owner, model=model, at=at, rules=rules)

    def work(unit: Runner) -> list[Written]:
        written = store(
            unit,
            candidates,
            vectors,
            owner=owner,
            session_id=session_id,
            source="hooks-stop",
            model=model,
            at=at,
            rules=rules,
            consulted=said,
        )
        produced = [item.upserted.id for item in written if item.upserted]
        learnings.record_window(
            unit,
            id=f"processing:{owner.project_id or 'none'}:{session_id}:turn:{digest}",
            session_id=session_id,
            project_id=owner.project_id,
            user_id=owner.user_id,
            event_ids=[event.event_id for event in events],
            produced=list(dict.fromkeys(produced)),
            facts={
                "mode": "turn",
                "llm_status": "skipped",
                "llm_skip_reason": "deterministic extraction",
                "extractor": EXTRACTOR,
                "learning_count": len(set(produced)),
                "refused_count": len(written) - len(produced),
            },
            at=at,
        )
        return written

    return run.in_one(work, name="learnings.learn")


def turns(events: Sequence[learnings.WindowEvent]) -> list[Turn]:
    """Dialogue and tool calls of a window, each with the origin of its words.

    A successful call appears with its input only, as a possible fix of a failed one.
    """
    made: list[Turn] = []
    since_user: list[tuple[str, str]] = []
    seen_prompt = False
    for e in events:
        if e.event_name == "UserPromptSubmit" and e.prompt:
            since_user, seen_prompt = [], True
            made.append(Turn(e.event_id, e.seq, "user", e.prompt, e.origin or "user_pasted"))
        elif e.event_name == "Stop" and e.message:
            # Without the prompt in sight nobody knows what tools stood between: assume the worst.
            origin = origin_of_assistant(since_user) if seen_prompt else "assistant_tainted"
            made.append(Turn(e.event_id, e.seq, "assistant", e.message, origin))
        elif e.event_name in {"PostToolUse", "PostToolUseFailure"} and e.tool_name:
            since_user.append((e.tool_name, e.tool_input or ""))
            role = "tool_failure" if e.failed else "tool_success"
            made.append(
                Turn(
                    e.event_id,
                    e.seq,
                    role,
                    (e.error or "") if e.failed else "",
                    "tool",
                    e.tool_name,
                    e.tool_input,
                    e.tool_use_id,
                )
            )
    return made


def _vectors(
    embedder: Embedder | None, candidates: Sequence[Candidate]
) -> list[list[float] | None]:
    if embedder is None or not candidates:
        return [None] * len(candidates)
    vectors = embedder.embed([candidate.text for candidate in candidates])
    check_dimension(embedder, vectors)
    return list(vectors)
