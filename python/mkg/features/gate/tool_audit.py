"""`project_gate_audit`: what the gate withheld, kept apart or met again, and its health."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from mkg.bundle import Runner, cypher
from mkg.features import gate
from mkg.features.gate import review
from mkg.features.gate.tool_review import ConflictPart
from mkg.features.learnings import caller
from mkg.features.tool import PROVENANCE, Answer, Asked, Call, Part, clamped

MOST = 50
QUERIES = (
    *caller.QUERIES,
    "gate.blocked_recently",
    "gate.queue_size",
    "gate.kept_conflicts",
    "gate.reproposed",
    "gate.waiting",
    "gate.health",
)


@dataclass(frozen=True, slots=True)
class KeptConflict:
    id: str
    scope: str
    user_id: str | None
    text: str
    decided_at: datetime | None
    conflicts: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Reproposed:
    id: str
    text: str
    status: str
    reason: str | None
    times: int
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Health:
    last_run_at: datetime | None
    last_run: str | None
    last_error: str | None
    unembedded: int


@cypher("gate.kept_conflicts")
def kept_conflicts(run: Runner, *, owner_keys: list[str], limit: int) -> list[KeptConflict]: ...


@cypher("gate.reproposed")
def reproposed(run: Runner, *, owner_keys: list[str], limit: int) -> list[Reproposed]: ...


@cypher("gate.health")
def health(run: Runner, *, project_id: str, model: str) -> Health: ...


class AuditAsked(Asked):
    project_id: str = Field(
        default="", description="A project's id; empty for the current project."
    )
    limit: int = Field(default=20, description="Most rows of each section, 1 to 50.")


class BlockedPart(Part):
    id: str = Field(default="", description="Id of the decision.")
    category: str = Field(default="", description="injection, privilege, secret and so on.")
    rule: str = Field(default="", description="The rule that stopped it.")
    blocked_reason: str = Field(default="", description="Why.")
    blocked_at: str = Field(default="", description="When it came first.")
    kind: str = Field(default="blocked_learning", description="Always blocked_learning.")


class KeptPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    scope: str = Field(default="", description="project or user.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    decided_at: str | None = Field(default=None, description="When both were kept.")
    conflicts: list[ConflictPart] = Field(default=[], description="What stands against it.")


class RefusedPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    text: str = Field(default="", description="What was refused, redacted and escaped.")
    status: str = Field(default="", description="rejected or blocked.")
    reason: str | None = Field(default=None, description="Why it was refused.")
    times: int = Field(default=0, description="How often it was proposed again.")
    last_at: str | None = Field(default=None, description="When last.")


class WaitingPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    origin: str = Field(default="", description="Who said it.")
    reason: str | None = Field(default=None, description="Why it waits.")
    since: str = Field(default="", description="Since when.")


class HealthPart(Part):
    last_run_at: str | None = Field(default=None, description="The newest background run.")
    last_run: str | None = Field(default=None, description="How it ended.")
    last_error: str | None = Field(default=None, description="What failed in it.")
    embeddings: str = Field(default="", description="on, or why vectors are missing.")
    unembedded: int = Field(default=0, description="Rows that only words can find.")


class AuditAnswer(Answer):
    project_id: str = Field(default="", description="The project asked about.")
    user_id: str = Field(default="", description="The calling user.")
    blocked_count: int = Field(default=0, description="Withheld in the last seven days.")
    waiting_count: int = Field(default=0, description="What a person is asked about.")
    blocked_learnings: list[BlockedPart] = Field(
        default=[], description="Withheld in the last seven days, newest first."
    )
    kept_conflicts: list[KeptPart] = Field(default=[], description="Approved on both sides.")
    reproposed: list[RefusedPart] = Field(default=[], description="Refused, and proposed again.")
    waiting: list[WaitingPart] = Field(default=[], description="Not approved yet, oldest first.")
    health: HealthPart = Field(default=HealthPart(), description="How the background work stands.")
    provenance: str = Field(default="", description="How to read the texts.")
    note: str = Field(default="", description="What is not kept.")


def project_gate_audit(call: Call, asked: AuditAsked) -> AuditAnswer:
    """What the gate did with what it was given."""
    limit = clamped(asked.limit, 1, MOST)
    project_id = caller.some_project(call, asked.project_id, caller.calling(call))
    keys = review.owners(project_id, call.user_id)
    size = review.queue_size(call.run, owner_keys=keys, project_id=project_id)
    waiting = [w for key in keys for w in gate.waiting(call.run, owner_key=key, limit=limit)]
    return AuditAnswer(
        project_id=project_id,
        user_id=call.user_id,
        blocked_count=size.blocked,
        waiting_count=size.waiting,
        blocked_learnings=[
            _blocked(b) for b in gate.blocked_recently(call.run, project_id=project_id, limit=limit)
        ],
        kept_conflicts=[_kept(k) for k in kept_conflicts(call.run, owner_keys=keys, limit=limit)],
        reproposed=[_refused(r) for r in reproposed(call.run, owner_keys=keys, limit=limit)],
        waiting=[_waiting(w) for w in sorted(waiting, key=lambda w: w.created_at)[:limit]],
        health=_health(call, project_id),
        provenance=PROVENANCE,
        note="of a withheld text nothing is stored but the reason, so none can be shown",
    )


def _blocked(row: gate.Blocked) -> BlockedPart:
    return BlockedPart(
        id=row.id,
        category=row.category,
        rule=row.rule,
        blocked_reason=row.reason,
        blocked_at=row.at.isoformat(),
        kind="blocked_learning",
    )


def _kept(row: KeptConflict) -> KeptPart:
    names = ("id", "text", "status", "judge_reason")
    return KeptPart(
        id=row.id,
        scope=row.scope,
        text=row.text,
        decided_at=row.decided_at.isoformat() if row.decided_at else None,
        conflicts=[ConflictPart(**{n: c[n] for n in names}) for c in row.conflicts],
    )


def _refused(row: Reproposed) -> RefusedPart:
    return RefusedPart(
        id=row.id,
        text=row.text,
        status=row.status,
        reason=row.reason,
        times=row.times,
        last_at=row.last_at.isoformat() if row.last_at else None,
    )


def _waiting(row: gate.Waiting) -> WaitingPart:
    return WaitingPart(
        id=row.id,
        text=row.text,
        origin=row.origin,
        reason=row.reason,
        since=row.created_at.isoformat(),
    )


def _health(call: Call, project_id: str) -> HealthPart:
    model = call.embed.model if call.embed else ""
    found = health(call.run, project_id=project_id, model=model)
    return HealthPart(
        last_run_at=found.last_run_at.isoformat() if found.last_run_at else None,
        last_run=found.last_run,
        last_error=found.last_error,
        embeddings="on" if model else "no embedder: found by words only",
        unembedded=found.unembedded,
    )
