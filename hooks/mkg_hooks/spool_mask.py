"""Masking what waits in the spool: a segment is written anew, and takes the old one's place.

`mask` changes texts within records, `purge` takes whole ones out. Every record keeps
its sequence and one that stays its event key, so it is still applied in its turn and once;
a kill at any step leaves the whole old segment or the new.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from mkg_hooks.spool import Spool
from mkg_hooks.spool_records import segment_path, walk, write_whole
from mkg_hooks.spool_trim import body_of, rewritten, sweep

LOCK_SECONDS = 10.0
NO_ROOM = 2**62  # a record that fits into no segment which holds one
# What tells records and their sessions apart; the redactor has seen it before it was written.
KEPT = (
    *("v", "kind", "client", "name", "event_key", "session_id", "agent_id", "turn_id"),
    *("tool_use_id", "received_at"),
)

# No session: nobody applies it, whatever the version.
GONE: dict[str, Any] = {"v": 1, "kind": "event", "name": "Forgotten"}

Clean = Callable[[dict[str, Any]], dict[str, Any]]


def mask(spool: Spool, clean: Clean) -> int:
    """Write anew every segment with a record that `clean` changes; returns how many that waited.

    The rules run before the writers' lock is taken, so that no hook waits for them.

    Raises:
        OSError: a segment could not be written; it stands as it was, those before are masked.
    """
    return _rewrite(spool, lambda record: masked(record, clean))


def purge(spool: Spool, meant: Callable[[dict[str, Any]], bool]) -> int:
    """Take every record that is meant out of the segments; returns how many of them waited.

    An empty record takes the place of one that waits, so that positions stay; it is passed over.

    Raises:
        OSError: as `mask`.
    """
    return _rewrite(spool, lambda record: GONE if meant(record) else record)


def _rewrite(spool: Spool, change: Clean) -> int:
    done = 0
    segments = spool.segments()
    if segments:
        with spool.locked(seconds=LOCK_SECONDS):
            sweep(spool.folder)
    for base in segments:
        changes = _changes(segment_path(spool.folder, base), base, change)
        if changes:
            with spool.locked(seconds=LOCK_SECONDS):
                done += _write(spool, base, changes)
    return done


def masked(record: dict[str, Any], clean: Clean) -> dict[str, Any]:
    """A record with its texts cleaned, and what names it as it was."""
    return {**clean(record), **{key: record[key] for key in KEPT if key in record}}


def _changes(path: str, base: int, change: Clean) -> dict[bytes, bytes]:
    """The new JSON of every record that changes, by the old one."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:  # all of it was applied meanwhile
        return {}
    found: dict[bytes, bytes] = {}
    for _, _, _, body in walk(data, base):
        record = _record(body)
        if body is not None and record is not None:
            other = change(record)
            if other != record:
                found[body] = body_of(other)
    return found


def _record(body: bytes | None) -> dict[str, Any] | None:
    try:
        record: Any = json.loads(body or b"null")
    except ValueError:
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def _write(spool: Spool, base: int, changes: Mapping[bytes, bytes]) -> int:
    if base == max(spool.segments(), default=-1):
        # Only the newest is appended to, and a rewritten one is not: begin the next.
        os.close(spool.tail(NO_ROOM, spool.segments())[0])
    behind = [other for other in spool.segments() if other > base]
    if base not in spool.segments() or not behind:
        return 0
    path = segment_path(spool.folder, base)
    data, count, _ = rewritten(path, base, behind[0], spool.cursor(), spool.put_aside, changes.get)
    write_whole(path, data)
    return count
