"""The file of a backup: the server's dump, then what is known of it, then a mark.

    dump | manifest (JSON) | sha256 of the manifest | its length, 8 bytes | MARK

What is known comes last, so that the dump is written once, and a file that was cut short has no
mark. The manifest has the dump's own sha256, so a changed byte anywhere is found.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from mkg.errors import Refused

MARK = b"MKGBAK01"
FORMAT = 1
_TAIL = 32 + 8 + len(MARK)
_LARGEST = 1 << 22
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """What a store holds: numbers by label set and by type, and a checksum of it all."""

    nodes: dict[str, int]
    relationships: dict[str, int]
    digest: str

    def numbers(self) -> str:
        """In words."""
        nodes, relationships = sum(self.nodes.values()), sum(self.relationships.values())
        return f"{nodes} nodes and {relationships} relationships"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is known of a dump; `size` in bytes, `store_bytes` what the store took on the disk."""

    made_at: str
    mkg: str
    neo4j: str
    size: int
    sha256: str
    store_bytes: int
    content: Content


def seal(path: Path, manifest: Manifest) -> None:
    """Write what is known behind a dump and make it durable."""
    text = json.dumps({"format": FORMAT, **asdict(manifest)}, sort_keys=True).encode()
    with path.open("ab") as handle:
        handle.write(text + hashlib.sha256(text).digest() + len(text).to_bytes(8, "big") + MARK)
        handle.flush()
        os.fsync(handle.fileno())


def open_sealed(path: Path) -> Manifest:
    """What is known of a backup, once every byte of it has been read and found whole.

    Raises:
        Refused: it is no backup of ours, was cut short or changed, or is of a newer kind.
    """
    with _opened(path) as handle:
        manifest = _manifest(path, handle)
        handle.seek(0)
        content = hashlib.sha256()
        for piece in _pieces(handle, manifest.size):
            content.update(piece)
    if content.hexdigest() != manifest.sha256:
        raise Refused(f"{path} is damaged: its content is not what was written; use another backup")
    return manifest


def unpack(path: Path, manifest: Manifest, target: Path) -> None:
    """Copy the dump out of a backup, private."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with _opened(path) as handle, os.fdopen(os.open(target, flags, 0o600), "wb") as out:
        for piece in _pieces(handle, manifest.size):
            out.write(piece)


def digest(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise Refused(f"{path} cannot be read ({error.strerror})") from None


def _manifest(path: Path, handle: IO[bytes]) -> Manifest:
    foreign = Refused(
        f"{path} is not a backup made by `mkg db backup`, or only the beginning of one; "
        "nothing was changed"
    )
    size = handle.seek(0, os.SEEK_END)
    if size < _TAIL:
        raise foreign
    handle.seek(size - _TAIL)
    tail = handle.read(_TAIL)
    length = int.from_bytes(tail[32:40], "big")
    if tail[40:] != MARK or not 0 < length <= min(size - _TAIL, _LARGEST):
        raise foreign
    handle.seek(size - _TAIL - length)
    text = handle.read(length)
    damaged = Refused(f"{path} is damaged: what is written about it was changed; use another one")
    if hashlib.sha256(text).digest() != tail[:32]:
        raise damaged
    told: dict[str, Any] = json.loads(text)
    if told.pop("format", None) != FORMAT:
        raise Refused(f"{path} was made by a newer mkg; install that one, then restore")
    manifest = Manifest(content=Content(**told.pop("content")), **told)
    if manifest.size != size - _TAIL - length:
        raise damaged
    return manifest


def _pieces(handle: IO[bytes], size: int) -> Iterator[bytes]:
    left = size
    while left:
        piece = handle.read(min(left, _CHUNK))
        if not piece:
            return
        left -= len(piece)
        yield piece
