"""The form of one spool record, how to find it after damage, and durable replacement of a file."""

import os
import re
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress

MOVED = b"~"
HEADER = re.compile(rb"([0-9]{1,8}) ([0-9a-f]{8}) (~?[0-9]{1,19}) ")
CANDIDATE = re.compile(rb"(?=[0-9]{1,8} [0-9a-f]{8} ~?[0-9]{1,19} )")
CUT_HEADER = re.compile(rb"[0-9]{1,8}( [0-9a-f]{0,8}( ~?[0-9]{0,19})?)?")


def packed(seq: int, body: bytes, *, moved: bool = False) -> bytes:
    """Return the bytes of one record; a moved one stands elsewhere than it says."""
    sealed = b"%b%d %b" % (MOVED if moved else b"", seq, body)
    return b"%d %08x %b\n" % (len(body), zlib.crc32(sealed), sealed)


def record_at(data: bytes, offset: int, base: int) -> tuple[bytes, int, int] | None:
    """Return (JSON, offset behind it, sequence) of the intact record at `offset`, or None."""
    head = HEADER.match(data, offset)
    if head is None:
        return None
    seq = int(head[3].lstrip(MOVED))
    if seq < base or (seq != base + offset and not head[3].startswith(MOVED)):
        return None
    end = head.end() + int(head[1])
    if end > len(data) or zlib.crc32(data[head.start(3) : end]) != int(head[2], 16):
        return None
    # A flipped newline costs nothing: the length has already said where the record ends.
    return data[head.end() : end], min(end + 1, len(data)), seq


def next_record(data: bytes, offset: int, base: int) -> int:
    """Return the offset of the first intact record at or behind `offset`, or the data's end."""
    for found in CANDIDATE.finditer(data, offset):
        if record_at(data, found.start(), base) is not None:
            return found.start()
    return len(data)


def walk(data: bytes, base: int) -> Iterator[tuple[int, int, int, bytes | None]]:
    """Yield (begin, end, sequence, JSON) of every stretch; the JSON of a damaged one is None."""
    offset = 0
    while offset < len(data):
        intact = record_at(data, offset, base)
        if intact is not None:
            yield offset, intact[1], intact[2], intact[0]
            offset = intact[1]
        elif data[offset : offset + 1] == b"\n":
            offset += 1
        else:
            behind = next_record(data, offset + 1, base)
            yield offset, behind, base + offset, None
            offset = behind


def reason_of(data: bytes) -> str:
    """Tell writes that were cut off (`torn`) from a record that was whole once (`crc`)."""
    # A record holds no newline but its last byte, so each line is one write or its beginning.
    return "torn" if all(map(_is_cut, data.rstrip(b"\n").split(b"\n"))) else "crc"


def _is_cut(line: bytes) -> bool:
    head = HEADER.match(line)
    if head is None:
        return CUT_HEADER.fullmatch(line) is not None
    return head.end() + int(head[1]) > len(line)


def segment_path(folder: str, base: int) -> str:
    """Return the file that holds the records from this sequence on."""
    return os.path.join(folder, f"{base:020d}.seg")


def sync_folder(folder: str) -> None:
    """Make a created, renamed or deleted name in a folder durable."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_whole(path: str, data: bytes) -> None:
    """Replace a file durably: it holds the old content or the new, never a mixture."""
    folder = os.path.dirname(path)
    temporary = f"{path}.{os.getpid()}-{time.monotonic_ns()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o600)
    try:
        try:
            # A disk that fills up takes a part and reports no error before the next write.
            left = memoryview(data)
            while left:
                left = left[os.write(fd, left) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def first_bytes(path: str, most: int) -> bytes:
    """Return the beginning of a small file; a file object would cost three times the reading."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, most)
    finally:
        os.close(fd)
