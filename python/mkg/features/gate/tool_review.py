"""`project_review_queue` and `project_resolve_learning`: an agent lists and proposes (D11).

It acts only where the user's own settings say so; what it writes on record is then `agent`.
"""

import hashlib
from typing import Any

from pydantic import Field

from mkg.errors import Refused
from mkg.features.gate import review
from mkg.features.gate.review import ACTIONS, By
from mkg.features.gate.screen import screen
from mkg.features.learnings import caller
from mkg.features.learnings.tool_add import statement
from mkg.features.tool import PROVENANCE, Answer, Asked, Call, Part, clamped

MOST = 50
QUEUE_QUERIES = (*caller.QUERIES, "gate.queue")
RESOLVE_QUERIES = (
    *caller.QUERIES,
    "gate.standing",
    "gate.propose",
    "gate.resolve",
    "gate.edit",
    "gate.enact",
)


class QueueAsked(Asked):
    project_id: str = Field(
        default="", description="A project's id; empty for the current project."
    )
    limit: int = Field(default=20, description="Most entries, 1 to 50.")


class ConflictPart(Part):
    id: str = Field(default="", description="Id of the other learning.")
    relation: str = Field(
        default="", description="CONTRADICTS, or SUPERSEDES for an older value closed unasked."
    )
    status: str = Field(default="", description="Its status.")
    confidence: float = Field(default=0.0, description="0 to 1.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    judge_reason: str | None = Field(default=None, description="Why the two are held apart.")
    quote: str | None = Field(default=None, description="The newest words it rests on.")


class QuotePart(Part):
    quote: str = Field(default="", description="The recorded words.")
    origin: str = Field(default="", description="Who said them.")
    event: str = Field(default="", description="The kind of event.")
    session_id: str = Field(default="", description="The session.")
    at: str = Field(default="", description="When.")


class QueuedPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    scope: str = Field(default="", description="project or user.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    status: str = Field(default="", description="candidate, quarantined or approved.")
    origin: str = Field(default="", description="Who said it, as far as the record shows.")
    confidence: float = Field(default=0.0, description="0 to 1.")
    reason: str = Field(default="", description="Why a person is asked.")
    detail: str | None = Field(default=None, description="The gate's own words on that.")
    consistency_status: str = Field(default="", description="unreviewed, ambiguous and so on.")
    updated_at: str = Field(default="", description="When it last changed.")
    evidence: list[QuotePart] = Field(default=[], description="The newest words it rests on.")
    conflicts: list[ConflictPart] = Field(default=[], description="The other sides.")


class QueueAnswer(Answer):
    project_id: str | None = Field(default=None, description="The project asked about.")
    count: int = Field(default=0, description="Entries in this answer.")
    queue: list[QueuedPart] = Field(default=[], description="What waits, oldest first.")
    provenance: str = Field(default="", description="How to read the texts.")
    note: str = Field(default="", description="How the user decides.")


class ResolveAsked(Asked):
    learning_id: str = Field(description="Id of the learning, as the queue gives it.")
    action: str = Field(description="One of: " + ", ".join(ACTIONS) + ".")
    edited_text: str = Field(
        default="", description="For edit_approve: the right wording. May be empty otherwise."
    )
    conflict_id: str = Field(
        default="", description="Only this one of several conflicts; empty for all."
    )


class ResolvedPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    status: str = Field(default="", description="Its status now.")
    scope: str = Field(default="", description="project or user.")
    user_id: str | None = Field(default=None, description="Whose it is.")
    reviewed_by: str | None = Field(default=None, description="human once it was decided.")
    reviewed_by_user_id: str | None = Field(default=None, description="For whom.")
    consistency_status: str | None = Field(default=None, description="human_reviewed then.")


class ResolveAnswer(Answer):
    action: str = Field(default="", description="proposed, or the action that was applied.")
    proposed: str = Field(default="", description="What was proposed; nothing has changed yet.")
    edited_text: str = Field(default="", description="The wording that was proposed.")
    confirm: str = Field(default="", description="What the user runs in a terminal to decide.")
    learning: ResolvedPart = Field(default=ResolvedPart(), description="The learning as it stands.")


def project_review_queue(call: Call, asked: QueueAsked) -> QueueAnswer:
    """What waits for a person.

    Raises:
        Refused: the module is off.
    """
    if "review" not in call.modules:
        raise Refused("the module review is off: project_gate_audit tells what waits")
    project_id = caller.project_of(call, asked.project_id, caller.calling(call))
    rows = review.queue(
        call.run,
        owner_keys=review.owners(project_id, call.user_id),
        id=None,
        limit=clamped(asked.limit, 1, MOST),
    )
    answer = QueueAnswer(
        count=len(rows), queue=[queued(row) for row in rows], provenance=PROVENANCE
    )
    answer.project_id = project_id
    answer.note = (
        "the user lets agents decide: project_resolve_learning applies a decision"
        if call.agent_decides
        else "only the user decides, with `mkg review` in a terminal of their own; "
        "project_resolve_learning proposes"
    )
    return answer


def project_resolve_learning(call: Call, asked: ResolveAsked) -> ResolveAnswer:
    """Propose a decision, or take it where the user's settings let an agent decide.

    Raises:
        Refused: the action, the id or the wording is missing or unknown.
    """
    if asked.action not in ACTIONS:
        raise Refused(
            f"action is none of these: {', '.join(ACTIONS)}", code="invalid", hint="choose one"
        )
    action: Any = asked.action
    text = _wording(asked) if action == "edit_approve" else None
    seen = own(call, asked.learning_id)
    at = call.clock().isoformat()
    conflict = asked.conflict_id.strip() or None
    if call.agent_decides:
        by = By(call.user_id, "agent", "decided by an agent, as the settings allow")
        found = review.decide(call.run, seen, action, by, at=at, text=text, conflict_id=conflict)
        if isinstance(found, review.Changed):
            raise Refused("it was decided on just now: look at it again", code="busy")
        row = found.learning
        part = ResolvedPart(id=row.id, status=row.status, scope=row.scope, user_id=row.user_id)
        part.reviewed_by, part.reviewed_by_user_id = row.reviewed_by, row.reviewed_by_user_id
        part.consistency_status = row.consistency_status
        return ResolveAnswer(action=action, learning=part)
    session = caller.calling(call)
    review.propose(
        call.run,
        id=seen.id,
        mark=hashlib.sha256(f"{action}\n{text or conflict or ''}".encode()).hexdigest()[:12],
        action=action,
        text=text or "",
        session_id=session.session_id if session else None,
        at=at,
    )
    answer = ResolveAnswer(
        action="proposed",
        proposed=action,
        confirm=f"mkg review --id {seen.short_id}",
        learning=ResolvedPart(id=seen.id, status=seen.status),
    )
    if text:
        answer.edited_text = text
    return answer


def own(call: Call, id: str) -> review.Standing:
    """A learning of a project or of the calling user.

    Raises:
        Refused: there is none; another user's counts as none.
    """
    seen = review.one(call.run, id)
    if seen.owner_key.startswith("user:") and seen.owner_key != f"user:{call.user_id}":
        raise Refused(f"no learning has the id {id.strip()[:80]!r}", code="not_found")
    return seen


def queued(row: review.Queued) -> QueuedPart:
    """An entry of the queue as a client gets it."""
    part = QueuedPart(
        id=row.id,
        scope=row.scope,
        text=row.text,
        status=row.status,
        origin=row.origin,
        confidence=row.confidence,
        reason=row.reason,
        detail=row.detail,
        consistency_status=row.consistency_status,
        updated_at=row.updated_at.isoformat(),
    )
    part.evidence = [
        QuotePart(**{name: str(e[name]) for name in QuotePart.model_fields}) for e in row.evidence
    ]
    names = ("id", "relation", "status", "confidence", "text", "judge_reason", "quote")
    part.conflicts = [ConflictPart(**{name: c[name] for name in names}) for c in row.conflicts]
    return part


def _wording(asked: ResolveAsked) -> str:
    if not asked.edited_text.strip():
        raise Refused("edited_text is missing: say the wording that is right", code="invalid")
    text = statement(asked.edited_text)
    verdict = screen(text, channel="A")
    if verdict.verdict == "block":
        raise Refused(f"this wording is withheld by the screen: {verdict.reason}", code="refused")
    return text
