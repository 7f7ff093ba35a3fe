"""What only a person decides (D11): the queue, a decision, and taking one back.

A decision is two statements of one transaction: `gate.resolve` writes down how everything stood and
ends conflicts, `gate.enact` moves it. `gate.undo` restores what was written down.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from mkg import lexical
from mkg.bundle import Runner, Store, cypher
from mkg.errors import Refused
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.learnings.value_key import value_key
from mkg_hooks.redact import redact

Action = Literal["approve", "reject", "edit_approve", "keep_new", "keep_existing", "keep_both"]
ACTIONS: tuple[Action, ...] = (
    "approve",
    "reject",
    "edit_approve",
    "keep_new",
    "keep_existing",
    "keep_both",
)
SUMMARY = 160


@dataclass(frozen=True, slots=True)
class Queued:
    """One thing that a person is asked about, with both sides of its conflicts."""

    id: str
    short_id: str
    scope: str
    text: str
    status: str
    origin: str
    confidence: float
    support_count: int
    decision_count: int
    consistency_status: str
    reason: str
    detail: str | None
    created_at: datetime
    updated_at: datetime
    evidence: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    proposals: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class QueueSize:
    waiting: int
    blocked: int


@dataclass(frozen=True, slots=True)
class Moved:
    decision: str
    learning_id: str
    role: str


@dataclass(frozen=True, slots=True)
class Enacted:
    id: str
    status: str
    scope: str
    user_id: str | None
    reviewed_by: str | None
    reviewed_by_user_id: str | None
    consistency_status: str | None
    role: str


@dataclass(frozen=True, slots=True)
class Edited:
    id: str
    twin: str | None


@dataclass(frozen=True, slots=True)
class Restored:
    id: str
    status: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How a learning stands, for whoever is about to decide on it."""

    id: str
    short_id: str
    text: str
    status: str
    owner_key: str
    decision_count: int


@dataclass(frozen=True, slots=True)
class Proposed:
    id: str
    times: int


@dataclass(frozen=True, slots=True)
class LastDecision:
    id: str
    rule: str


@cypher("gate.queue")
def queue(run: Runner, *, owner_keys: list[str], id: str | None, limit: int) -> list[Queued]: ...


@cypher("gate.queue_size")
def queue_size(run: Runner, *, owner_keys: list[str], project_id: str | None) -> QueueSize: ...


@cypher("gate.resolve")
def resolve(
    run: Runner,
    *,
    id: str,
    expected: int,
    action: str,
    conflict_id: str | None,
    by: str,
    user_id: str,
    reason: str,
    at: str,
) -> list[Moved]: ...


@cypher("gate.enact")
def enact(run: Runner, *, decision: str, at: str) -> list[Enacted]: ...


@cypher("gate.edit")
def edit(
    run: Runner,
    *,
    decision: str,
    text: str,
    summary: str,
    terms: str,
    value_key: str,
    frame_key: str,
    words_key: str,
    at: str,
) -> Edited | None: ...


@cypher("gate.undo")
def undo(run: Runner, *, decision: str, at: str) -> list[Restored]: ...


@cypher("gate.standing")
def standing(run: Runner, *, id: str) -> list[Standing]: ...


@cypher("gate.propose")
def propose(
    run: Runner,
    *,
    id: str,
    mark: str,
    action: str,
    text: str,
    session_id: str | None,
    at: str,
) -> Proposed | None: ...


@cypher("gate.last_decision")
def last_decision(run: Runner, *, id: str) -> LastDecision | None: ...


@dataclass(frozen=True, slots=True)
class By:
    """Who decides, and why, as it goes on record."""

    user_id: str
    channel: Literal["human", "agent"] = "human"
    reason: str = "decided by a person"


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision that holds; `learning` is what it was about."""

    decision: str
    learning: Enacted
    others: tuple[Enacted, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """Somebody decided on it since it was shown; look again."""


def decide(
    run: Store,
    seen: Standing | Queued,
    action: Action,
    by: By,
    *,
    at: str,
    text: str | None = None,
    conflict_id: str | None = None,
) -> Decided | Changed:
    """Apply a decision to a learning as it was shown.

    Raises:
        Refused: an edit has no text, or another learning says the new text already; or the action
            needs a conflict and there is none.
    """
    if action == "edit_approve" and not (text or "").strip():
        raise Refused("edited_text is missing: say the wording that is right", code="invalid")

    def work(unit: Runner) -> Decided | Changed:
        moved = resolve(
            unit,
            id=seen.id,
            expected=seen.decision_count,
            action=action,
            conflict_id=conflict_id,
            by=by.channel,
            user_id=by.user_id,
            reason=by.reason,
            at=at,
        )
        if not moved:
            return Changed()
        if text is not None and action == "edit_approve":
            _edit(unit, moved[0].decision, seen.id, text, at)
        enacted = enact(unit, decision=moved[0].decision, at=at)
        (own,) = [row for row in enacted if row.id == seen.id]
        return Decided(moved[0].decision, own, tuple(r for r in enacted if r.id != seen.id))

    return run.in_one(work, name="gate.decide")


def take_back(run: Runner, decision: str, *, at: str) -> list[Restored]:
    """Undo one decision.

    Raises:
        Refused: it was undone already, or something was decided since.
    """
    restored = undo(run, decision=decision, at=at)
    if not restored:
        raise Refused("this decision cannot be taken back: it was, or something was decided since")
    return restored


def one(run: Runner, id: str) -> Standing:
    """The learning with a full or short id.

    Raises:
        Refused: there is none, or a short id names several.
    """
    found = standing(run, id=id.strip())
    if not found:
        raise Refused(f"no learning has the id {id.strip()[:80]!r}", code="not_found")
    if len(found) > 1:
        raise Refused(f"{id.strip()[:80]!r} names several; give the full id", code="invalid")
    return found[0]


def owners(project_id: str | None, user_id: str) -> list[str]:
    """The owner keys whose queue a person looks at."""
    return [*([f"project:{project_id}"] if project_id else []), f"user:{user_id}"]


def reasons(counts: Sequence[Queued]) -> dict[str, int]:
    """How many wait for which reason."""
    found: dict[str, int] = {}
    for item in counts:
        found[item.reason] = found.get(item.reason, 0) + 1
    return found


def _edit(unit: Runner, decision: str, id: str, text: str, at: str) -> None:
    (seen,) = standing(unit, id=id)
    # Whoever types it: a secret is not kept.
    text = redact(text)[0]
    edited = edit(
        unit,
        decision=decision,
        text=text,
        summary=text[:SUMMARY],
        terms=" ".join(lexical.index_terms(text)),
        value_key=value_key(seen.owner_key, text),
        frame_key=frame_key(seen.owner_key, text),
        words_key=words_key(seen.owner_key, text),
        at=at,
    )
    if edited is not None and edited.twin is not None:
        raise Refused(
            f"another learning says this already: {edited.twin}; approve that one and reject this",
            code="invalid",
        )
