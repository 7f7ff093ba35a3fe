"""Making room in a full spool: the oldest tool output goes first, prompts and failures never.

A segment is written anew, durably, beside the old one and takes its place by one rename: a kill at
any step leaves the whole old one or the whole new one. What goes is noted durably before that, so
`shed` may tell more than went, never less. In a trimmed segment every record keeps its sequence,
carries the mark of a moved one, and the last line says where the segment ended and how far it was
trimmed. Only the newest segment is appended to, and that one is never trimmed.
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any, cast

from mkg_hooks.spool_records import (
    HEADER,
    MOVED,
    next_record,
    packed,
    reason_of,
    segment_path,
    sync_folder,
    walk,
    write_whole,
)

# What a stage takes from a tool call that went well.
STAGES = (("tool_output",), ("tool_output", "tool_input"))
END = re.compile(rb"(?:\A|\n)1 ([0-9a-f]{8}) (~([0-9]{1,19}) ([0-9]))\n\Z")
HEAD_BYTES = 64
TRIMS = 2  # segments that one writer trims at most: others wait for it

PutAside = Callable[[int, str, bytes], None]


def is_tool_call(record: dict[str, Any]) -> bool:
    """Say whether a record is a tool call that went well: prompts, failures and answers are not."""
    return bool(record.get("tool_name")) and not (
        str(record.get("name")).endswith("Failure")
        or any(record.get(field) for field in ("tool_error", "error", "is_interrupt", "prompt"))
    )


def shortened(record: dict[str, Any], stage: int) -> dict[str, Any] | None:
    """Return the record without what a stage takes, or None when it has nothing of that."""
    fields = [field for field in STAGES[stage - 1] if record.get(field)]
    if not fields or not is_tool_call(record):
        return None
    return {**{k: v for k, v in record.items() if k not in fields}, "truncated": True}


def body_of(record: dict[str, Any]) -> bytes:
    """Return a record's JSON as it stands in a segment."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def was_trimmed(head: bytes, whole: Callable[[], bytes], base: int) -> bool:
    """Say whether a segment was trimmed; its first intact record tells, `head` as a rule."""
    found = HEADER.match(head)
    if found is None and head:
        data = whole()
        found = HEADER.match(data, next_record(data, 0, base))
    return found is not None and found[3].startswith(MOVED)


def end_mark(tail: bytes) -> tuple[int, int] | None:
    """Return (where a trimmed segment ended, how far it was trimmed) from its last bytes."""
    found = END.search(tail)
    if found is None or zlib.crc32(found[2]) != int(found[1], 16):
        return None
    return int(found[3]), int(found[4])


def of_trimmed(
    data: bytes, base: int, after: int, aside: PutAside | None
) -> Generator[tuple[int, bytes | None], None, int]:
    """Yield (position behind it, JSON) of a trimmed segment's records; returns where it ended.

    The position behind a record is the sequence of the next one: only that is known of it.
    """
    held: bytes | None = None
    last = after - 1
    for begin, behind, seq, body in walk(data, base):
        if body is None:
            if aside is not None:
                aside(base + begin, reason_of(data[begin:behind]), data[begin:behind])
        elif len(body) == 1:
            end = max(seq, after)
            yield end, held
            return end
        elif seq > last:
            if held is not None:
                yield seq, held
            held, last = body, seq
    if held is not None:
        yield last + 1, held
    return last + 1


def make_room(
    folder: str,
    segments: Sequence[int],
    cursor: int,
    aside: PutAside,
    *,
    enough: Callable[[], bool],
) -> None:
    """Take bodies from the oldest segments, a few at a time; the caller holds the writers' lock.

    Raises OSError when a segment cannot be written anew; it then stands as it was.
    """
    sweep(folder)
    left = TRIMS
    for stage in range(1, len(STAGES) + 1):
        for base, following in pairwise(segments):
            mark = end_mark(_last_bytes(segment_path(folder, base)))
            if following <= cursor or (mark and mark[1] >= stage):
                continue
            trim(segment_path(folder, base), base, following, cursor, stage, aside)
            left -= 1
            if not left or enough():
                return


def _last_bytes(path: str) -> bytes:
    with open(path, "rb") as file:
        file.seek(max(os.fstat(file.fileno()).st_size - HEAD_BYTES, 0))
        return file.read()


def trim(path: str, base: int, following: int, cursor: int, stage: int, aside: PutAside) -> None:
    """Write a segment anew without what a stage takes and without what was applied already.

    The caller holds the writers' lock.

    Args:
        following: where the next segment begins.
        aside: keeps a damaged stretch, which does not move along.
    """
    data, count, freed = rewritten(
        path, base, following, cursor, aside, partial(_shortened, stage=stage), stage
    )
    note(os.path.dirname(path), b"%d/%d" % (base, stage), count, freed)
    write_whole(path, data)


def rewritten(
    path: str,
    base: int,
    following: int,
    cursor: int,
    aside: PutAside,
    change: Callable[[bytes], bytes | None],
    stage: int | None = None,
) -> tuple[bytes, int, int]:
    """A segment as it is to be written anew, how many records change, and the bytes that frees.

    Args:
        change: a record's new JSON, or None to keep it.
        stage: how far it is trimmed then; None means as far as before.
    """
    with open(path, "rb") as file:
        data = file.read()
    mark = end_mark(data[-HEAD_BYTES:])
    trimmed_before = was_trimmed(data[:HEAD_BYTES], lambda: data, base)
    end = mark[0] if mark else following if trimmed_before else base + len(data)
    kept, count, freed = bytearray(), 0, 0
    for begin, behind, seq, body in walk(data, base):
        if body is None:
            bad = data[begin:behind]
            aside(base + begin, reason_of(bad), bad)
        elif seq >= cursor and len(body) > 1:
            other = change(body)
            if other is not None:
                count, freed = count + 1, freed + len(body) - len(other)
            kept += packed(seq, body if other is None else other, moved=True)
    done = stage if stage is not None else mark[1] if mark else 0
    return bytes(kept) + packed(end, b"%d" % done, moved=True), count, freed


def _shortened(body: bytes, *, stage: int) -> bytes | None:
    if b'"tool_' not in body:
        return None
    try:
        record: Any = json.loads(body)
    except ValueError:
        return None
    if not isinstance(record, dict):
        return None
    less = shortened(cast("dict[str, Any]", record), stage)
    return None if less is None else body_of(less)


def note(folder: str, what: bytes, count: int, freed: int) -> None:
    """Add one line to the durable count of what went; the last line of a name is its truth."""
    if not count:
        return
    fd = os.open(
        os.path.join(folder, "shed"),
        os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC,
        0o600,
    )
    try:
        # A line that a kill or a full disk cut off is ended first, and then no line.
        os.write(fd, b"\n%b %d %d\n" % (what, count, freed))
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_folder(folder)


def shed(folder: str) -> tuple[int, int]:
    """Return how many records lost a body, and how many bytes that were."""
    told: dict[bytes, tuple[int, int]] = {}
    with suppress(OSError), open(os.path.join(folder, "shed"), "rb") as file:
        for line in file.read().splitlines():
            words = line.split()
            if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
                told[words[0]] = (int(words[1]), int(words[2]))
    return sum(n for n, _ in told.values()), sum(n for _, n in told.values())


def make_folder(path: str) -> None:
    """Make a private folder whose name survives a power cut, as the files in it do."""
    above = os.path.dirname(path)
    if not os.path.isdir(path):
        if not os.path.isdir(above):
            make_folder(above)
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        sync_folder(above)


def sweep(folder: str) -> None:
    """Remove what a killed trim left half-written; the caller holds the writers' lock."""
    for name in os.listdir(folder):
        if ".seg." in name and name.endswith(".tmp"):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def count_loss(folder: str) -> None:
    """Leave one byte per lost event, so that a loss is known.

    On a full disk the file grows without being written to, which takes no block.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(os.path.join(folder, "lost"), flags, 0o600)
    except OSError:
        return
    try:
        os.write(fd, b".")
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, os.fstat(fd).st_size + 1)
    finally:
        os.close(fd)
