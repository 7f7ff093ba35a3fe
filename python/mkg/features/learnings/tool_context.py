"""`project_get_context`: what is known about a project and the calling user, on request."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field

from mkg.errors import Refused
from mkg.features import gate, learnings, timeline
from mkg.features.learnings import caller, retrieval
from mkg.features.timeline.tools import describe_project
from mkg.features.tool import (
    PROVENANCE,
    UNVERIFIED,
    Answer,
    Asked,
    Call,
    Part,
    as_list,
    clamped,
)

MOST_ROWS = 50
BUDGET = 60_000
"""Characters of rows in one answer: clients cut off far larger ones anywhere."""
QUERIES = (
    *caller.QUERIES,
    "learnings.search",
    "learnings.as_of",
    "learnings.recent",
    "learnings.serve",
    "timeline.recent",
    "timeline.describe_project",
    "gate.blocked_recently",
)
Status = Literal["approved", "candidate", "blocked"]
P = TypeVar("P", bound=Part)


class ContextAsked(Asked):
    project_id: str = Field(
        default="", description="A project's id; empty for the current project."
    )
    query: str = Field(
        default="", description="What the task is about, in a few words; empty for the newest."
    )
    statuses: Annotated[list[Status], BeforeValidator(as_list)] = Field(
        default=[],
        description=(
            "Which learnings: approved (confirmed), candidate (hints), blocked (ids and reasons of "
            "what was withheld lately). Empty means approved and candidate."
        ),
    )
    limit: int = Field(default=5, description="Most rows of each kind, 1 to 50.")
    as_of: str = Field(
        default="",
        description=(
            "A date or time: answers with what held then, also what was replaced since. Needs a "
            "query. Empty for now."
        ),
    )


class ProjectPart(Part):
    id: str = Field(
        default="", description="The project's id; empty when the client works in no project."
    )
    name: str | None = Field(default=None, description="Display name.")
    status: str | None = Field(default=None, description="active or archived.")
    last_activity_at: str | None = Field(default=None, description="Time of its newest event.")


class LearningPart(Part):
    id: str = Field(default="", description="Id of the learning.")
    text: str = Field(default="", description="What was learned, redacted and escaped.")
    status: str = Field(default="", description="approved or candidate.")
    confidence: float = Field(default=0.0, description="0 to 1.")
    task_pattern: str | None = Field(default=None, description="The kind of task it belongs to.")
    scope: str = Field(default="", description="project or user; absent when found by recency.")
    score: float = Field(default=0.0, description="Fused rank; 0 when found by recency.")
    sources: list[str] = Field(
        default=[], description="vector, text; absent when found by recency."
    )
    kind: str = Field(default="", description="fact or error.")
    tool_key: str | None = Field(default=None, description="Of an error: the tool that failed.")
    error_signature: str | None = Field(
        default=None, description="Of an error: its first telling line."
    )
    resolved: bool | None = Field(default=None, description="Of an error: whether a fix is known.")
    origin: str = Field(default="", description="Who said it, for example user_typed or mcp_write.")
    unverified: bool = Field(
        default=False, description="True for a hint that nobody has confirmed."
    )
    note: str = Field(default="", description="How far to trust the row.")
    was: str = Field(default="", description="What it replaced, if anything.")
    said_later: str = Field(
        default="",
        description="What the same person said later, near this in meaning: it may have changed.",
    )
    since: str = Field(default="", description="With as_of: from when it held.")
    until: str | None = Field(
        default=None, description="With as_of: until when; null if it still holds."
    )
    now: str | None = Field(default=None, description="With as_of: what took its place.")


class ObservationPart(Part):
    id: str = Field(default="", description="Id for episode_fetch.")
    type: str = Field(default="", description="change, discovery or problem.")
    title: str = Field(default="", description="Headline.")
    facts: list[str] = Field(default=[], description="What is recorded of the session.")
    narrative: str = Field(default="", description="How it went.")
    user_id: str | None = Field(default=None, description="Whose session it was.")
    ended_at: str = Field(default="", description="When it ended.")
    unscreened: bool = Field(default=False, description="True when no screen has passed it.")


class BlockedPart(Part):
    id: str = Field(default="", description="Id of the decision.")
    category: str = Field(default="", description="Why, in one word.")
    rule: str = Field(default="", description="The rule that withheld it.")
    reason: str = Field(default="", description="Why; the text itself is not kept.")
    at: str = Field(default="", description="When.")


class ContextAnswer(Answer):
    project: ProjectPart = Field(
        default=ProjectPart(), description="The project the answer is about."
    )
    user_id: str = Field(default="", description="The user whose facts are listed.")
    query: str | None = Field(default=None, description="The query as it was searched.")
    statuses: list[str] = Field(default=[], description="The statuses that were looked for.")
    user_learnings: list[LearningPart] = Field(
        default=[], description="Facts about the calling user."
    )
    learnings: list[LearningPart] = Field(default=[], description="Learnings of the project.")
    recent_observations: list[ObservationPart] = Field(
        default=[], description="Newest sessions first."
    )
    blocked: list[BlockedPart] = Field(default=[], description="Withheld in the last seven days.")
    provenance: str = Field(default="", description="How to read the texts.")
    degraded: str = Field(default="", description="What the search had to do without, and why.")
    note: str = Field(default="", description="Anything else worth knowing about the answer.")
    left_out: int = Field(default=0, description="Rows that did not fit; ask with a smaller limit.")


def project_get_context(call: Call, asked: ContextAsked) -> ContextAnswer:
    """What is known about a project and the calling user."""
    limit = clamped(asked.limit, 1, MOST_ROWS)
    statuses = list(dict.fromkeys(asked.statuses)) or list(retrieval.STATUSES)
    recalled = [status for status in statuses if status != "blocked"]
    project_id = caller.project_of(call, asked.project_id, caller.calling(call))
    query = retrieval.prepare(asked.query, call.embed)

    if asked.as_of.strip() and not query.text.strip():
        raise Refused("as_of needs a query", code="invalid", hint="say what it is about")
    then = retrieval.moment(asked.as_of) if asked.as_of.strip() else None

    def pull(owner_key: str) -> Sequence[learnings.Hit | learnings.Known | learnings.Version]:
        if not recalled:
            return []
        if then is not None:
            return retrieval.held_at(call.run, query, owner_key=owner_key, at=then, limit=limit)
        return retrieval.pull(call.run, query, owner_key=owner_key, statuses=recalled, limit=limit)

    of_project: Sequence[learnings.Hit | learnings.Known | learnings.Version] = (
        pull(f"project:{project_id}") if project_id else ()
    )
    of_user = pull(f"user:{call.user_id}")
    seen = (
        timeline.recent(call.run, project_id=project_id, without_session=None, limit=limit)
        if project_id
        else []
    )
    room = _Room(BUDGET)
    answer = ContextAnswer(
        project=_project(call, project_id),
        user_id=call.user_id,
        query=asked.query.strip() or None,
        statuses=list(statuses),
        learnings=room.take([_learning(row) for row in of_project]),
        user_learnings=room.take([_learning(row) for row in of_user]),
        recent_observations=room.take([_observation(row) for row in seen]),
        provenance=PROVENANCE,
    )
    if "blocked" in statuses:
        found = (
            gate.blocked_recently(call.run, project_id=project_id, limit=limit)
            if project_id
            else []
        )
        answer.blocked = room.take([_blocked(row) for row in found])
    if asked.query.strip() and query.degraded:
        answer.degraded = f"searched by words only ({query.degraded})"
    if project_id is None:
        answer.note = (
            "the client works in no project, so only facts about the user are listed; "
            "pass project_id for a project's"
        )
    if room.left_out:
        answer.left_out = room.left_out
    return answer


class _Room:
    """Takes rows while they fit into one answer."""

    def __init__(self, characters: int):
        self._left = characters
        self.left_out = 0

    def take(self, rows: Sequence[P]) -> list[P]:
        kept: list[P] = []
        for row in rows:
            self._left -= len(row.model_dump_json(exclude_unset=True))
            if self._left < 0:
                break
            kept.append(row)
        self.left_out += len(rows) - len(kept)
        return kept


def _project(call: Call, project_id: str | None) -> ProjectPart:
    found = describe_project(call.run, project_id=project_id) if project_id else None
    if found is None:
        return ProjectPart(id=project_id or "")
    return ProjectPart(
        id=found.id,
        name=found.name,
        status=found.status,
        last_activity_at=_moment(found.last_activity_at),
    )


def _learning(row: learnings.Hit | learnings.Known | learnings.Version) -> LearningPart:
    if isinstance(row, learnings.Version):
        return LearningPart(
            id=row.id,
            text=row.text,
            status=row.status,
            origin=row.origin,
            since=row.since.isoformat(),
            until=row.until.isoformat() if row.until else None,
            now=row.now,
            said_later=str(row.said_later["text"]) if row.said_later else "",
        )
    made = LearningPart(
        id=row.id,
        text=row.text,
        status=row.status,
        confidence=row.confidence,
        task_pattern=row.task_pattern,
        kind=row.kind,
        tool_key=row.tool_key,
        error_signature=row.error_signature,
        resolved=row.resolved,
        origin=row.origin,
        score=0.0,
    )
    if isinstance(row, learnings.Hit):
        made.scope, made.score, made.sources = row.scope, round(row.score, 6), row.sources
        if row.was:
            made.was = str(row.was["text"])
    if row.said_later:
        made.said_later = str(row.said_later["text"])
    if row.status != "approved":
        made.unverified, made.note = True, UNVERIFIED
    return made


def _observation(row: timeline.EpisodeRow) -> ObservationPart:
    made = ObservationPart(
        id=row.id,
        type=row.type,
        title=row.title,
        facts=row.facts,
        narrative=row.narrative,
        user_id=row.user_id,
        ended_at=row.ended_at.isoformat(),
    )
    if not row.injectable:
        made.unscreened = True
    return made


def _blocked(row: gate.Blocked) -> BlockedPart:
    return BlockedPart(
        id=row.id,
        category=row.category,
        rule=row.rule,
        reason=row.reason,
        at=row.at.isoformat(),
    )


def _moment(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
