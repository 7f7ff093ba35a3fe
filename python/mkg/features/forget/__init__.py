"""Taking back what was kept: at a person's wish, after its time, or because nobody uses it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mkg.bundle import Runner, cypher


@dataclass(frozen=True, slots=True)
class SessionPart:
    """A session that goes up to an event."""

    session_id: str
    upto: int


@dataclass(frozen=True, slots=True)
class Found:
    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Tainted:
    id: str


@dataclass(frozen=True, slots=True)
class Same:
    """A learning and the words it rests on."""

    id: str
    text: str
    quotes: list[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much goes, by kind; `weakened` learnings keep another source."""

    events: int
    learnings: int
    weakened: int
    episodes: int
    decisions: int
    deliveries: int
    versions: int
    verdicts: int
    processing: int


@dataclass(frozen=True, slots=True)
class Begun:
    id: str


@dataclass(frozen=True, slots=True)
class Marked:
    marked: int


@dataclass(frozen=True, slots=True)
class State:
    """One request to forget, as the graph keeps it."""

    id: str
    kind: str
    state: str
    events: int
    learnings: int
    weakened: int
    episodes: int
    sessions: int
    checks: list[str]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Unfinished:
    id: str
    kind: str
    state: str
    refuse: str


@dataclass(frozen=True, slots=True)
class Dropped:
    dropped: int


@dataclass(frozen=True, slots=True)
class Erased:
    erased: int


@dataclass(frozen=True, slots=True)
class Masked:
    masked: int


@dataclass(frozen=True, slots=True)
class Rechecked:
    checked: int


@dataclass(frozen=True, slots=True)
class Unlinked:
    unlinked: int


@dataclass(frozen=True, slots=True)
class Removed:
    removed: int


@dataclass(frozen=True, slots=True)
class EpisodeLeft:
    episode_id: str | None
    session_id: str | None


@dataclass(frozen=True, slots=True)
class Cleared:
    cleared: int


@dataclass(frozen=True, slots=True)
class Trimmed:
    session_id: str
    gone: bool


@dataclass(frozen=True, slots=True)
class Rest:
    rest: int


@dataclass(frozen=True, slots=True)
class Place:
    place: str
    hits: int


@dataclass(frozen=True, slots=True)
class Standing:
    standing: int


@dataclass(frozen=True, slots=True)
class Emptied:
    emptied: int


@dataclass(frozen=True, slots=True)
class Faded:
    archived: int


@dataclass(frozen=True, slots=True)
class Revived:
    revived: int


@dataclass(frozen=True, slots=True)
class Indexed:
    hits: int


@dataclass(frozen=True, slots=True)
class Name:
    id: str
    text: str | None


@cypher("forget.sessions")
def sessions(
    run: Runner, *, session_id: str | None, project_id: str | None, user_id: str | None
) -> list[SessionPart]: ...


@cypher("forget.owned")
def owned(run: Runner, *, owner_key: str, project_id: str | None) -> list[Found]: ...


@cypher("forget.holding")
def holding(run: Runner, *, forms: list[str]) -> list[Found]: ...


@cypher("forget.tainted")
def tainted(run: Runner, *, events: list[str]) -> list[Tainted]: ...


@cypher("forget.learning")
def learning(run: Runner, *, id: str) -> list[Same]: ...


@cypher("forget.plan")
def plan(
    run: Runner,
    *,
    sessions: list[str],
    events: list[str],
    learnings: list[str],
    episodes: list[str],
) -> Plan: ...


@cypher("forget.begin")
def begin(run: Runner, *, id: str, kind: str, refuse: str, checks: list[str], at: str) -> Begun: ...


@cypher("forget.mark")
def mark(
    run: Runner,
    *,
    id: str,
    sessions: list[dict[str, Any]],
    events: list[str],
    learnings: list[str],
    episodes: list[str],
) -> Marked: ...


@cypher("forget.state")
def state(run: Runner, *, id: str, state: str, at: str) -> State | None: ...


@cypher("forget.wishes")
def wishes(run: Runner, *, kind: str, check: str) -> list[State]: ...


@cypher("forget.unfinished")
def unfinished(run: Runner) -> list[Unfinished]: ...


@cypher("forget.drop")
def drop(run: Runner, *, id: str) -> Dropped: ...


@cypher("forget.erase_session")
def erase_session(run: Runner, *, id: str, limit: int, at: str) -> Erased | None: ...


@cypher("forget.erase_events")
def erase_events(run: Runner, *, id: str, limit: int, at: str) -> Erased: ...


@cypher("forget.mask")
def mask(run: Runner, *, id: str, learning_id: str, words: list[dict[str, Any]]) -> Masked: ...


@cypher("forget.recheck")
def recheck(run: Runner, *, id: str, limit: int) -> Rechecked: ...


@cypher("forget.weaken")
def weaken(run: Runner, *, id: str, limit: int, at: str) -> Rechecked: ...


@cypher("forget.unlink")
def unlink(run: Runner, *, id: str, limit: int) -> Unlinked: ...


@cypher("forget.remove")
def remove(run: Runner, *, id: str, limit: int, at: str) -> Removed: ...


@cypher("forget.episodes")
def episodes(run: Runner, *, id: str, limit: int) -> list[EpisodeLeft]: ...


@cypher("forget.drop_episodes")
def drop_episodes(
    run: Runner, *, ids: list[str], session_id: str | None, composed: bool
) -> Dropped: ...


@cypher("forget.told_again")
def told_again(run: Runner, *, id: str, sessions: list[str], episodes: int) -> Cleared: ...


@cypher("forget.trim")
def trim(run: Runner, *, id: str, limit: int) -> Trimmed | None: ...


@cypher("forget.leave")
def leave(run: Runner, *, project_id: str | None, user_id: str | None) -> Rest: ...


@cypher("forget.find")
def find(run: Runner, *, forms: list[str]) -> list[Place]: ...


@cypher("forget.standing")
def standing(run: Runner, *, event_ids: list[str]) -> Standing: ...


@cypher("forget.indexed")
def indexed(run: Runner, *, lucene: str) -> Indexed: ...


@cypher("forget.names")
def names(run: Runner, *, before: datetime) -> list[Name]: ...


@cypher("forget.empty_events")
def empty_events(run: Runner, *, before: datetime, outputs: bool, limit: int) -> Emptied: ...


@cypher("forget.old_episodes")
def old_episodes(run: Runner, *, before: datetime, limit: int) -> list[Found]: ...


@cypher("forget.old_deliveries")
def old_deliveries(run: Runner, *, before: datetime, limit: int) -> Dropped: ...


@cypher("forget.fade")
def fade(run: Runner, *, before: datetime, limit: int) -> Faded: ...


@cypher("forget.revive")
def revive(run: Runner, *, keys: list[str]) -> Revived: ...
