"""Projects, users, sessions, subagents, events; one code-composed episode a session; recap."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mkg.bundle import Runner, cypher
from mkg.features.embedding import Embedded, Unembedded


@dataclass(frozen=True, slots=True)
class Appended:
    """An event that this call stored; a repeated one gives no row."""

    event_id: str
    session_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What a session was bound to at its first event, and its epoch of injections."""

    project_id: str | None
    user_id: str | None
    epoch: int


@dataclass(frozen=True, slots=True)
class Scheduled:
    tool_input: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Digest:
    """The facts of one session from which an episode is composed."""

    project_id: str | None
    user_id: str | None
    started_at: datetime
    ended_at: datetime
    events: int
    prompts: list[dict[str, Any]]
    prompt_count: int
    files: list[str]
    tools: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    outcome: str | None
    erased: int


@dataclass(frozen=True, slots=True)
class UpsertedEpisode:
    id: str
    created: bool


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    id: str
    type: str
    title: str
    facts: list[str]
    narrative: str
    user_id: str | None
    session_id: str
    injectable: bool
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class Headline:
    id: str
    type: str
    title: str
    ended_at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeCount:
    total: int


@dataclass(frozen=True, slots=True)
class EpisodeBody:
    id: str
    type: str
    title: str
    facts: list[str]
    narrative: str
    started_at: datetime
    ended_at: datetime
    session_id: str
    user_id: str | None
    safety_status: str
    prev_id: str | None
    next_id: str | None
    produced_learnings: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Imported:
    created: int
    stored: int


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    id: str
    type: str
    title: str
    narrative: str
    user_id: str | None
    injectable: bool
    ended_at: datetime
    score: float
    sources: list[str]


@cypher("timeline.append")
def append(run: Runner, *, events: list[dict[str, Any]]) -> list[Appended]: ...


@cypher("timeline.scope")
def scope(run: Runner, *, session_id: str) -> Scope | None: ...


@cypher("timeline.scheduled")
def scheduled(run: Runner, *, tools: list[str], limit: int) -> list[Scheduled]: ...


@cypher("timeline.digest")
def digest(run: Runner, *, session_id: str) -> Digest | None: ...


@cypher("timeline.upsert_episode")
def upsert_episode(
    run: Runner,
    *,
    id: str,
    session_id: str,
    project_id: str,
    started_at: datetime,
    ended_at: datetime,
    content: dict[str, Any],
    embedding: list[float] | None,
    embedding_model: str | None,
    erased: int | None,
) -> UpsertedEpisode | None: ...


@cypher("timeline.recent")
def recent(
    run: Runner, *, project_id: str, without_session: str | None, limit: int
) -> list[EpisodeRow]: ...


@cypher("timeline.headlines")
def headlines(
    run: Runner, *, project_id: str, without_session: str | None, pool: int, limit: int
) -> list[Headline]: ...


@cypher("timeline.count_episodes")
def count_episodes(run: Runner, *, project_id: str) -> EpisodeCount: ...


@cypher("timeline.fetch_episode")
def fetch_episode(run: Runner, *, episode_id: str, project_id: str) -> EpisodeBody | None: ...


@cypher("timeline.before")
def before(run: Runner, *, project_id: str, episode_id: str, limit: int) -> list[EpisodeRow]: ...


@cypher("timeline.search")
def search(
    run: Runner,
    *,
    owner_key: str,
    owner_token: str,
    terms: list[str],
    words: list[str],
    vector: list[float] | None,
    embedding_model: str,
    weights: dict[str, Any],
    pool: int,
    limit: int,
) -> list[EpisodeHit]: ...


@cypher("timeline.import_turns")
def import_turns(
    run: Runner,
    *,
    project: dict[str, Any],
    user_id: str,
    turns: list[dict[str, Any]],
    embedding_model: str | None,
) -> Imported: ...


# What of a spool record becomes a property of its event; everything else stays out of the graph.
_STORED = {
    "name": "event_name",
    "cwd": "cwd",
    "prompt": "prompt",
    "prompt_source": "prompt_source",
    "tool_name": "tool_name",
    "tool_input": "tool_input",
    "tool_output": "tool_output",
    "tool_output_bytes": "tool_output_bytes",
    "tool_error": "tool_error",
    "error": "error",
    "is_interrupt": "is_interrupt",
    "tool_use_id": "tool_use_id",
    "turn_id": "turn_id",
    "agent_id": "agent_id",
    "agent_type": "agent_type",
    "source": "source",
    "last_message": "last_assistant_message",
    "stop_active": "stop_hook_active",
    "transcript_path": "transcript_path",
    "model": "model",
    "message": "message",
    "truncated": "truncated",
    "raw_bytes": "raw_bytes",
    "raw_sha256": "raw_sha256",
}
_MARKERS = frozenset({"SubagentStart", "SubagentStop"})
_FILE_KEYS = ("file_path", "notebook_path", "path")


def event_row(
    record: Mapping[str, Any],
    *,
    project_id: str | None,
    project_name: str | None,
    user_id: str,
    user_source: str,
    origin: str | None,
) -> dict[str, Any]:
    """One parameter row of `timeline.append` from a spool record (mkg_hooks.payload.to_record).

    What happens inside a subagent belongs to a session of its own; its start and stop markers stay
    with the parent.
    """
    data = {
        target: record[source]
        for source, target in _STORED.items()
        if record.get(source) not in (None, "", [])
    }
    if origin is not None:
        data["origin"] = origin
    path = file_path(record.get("tool_input"))
    if path is not None:
        data["file_path"] = path
    session_id, agent = str(record["session_id"]), dict[str, Any]()
    inside = record.get("agent_id") and record["name"] not in _MARKERS
    if inside:
        agent = {
            "agent_kind": "subagent",
            "agent_id": record["agent_id"],
            "agent_type": record.get("agent_type"),
            "parent_session_id": session_id,
        }
        session_id = str(record["agent_id"])
    else:
        agent = {"agent_kind": "main"}
    return {
        "event_key": record["event_key"],
        "natural_key": bool(record.get("natural_key")),
        "session_id": session_id,
        "at": record["received_at"],
        "client": record["client"],
        "agent": {key: value for key, value in agent.items() if value is not None},
        "project_id": project_id,
        "project_name": project_name,
        "user_id": user_id,
        "user_source": user_source,
        "data": data,
    }


def file_path(tool_input: object) -> str | None:
    """The file a tool call names in its input (JSON text), if it names one."""
    import json

    if not isinstance(tool_input, str) or not tool_input.startswith("{"):
        return None
    try:
        value = json.loads(tool_input)
    except (ValueError, RecursionError):
        return None
    for key in _FILE_KEYS:
        path = value.get(key)
        if isinstance(path, str) and 0 < len(path) <= 1024:
            return path
    return None


def owner_key(project_id: str) -> str:
    """The scope key of a project's rows."""
    return f"project:{project_id}"


@cypher("timeline.unembedded")
def unembedded(run: Runner, *, after: str, model: str, limit: int) -> list[Unembedded]: ...


@cypher("timeline.embed")
def embed(run: Runner, *, rows: list[dict[str, Any]], model: str) -> Embedded: ...
