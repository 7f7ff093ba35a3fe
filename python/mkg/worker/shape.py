"""Where a worker lives, what bounds it, and what it needs from the rest of the product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mkg_hooks.payload import HookEvent, HookResult
from mkg_hooks.spool import CAP_BYTES


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one worker."""

    socket: Path
    lock: Path
    spool: Path
    hmac_key: Path


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds in seconds, counts and bytes; tests shorten them.

    `in_flight` bounds the payloads that are read at once, `resident` the memory of the process,
    which is looked at once it is `grown` seconds old. Storing waits `settle` for more records, then
    for those who are being answered, `give_way` at most.
    """

    idle: float = 1800.0
    frame: float = 2.0
    answer_ceiling: float = 1.3
    embed: float = 30.0
    connections: int = 16
    answers: int = 4
    batch: int = 200
    tries: int = 5
    backoff_first: float = 0.2
    backoff_most: float = 5.0
    poll: float = 1.0
    settle: float = 0.04
    give_way: float = 0.5
    same_firing: float = 2.0
    spool_bytes: int = CAP_BYTES
    look: float = 2.0
    look_again: float = 60.0
    in_flight: int = 48 * 1024 * 1024
    resident: int = 1536 * 1024 * 1024
    grown: float = 600.0


class Dispatch(Protocol):
    """The part of `mkg_hooks.dispatch` that the worker calls."""

    def answer(self, event: HookEvent, deps: Any) -> HookResult: ...

    def delivered(self, event: HookEvent, result: HookResult, deps: Any) -> None: ...

    def apply(self, records: Sequence[dict[str, Any]], deps: Any) -> None: ...

    def warm(self, deps: Any, *, once: bool = False) -> None: ...

    def mend(self, deps: Any, marks: dict[str, str]) -> bool: ...

    def counts(self, session_id: str, deps: Any) -> dict[str, int]: ...

    def routes(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Makers:
    """How the worker comes to a connection, a model, and the handlers' dependencies."""

    connect: Callable[[], Any]
    embedder: Callable[[], Any]
    deps: Callable[..., Any]
    secrets: Callable[[], dict[str, str]]


class Log(Protocol):
    """The part of `mkg.log` that the worker uses."""

    def info(self, event: str, **shape: Any) -> None: ...

    def degraded(self, event: str, reason: str, **shape: Any) -> None: ...

    def error(self, event: str, **shape: Any) -> None: ...
