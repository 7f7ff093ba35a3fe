"""What a handler may use: graph, embedder, settings, clock, and this worker's own memory."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mkg.db import Neo4jRunner
from mkg.embed import Embedder
from mkg.llm import Model
from mkg.settings import Settings

_SESSIONS = 2_000


@dataclass(frozen=True, slots=True)
class Identity:
    """What a session is bound to from its first event on."""

    project_id: str | None
    project_name: str | None
    user_id: str
    user_source: str


@dataclass(slots=True)
class SessionState:
    """What this worker knows of one session before the graph does."""

    identity: Identity | None = None
    told: set[str] = field(default_factory=set[str])
    unwanted: frozenset[str] | None = None
    """What a person did not want to be told in this project; read at a start."""
    new_epoch: bool = False
    """A clear or compact was seen whose event is not yet in the graph."""
    start_block: str | None = None
    """The hash of what the last start was told, until the client's own record shows it."""
    retell: bool = False
    """The client dropped what its start was told: the next prompt is told it too."""


class SessionMemory:
    """Bounded, thread-safe: the oldest session goes first, and the graph still knows it."""

    def __init__(self) -> None:
        self._states: dict[str, SessionState] = {}
        self._lock = threading.Lock()

    def of(self, session_id: str) -> SessionState:
        """The state of a session, made when it is new."""
        with self._lock:
            state = self._states.pop(session_id, None) or SessionState()
            self._states[session_id] = state
            while len(self._states) > _SESSIONS:
                del self._states[next(iter(self._states))]
            return state


def _now() -> datetime:
    return datetime.now(UTC)


def _drop(_: dict[str, Any]) -> None:
    """Where no spool is at hand, nothing is remembered of a delivery."""


def _now_then(_: str, work: Callable[[], object]) -> None:
    """Where no worker is at hand, what may wait is done at once."""
    work()


@dataclass(slots=True)
class Deps:
    """Handed to every handler; `run` is None while the graph is out of reach."""

    run: Neo4jRunner | None
    embed: Embedder | None
    settings: Settings
    clock: Callable[[], datetime] = _now
    spool: Callable[[dict[str, Any]], Any] = _drop
    memory: SessionMemory = field(default_factory=SessionMemory)
    model: Model | None = None
    later: Callable[[str, Callable[[], object]], None] = _now_then
    """Have work that may take minutes done behind everything else; the key names it."""
