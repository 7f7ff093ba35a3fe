"""The event spool: append-only segments that survive kill, torn writes and flipped bits.

A record is one line, `<len> <crc32> <seq> <json>\\n`: `len` is the byte length of the JSON, the
checksum covers `<seq> <json>`, and `seq` is the record's own position in the whole log (base of its
segment, which is the file's name, plus offset). So a sequence costs no look-up, a reader can tell
a record from its copy in the wrong place, and after damage it finds the next intact record.

Writers hold `flock` on `lock` while they look for the end and do a single write; `fdatasync`
follows before `append` returns, so an acknowledged record is on disk. Nothing that was acknowledged
is ever cut off: a torn tail is sealed by a newline and skipped by the reader, which puts the bytes
aside and counts them. The cursor is replaced durably before a finished segment is deleted. Near its
bound the spool gives up the oldest bodies of tool calls (`spool_trim`), never an event.
"""

import errno
import fcntl
import io
import json
import os
import re
import time
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from typing import Any, cast

from mkg_hooks import spool_trim
from mkg_hooks.spool_records import (
    first_bytes,
    packed,
    reason_of,
    segment_path,
    sync_folder,
    walk,
    write_whole,
)

SEGMENT_BYTES = 8 * 1024 * 1024
ROLL_BYTES = 256 * 1024
WINDOW_BYTES = 1024 * 1024
BATCH_BYTES = 8 * 1024 * 1024  # what one read holds, whatever the limit says
CAP_BYTES = 2 * 1024 * 1024 * 1024
FREE_SHARE = 10  # the spool may take one tenth of what the disk has free
SHED_SHARE = 0.9  # from here on bodies of tool calls go, the oldest first
SPARED_SHARE = 0.97  # what lies above is for prompts, failures and whatever is no tool call
RECORD_BYTES = 4 * 1024 * 1024
LOCK_SECONDS = 1.0
SEGMENT = re.compile(r"([0-9]{20})\.seg")


class SpoolError(OSError):
    """The record is not on disk; the message says why."""


class Cursor(int):
    """A position in the log: everything before it has been applied."""


flush = getattr(os, "fdatasync", os.fsync)


class Spool:
    """One log in one folder, for any number of writing processes and one reading worker."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        segment_bytes: int = SEGMENT_BYTES,
        cap_bytes: int = CAP_BYTES,
        lock_seconds: float = LOCK_SECONDS,
    ) -> None:
        self.folder = os.fspath(folder)
        self.aside = os.path.join(self.folder, "quarantine")
        self._cursor_path = os.path.join(self.folder, "cursor")
        self._segment_bytes = max(min(segment_bytes, cap_bytes // 8), 1)
        self._cap_bytes = cap_bytes
        self._lock_seconds = lock_seconds

    # -- writing ---------------------------------------------------------------------------------

    def append(self, record: dict[str, object]) -> int:
        """Write one record and return its sequence once it is on disk.

        Raises SpoolError when it is not: no space, no permission, or the lock stays taken.
        """
        try:
            self._prepare()
            with self.locked():
                fd, seq = self._write(record)
        except SpoolError:
            raise
        except OSError as error:
            raise SpoolError(f"the event was not spooled: {error.strerror}") from error
        try:
            # Outside the lock: writers behind us share the disk's one flush.
            flush(fd)
        except OSError as error:
            raise SpoolError(f"the event was not flushed: {error.strerror}") from error
        finally:
            os.close(fd)
        return seq

    def _write(self, record: dict[str, object]) -> tuple[int, int]:
        segments = self.segments()  # once: a listing costs as much as the write
        body = self._admitted(record, segments)
        fd, base, size = self.tail(len(body), segments)
        try:
            # A writer that was killed half-way left no newline: seal its bytes off.
            torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            seq = base + size + torn
            data = b"\n" * torn + packed(seq, body)
            if (written := os.write(fd, data)) != len(data):
                os.ftruncate(fd, size)
                raise SpoolError(
                    f"only {written} of {len(data)} bytes were written; free disk space"
                )
        except BaseException:
            os.close(fd)
            raise
        return fd, seq

    def tail(self, length: int, segments: list[int]) -> tuple[int, int, int]:
        """Open the segment to append to; returns (descriptor, base, size)."""
        base = segments[-1] if segments else -1
        flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        if base >= 0:
            fd = os.open(self._path(base), flags)
            size = os.fstat(fd).st_size
            end = base + size
            head = os.pread(fd, spool_trim.HEAD_BYTES, 0)
            if spool_trim.was_trimmed(head, partial(self._whole, base), base):
                # Only where a newer one was lost.
                end = max((seq for _, _, seq, _ in walk(self._whole(base), base)), default=end) + 1
            # After power loss the cursor may stand behind the surviving end: a record written
            # before it would never be read.
            end = max(end, self.cursor())
            if end == base + size and (size == 0 or size + length < self._segment_bytes):
                return fd, base, size
            os.close(fd)
        else:
            end = self.cursor()
        fd = os.open(self._path(end), flags | os.O_CREAT | os.O_EXCL, 0o600)
        sync_folder(self.folder)
        return fd, end, 0

    def _admitted(self, record: dict[str, object], segments: list[int]) -> bytes:
        """Return the record's JSON as the size policy lets it in, after making room for it.

        Raises SpoolError when there is none, although the older tool calls gave up their bodies.
        """
        body = spool_trim.body_of(record)
        used, ceiling = self.room(segments)
        if used + len(body) > ceiling * SHED_SHARE:
            with suppress(OSError):  # a disk so full that nothing can be written anew
                spool_trim.make_room(
                    self.folder, self.segments(), self.cursor(), self.put_aside,
                    enough=lambda: self._fits(len(body), SHED_SHARE),
                )  # fmt: skip
            segments[:] = self.segments()
            less = spool_trim.shortened(record, len(spool_trim.STAGES))
            if less is not None and not self._fits(len(body), SPARED_SHARE):
                size, body = len(body), spool_trim.body_of(less)
                spool_trim.note(self.folder, b"new/%d" % time.time_ns(), 1, size - len(body))
            used, ceiling = self.room()
            if spool_trim.is_tool_call(record):
                ceiling = int(ceiling * SPARED_SHARE)
        if used + len(body) + spool_trim.HEAD_BYTES > ceiling or len(body) > RECORD_BYTES:
            raise SpoolError(f"the spool holds {used} of {ceiling} bytes; run `mkg worker drain`")
        return body

    def _fits(self, more: int, share: float) -> bool:
        used, ceiling = self.room()
        return used + more <= ceiling * share

    def room(self, segments: list[int] | None = None) -> tuple[int, int]:
        """Return (bytes in use, bytes that the bound and the disk allow)."""
        segments = self.segments() if segments is None else segments
        used = sum(os.path.getsize(self._path(base)) for base in segments)
        try:
            disk = os.statvfs(self.folder)
        except FileNotFoundError:
            return used, self._cap_bytes
        return used, min(self._cap_bytes, used + disk.f_bavail * disk.f_frsize // FREE_SHARE)

    # -- reading ---------------------------------------------------------------------------------

    def read(self, after: Cursor, limit: int) -> list[tuple[Cursor, dict[str, object]]]:
        """Return up to `limit` records behind `after`, each with the cursor that commits it."""
        found: list[tuple[Cursor, dict[str, object]]] = []
        passed = int(after)
        for passed, body in self._bodies(after):
            if body is None:
                continue
            try:
                record: Any = json.loads(body)
            except ValueError:
                self.put_aside(passed, "not-json", body)
                continue
            if isinstance(record, dict):
                found.append((Cursor(passed), cast("dict[str, object]", record)))
            if len(found) >= limit or passed - after >= BATCH_BYTES:
                break
        if not found and passed > after == self.cursor():
            # Only damage lay there, and it is put aside: it need not be read again.
            self.commit(Cursor(passed))
        return found

    def _bodies(self, after: int, *, note: bool = True) -> Iterator[tuple[int, bytes | None]]:
        """Yield (position behind it, JSON) of every record behind `after`; None is a damaged one.

        Only the reader that commits puts damage aside (`note`); who merely looks leaves it alone.
        """
        segments = self.segments()
        for index, base in enumerate(segments):
            newest = index == len(segments) - 1
            if not newest and segments[index + 1] <= after:
                continue
            if note and base > after > 0:
                self.put_aside(after, "gap", b"bytes %d to %d are missing" % (after, base))
            try:
                # One descriptor for the whole segment: a trim puts another file in its place.
                file = open(self._path(base), "rb")  # noqa: SIM115
            except FileNotFoundError:
                file = io.BytesIO()
            with file:
                head = file.read(spool_trim.HEAD_BYTES)
                if spool_trim.was_trimmed(head, partial(self._whole, base), base):
                    aside, data = self.put_aside if note else None, head + file.read()
                    after = yield from spool_trim.of_trimmed(data, base, after, aside)
                    continue
                start, window, ended = max(after, base), WINDOW_BYTES, False
                while not ended:
                    file.seek(start - base)
                    data = file.read(window)
                    ended, done = len(data) < window, 0
                    for begin, end, _, body in walk(data, start):
                        if body is None and end == len(data):
                            if not ended:
                                break  # perhaps only the window cuts it off
                            if newest and self._being_written(base, start, data):
                                return
                        if body is None and note:
                            bad = data[begin:end]
                            self.put_aside(start + begin, reason_of(bad), bad)
                        yield start + end, body
                        done = end
                    else:
                        done = len(data)
                    start += done
                    window = WINDOW_BYTES if done else window * 4
                after = start

    def _whole(self, base: int, start: int = 0) -> bytes:
        try:
            with open(self._path(base), "rb") as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return b""

    def _being_written(self, base: int, start: int, seen: bytes) -> bool:
        """Say whether an unreadable tail may still change: it did, or a writer has the lock."""
        try:
            with self.locked(seconds=0.05):
                return self._whole(base, start - base) != seen
        except OSError:
            return True

    # -- progress --------------------------------------------------------------------------------

    def cursor(self) -> Cursor:
        """Return the committed position; a lost or damaged cursor reads everything again."""
        try:
            position, check = first_bytes(self._cursor_path, 64).split()
            if zlib.crc32(position) == int(check, 16):
                return Cursor(int(position))
        except (OSError, ValueError):
            pass
        return Cursor(0)

    def commit(self, cursor: Cursor) -> None:
        """Make `cursor` durable, then delete the segments that lie wholly before it."""
        self._prepare()
        position = b"%d" % cursor
        write_whole(self._cursor_path, b"%b %08x\n" % (position, zlib.crc32(position)))
        segments = self.segments()
        if not segments:
            return
        for base, following in pairwise(segments):
            if following <= cursor:
                os.unlink(self._path(base))
        newest = segments[-1]
        size = os.path.getsize(self._path(newest))
        if newest + size == cursor and size >= ROLL_BYTES:
            with self.locked(seconds=10.0):
                self._roll(newest, cursor)

    def _roll(self, newest: int, cursor: int) -> None:
        """Begin a new segment once a long one is read to its end, so that its texts go away."""
        if newest + os.path.getsize(self._path(newest)) == cursor:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            os.close(os.open(self._path(cursor), flags, 0o600))
            sync_folder(self.folder)
            os.unlink(self._path(newest))

    def pending(self) -> int:
        """Return how many intact records wait behind the cursor."""
        return sum(1 for _ in self._waiting())

    def oldest(self) -> dict[str, object] | None:
        """Return the first record behind the cursor, or None when nothing waits."""
        return next(self.waiting(), None)

    def waiting(self) -> Iterator[dict[str, object]]:
        """Yield the records behind the cursor, without putting damage aside."""
        for body in self._waiting():
            with suppress(ValueError):
                yield json.loads(body)

    def _waiting(self) -> Iterator[bytes]:
        return (body for _, body in self._bodies(self.cursor(), note=False) if body is not None)

    def quarantined(self) -> int:
        """Return how many records were put aside, damaged or refused; torn writes do not count."""
        return sum(1 for name in self._aside_names() if not name.endswith((".torn", ".gap")))

    def counters(self) -> dict[str, int]:
        """Return what the spool put aside, by reason, and how many events it had to refuse."""
        counts = {"torn": 0, "crc": 0, "gap": 0, "refused": 0, "not-json": 0, "lost": 0}
        counts["shortened"], counts["shortened_bytes"] = spool_trim.shed(self.folder)
        for name in self._aside_names():
            reason = name.rpartition(".")[2]
            counts[reason] = counts.get(reason, 0) + 1
        with suppress(OSError):
            counts["lost"] = os.path.getsize(os.path.join(self.folder, "lost"))
        return counts

    def refuse(self, cursor: Cursor, record: dict[str, object], reason: str) -> None:
        """Put a record aside durably that cannot be applied, so that it does not block the rest."""
        self.put_aside(cursor, "refused", json.dumps({"reason": reason, "record": record}).encode())

    # -- files -----------------------------------------------------------------------------------

    def put_aside(self, position: int, reason: str, data: bytes) -> None:
        spool_trim.make_folder(self.aside)
        write_whole(self._aside_path(position, reason), data)

    def _aside_path(self, position: int, reason: str) -> str:
        return os.path.join(self.aside, f"{position:020d}.{reason}")

    def _aside_names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self.aside) if not name.endswith(".tmp")]
        except FileNotFoundError:
            return []

    def _path(self, base: int) -> str:
        return segment_path(self.folder, base)

    def segments(self) -> list[int]:
        """Return the bases of the segments, oldest first."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return sorted(int(found[1]) for name in names if (found := SEGMENT.fullmatch(name)))

    def _prepare(self) -> None:
        """Create the folder 0700, and refuse one that belongs to somebody else."""
        try:
            found = os.lstat(self.folder)
        except FileNotFoundError:
            spool_trim.make_folder(self.folder)
            found = os.lstat(self.folder)
        if found.st_uid != os.geteuid() or (found.st_mode & 0o170000) != 0o040000:
            raise SpoolError(errno.EPERM, f"{self.folder} is not a folder of this user")
        if found.st_mode & 0o077:
            os.chmod(self.folder, 0o700)

    @contextmanager
    def locked(self, seconds: float | None = None) -> Generator[None]:
        """Hold the writers' lock; raises SpoolError when somebody keeps it too long."""
        path = os.path.join(self.folder, "lock")
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            until = time.monotonic() + (self._lock_seconds if seconds is None else seconds)
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise SpoolError("another process holds the spool's lock") from None
                    time.sleep(0.002)
            yield
        finally:
            os.close(fd)
