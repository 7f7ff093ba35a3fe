"""What was learned: candidates, their provenance, hybrid recall, injection, counters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mkg.bundle import Runner, cypher
from mkg.features.embedding import Embedded, Unembedded


@dataclass(frozen=True, slots=True)
class Upserted:
    id: str
    value_key: str
    status: str
    action: str
    support_count: int
    rejected_reason: str | None


@dataclass(frozen=True, slots=True)
class WindowEvent:
    """One event that no processing run has read yet."""

    event_id: str
    session_id: str
    seq: int
    event_name: str
    at: datetime
    origin: str | None
    prompt: str | None
    message: str | None
    tool_name: str | None
    tool_input: str | None
    tool_use_id: str | None
    failed: bool
    error: str | None
    heard: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    first_time: bool


@dataclass(frozen=True, slots=True)
class Attempts:
    attempts: int
    given_up: bool


@dataclass(frozen=True, slots=True)
class Unread:
    """A session that stopped and of which not everything has been read."""

    session_id: str
    project_id: str | None
    user_id: str | None
    client: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A learning found by meaning or by words."""

    id: str
    short_id: str
    text: str
    status: str
    scope: str
    origin: str
    confidence: float
    task_pattern: str | None
    kind: str
    tool_key: str | None
    error_signature: str | None
    resolved: bool | None
    age_seconds: int
    session_id: str | None
    score: float
    cosine: float | None
    sources: list[str]
    was: dict[str, Any] | None = None
    """What it replaced, if that may be told: text and seconds since it ended."""
    said_later: dict[str, Any] | None = None
    """What the same person said later and near it: id, short id, text (none where the
    session that asks knows it) and seconds since."""


@dataclass(frozen=True, slots=True)
class Known:
    """A learning found by recency."""

    id: str
    short_id: str
    text: str
    status: str
    scope: str
    origin: str
    confidence: float
    task_pattern: str | None
    kind: str
    tool_key: str | None
    error_signature: str | None
    resolved: bool | None
    age_seconds: int
    session_id: str | None
    said_later: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Version:
    """A learning as it held at a moment that was asked about."""

    id: str
    short_id: str
    text: str
    status: str
    origin: str
    since: datetime
    until: datetime | None
    now: str | None
    score: float
    said_later: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    delivered: int


@dataclass(frozen=True, slots=True)
class Served:
    served: int


@dataclass(frozen=True, slots=True)
class Told:
    text: str


@dataclass(frozen=True, slots=True)
class Why:
    """Everything that can be said of one learning."""

    id: str
    short_id: str
    text: str
    status: str
    scope: str
    origin: str
    source: str
    created_at: datetime
    support_count: int
    inject_count: int
    retrieval_count: int
    evidence: list[dict[str, Any]]
    decisions: list[dict[str, Any]]
    deliveries: list[dict[str, Any]]


@cypher("learnings.upsert")
def upsert(run: Runner, *, rows: list[dict[str, Any]]) -> list[Upserted]: ...


@cypher("learnings.window")
def window(run: Runner, *, session_id: str, limit: int) -> list[WindowEvent]: ...


@cypher("learnings.record_window")
def record_window(
    run: Runner,
    *,
    id: str,
    session_id: str,
    project_id: str | None,
    user_id: str | None,
    event_ids: list[str],
    produced: list[str],
    episodes: list[str],
    revised: list[dict[str, Any]],
    facts: dict[str, Any],
    at: str,
    heard: str | None,
) -> Recorded: ...


@cypher("learnings.record_failure")
def record_failure(
    run: Runner,
    *,
    id: str,
    session_id: str,
    project_id: str | None,
    user_id: str | None,
    reason: str,
    reached: bool,
    most: int,
    patience: str,
    at: str,
) -> Attempts: ...


@cypher("learnings.unread")
def unread(run: Runner, *, since: datetime, limit: int) -> list[Unread]: ...


@cypher("learnings.recall")
def recall(
    run: Runner,
    *,
    owner_key: str,
    terms: str,
    vector: list[float] | None,
    embedding_model: str,
    session_id: str | None,
    excluded: list[str],
    pool: int,
    limit: int,
) -> list[Hit]: ...


@cypher("learnings.search")
def search(
    run: Runner,
    *,
    owner_key: str,
    terms: str,
    vector: list[float] | None,
    embedding_model: str,
    statuses: list[str],
    pool: int,
    limit: int,
) -> list[Hit]: ...


@cypher("learnings.as_of")
def as_of(
    run: Runner,
    *,
    owner_key: str,
    terms: str,
    vector: list[float] | None,
    embedding_model: str,
    at: str,
    pool: int,
    limit: int,
) -> list[Version]: ...


@cypher("learnings.recent")
def recent(
    run: Runner,
    *,
    owner_key: str,
    statuses: list[str],
    injectable_only: bool,
    session_id: str | None,
    excluded: list[str],
    limit: int,
) -> list[Known]: ...


@cypher("learnings.deliver")
def deliver(
    run: Runner,
    *,
    session_id: str,
    event_key: str,
    hook_event: str,
    ids: list[str],
    block_sha: str,
    at: str,
) -> Delivered: ...


@cypher("learnings.serve")
def serve(run: Runner, *, ids: list[str], at: str) -> Served: ...


@cypher("learnings.told")
def told(run: Runner, *, session_id: str, limit: int) -> list[Told]: ...


@cypher("learnings.why")
def why(run: Runner, *, id: str) -> list[Why]: ...


@cypher("learnings.unembedded")
def unembedded(run: Runner, *, after: str, model: str, limit: int) -> list[Unembedded]: ...


@cypher("learnings.embed")
def embed(run: Runner, *, rows: list[dict[str, Any]], model: str) -> Embedded: ...


@dataclass(frozen=True, slots=True)
class Unwanted:
    id: str


@cypher("learnings.unwanted")
def unwanted(run: Runner, *, project_id: str) -> list[Unwanted]: ...


@dataclass(frozen=True, slots=True)
class Linked:
    linked: int


@cypher("learnings.link_session")
def link_session(run: Runner, *, session_id: str, ids: list[str], at: str) -> Linked: ...
