"""Receipts: what a session was told at which prompt, and whether its client really passed it on.

A client's transcript (Claude Code) or rollout (Codex) holds the block it put before the model. The
end of that file is read after a stop, in the worker, within a bound, and each block in it is
compared by hash with what was handed over. Without such a file the state is `unknown`.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime

from mkg.bundle import Runner, cypher
from mkg.json_shape import texts_in
from mkg_hooks.tail import tail

TAIL_BYTES = 4 * 1024 * 1024
# Clients whose own record of a session holds what a hook handed over.
RECORDING = ("claude", "codex", "copilot")
_MARK = b"mkg-memory nonce="
_BLOCK = re.compile(r"<mkg-memory nonce=([0-9a-f]{24})>\n.*?\n</mkg-memory nonce=\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Receipt:
    """One line that a session was told."""

    id: str
    short_id: str
    text: str
    origin: str
    status: str
    status_then: str
    epoch: int
    hook_event: str
    at: datetime
    prompt: str | None
    state: str


@dataclass(frozen=True, slots=True)
class Settled:
    settled: int


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    waiting: int


@dataclass(frozen=True, slots=True)
class LastTold:
    session_id: str


@dataclass(frozen=True, slots=True)
class SessionCounts:
    told: int
    learned: int


@cypher("learnings.receipts")
def receipts(run: Runner, *, session_id: str, limit: int) -> list[Receipt]: ...


@cypher("learnings.confirm")
def confirm(run: Runner, *, session_id: str, event_key: str, seen: list[str]) -> Settled: ...


@cypher("learnings.unconfirmed")
def unconfirmed(run: Runner, *, session_id: str) -> Unconfirmed: ...


@cypher("learnings.last_told")
def last_told(run: Runner, *, project_id: str) -> LastTold | None: ...


@cypher("learnings.session_counts")
def session_counts(run: Runner, *, session_id: str) -> SessionCounts | None: ...


@dataclass(frozen=True, slots=True)
class Confirmations:
    """How often a client's own record showed what its sessions were told."""

    client: str
    confirmed: int
    unknown: int


@cypher("learnings.confirmations")
def confirmations(run: Runner, *, days: int) -> list[Confirmations]: ...


def look(
    run: Runner, *, session_id: str, event_key: str, path: str | None, start: str | None = None
) -> bool:
    """After a stop: settle what the client's own record shows of what the session was told.

    Args:
        start: sha256 of the block handed over at the session's start, while nothing shows it.

    Returns:
        Whether the client kept a whole record of the session that lacks the block of its start:
        then the client took the answer of the hook and dropped it.
    """
    waits = unconfirmed(run, session_id=session_id).waiting
    if not waits and start is None:
        return False
    record = tail(path, TAIL_BYTES, own=True)
    seen = _blocks(record)
    if waits:
        confirm(run, session_id=session_id, event_key=event_key, seen=seen)
    return start is not None and 0 < len(record) < TAIL_BYTES and start not in seen


def blocks_seen(path: str | None) -> list[str]:
    """The sha256 of each of our blocks in the last megabytes of a client's own record.

    Empty for what is no regular file of this user: a path out of a payload is nobody's promise.
    """
    return _blocks(tail(path, TAIL_BYTES, own=True))


def block_sha(text: str) -> str:
    """The name under which a handed-over block is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _blocks(record: bytes) -> list[str]:
    found: set[str] = set()
    for line in record.split(b"\n"):
        if _MARK not in line:
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for text in texts_in(value):
            for block in _BLOCK.finditer(text):
                found.add(block_sha(block[0]))
    return sorted(found)
