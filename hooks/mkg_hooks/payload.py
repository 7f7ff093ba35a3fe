"""What handlers see of a client's event, and what they answer: no raw JSON, no client's names."""

from dataclasses import dataclass, fields

VERSION = 1


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event of a session, normalised, redacted, and safe to store."""

    client: str
    name: str
    event_key: str
    received_at: str
    natural_key: bool = False
    session_id: str | None = None
    cwd: str | None = None
    transcript_path: str | None = None
    prompt: str | None = None
    prompt_source: str | None = None
    tool_name: str | None = None
    tool_input: str | None = None
    tool_output: str | None = None
    tool_output_bytes: int = 0
    tool_error: bool = False
    error: str | None = None
    is_interrupt: bool = False
    tool_use_id: str | None = None
    turn_id: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    agent_transcript_path: str | None = None
    source: str | None = None
    last_message: str | None = None
    stop_active: bool = False
    model: str | None = None
    permission_mode: str | None = None
    entrypoint: str | None = None
    message: str | None = None
    truncated: bool = False
    raw_bytes: int = 0
    raw_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class HookResult:
    """What a client is told: context for the model, or one degraded line for the user."""

    context: str = ""
    notice: str = ""
    ids: tuple[str, ...] = ()
    """The learnings inside `context`: they count as told once the text has left the worker."""


NAMES = frozenset(field.name for field in fields(HookEvent))


def to_record(event: HookEvent) -> dict[str, object]:
    """Return the event as a spool record; absent fields are left out."""
    values = {name: getattr(event, name) for name in sorted(NAMES)}
    kept = {name: value for name, value in values.items() if value is not None}
    return {"v": VERSION, "kind": "event", **kept}


def from_record(record: dict[str, object]) -> HookEvent:
    """Return the event of a spool record; fields of a newer version are ignored.

    Raises ValueError when the record lacks what identifies an event.
    """
    try:
        return HookEvent(**{k: v for k, v in record.items() if k in NAMES})  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"the record is not an event: {error}") from error
