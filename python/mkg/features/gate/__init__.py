"""Decides what may be believed: screen, ceiling by origin, decisions on record."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mkg.bundle import Runner, cypher


@dataclass(frozen=True, slots=True)
class Settled:
    learning_id: str
    status: str
    changed: bool
    rejected: list[str]


@dataclass(frozen=True, slots=True)
class Near:
    """What the store holds beside one candidate."""

    no: int
    told_at: datetime | None
    holder: dict[str, Any] | None
    neighbours: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Released:
    value_key: str
    earlier: str


@dataclass(frozen=True, slots=True)
class Old:
    """A learning that has waited for long."""

    id: str
    owner_key: str
    value_key: str
    words_key: str | None
    frame_key: str | None
    text: str
    origin: str
    user_id: str | None
    explicit: bool
    embedding: list[float] | None
    embedding_model: str | None
    since: datetime
    created_at: datetime
    said_no: int


@dataclass(frozen=True, slots=True)
class Turn:
    taken: bool


@dataclass(frozen=True, slots=True)
class SweepDone:
    released: bool


@dataclass(frozen=True, slots=True)
class Flagged:
    flagged: int


@dataclass(frozen=True, slots=True)
class RefusalsRecorded:
    recorded: int


@dataclass(frozen=True, slots=True)
class Blocked:
    id: str
    category: str
    rule: str
    reason: str
    session_id: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    id: str
    short_id: str
    text: str
    status: str
    origin: str
    reason: str | None
    created_at: datetime


@cypher("gate.settle")
def settle(run: Runner, *, decisions: list[dict[str, Any]]) -> list[Settled]: ...


@cypher("gate.neighbours")
def neighbours(
    run: Runner,
    *,
    owners: list[str],
    rows: list[dict[str, Any]],
    embedding_model: str,
    pool: int,
    limit: int,
    at: str,
) -> list[Near]: ...


@cypher("gate.release")
def release(run: Runner, *, keys: list[str]) -> list[Released]: ...


@cypher("gate.oldest")
def oldest(run: Runner, *, owner_keys: list[str], limit: int, before: str) -> list[Old]: ...


@cypher("gate.sweep_turn")
def sweep_turn(
    run: Runner, *, key: str, owner: str, at: str, expires_at: str, rested: str
) -> Turn: ...


@cypher("gate.sweep_done")
def sweep_done(run: Runner, *, key: str, owner: str, ids: list[str], at: str) -> SweepDone: ...


@cypher("gate.flag_derived")
def flag_derived(run: Runner, *, ids: list[str], reason: str) -> Flagged: ...


@cypher("gate.refuse")
def refuse(run: Runner, *, refusals: list[dict[str, Any]]) -> RefusalsRecorded: ...


@cypher("gate.blocked_recently")
def blocked_recently(run: Runner, *, project_id: str, limit: int) -> list[Blocked]: ...


@cypher("gate.waiting")
def waiting(run: Runner, *, owner_key: str, limit: int) -> list[Waiting]: ...
