"""Two bad disks below the product's own file calls: one that fails, one that forgets.

`Failing` refuses the n-th call that changes something, as a full disk does: a write takes a part
and then nothing. `Forgetting` keeps what the last flush of each file and folder made durable, so
that a power cut can be tried at every call.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from mkg_hooks import spool as spool_module

CHANGING = ("open", "write", "fsync", "fdatasync", "replace", "unlink", "mkdir", "ftruncate")
FULL = 28


class Patched(AbstractContextManager["Patched"]):
    """Puts its own methods in the place of `os`."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self.real: dict[str, Callable[..., Any]] = {name: getattr(os, name) for name in CHANGING}

    def __enter__(self) -> "Patched":
        for name in CHANGING:
            self._patch.setattr(os, name, self._through(name))
        self._patch.setattr(spool_module, "flush", self._through("fdatasync"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._patch.undo()

    def _through(self, name: str) -> Callable[..., Any]:
        def call(*words: Any, **more: Any) -> Any:
            return self.call(name, *words, **more)

        return call

    def call(self, name: str, *words: Any, **more: Any) -> Any:
        raise NotImplementedError


class Failing(Patched):
    """Refuses the n-th changing call; with `for_good` every later one too."""

    def __init__(self, at: int, *, for_good: bool) -> None:
        super().__init__()
        self.at, self.for_good, self.calls = at, for_good, 0

    def call(self, name: str, *words: Any, **more: Any) -> Any:
        # A full disk still unlinks, and a file grows that is not written to.
        if name not in ("unlink", "ftruncate") and not self._reads(name, *words):
            self.calls += 1
            if self.calls == self.at or (self.for_good and self.calls > self.at > 0):
                if name == "write" and self.calls == self.at and len(words[1]) > 1:
                    return self.real[name](words[0], bytes(words[1])[: len(words[1]) // 2])
                raise OSError(FULL, "No space left on device")
        return self.real[name](*words, **more)

    @staticmethod
    def _reads(name: str, *words: Any) -> bool:
        return name == "open" and not words[1] & os.O_CREAT


@dataclass
class Inode:
    """A file's bytes as the disk holds them."""

    durable: bytes = b""


@dataclass
class Forgetting(Patched):
    """Remembers what would be left of a folder after a power cut at this moment."""

    folder: Path
    files: dict[int, Inode] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    on_change: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__init__()

    def call(self, name: str, *words: Any, **more: Any) -> Any:
        self.on_change()
        done = self.real[name](*words, **more)
        if name in ("fsync", "fdatasync"):
            self._flushed(words[0])
        elif name == "open" and words[1] & (os.O_EXCL | os.O_TRUNC):
            # Inodes are used again: a new file remembers nothing of an old one.
            self.files[os.fstat(done).st_ino] = Inode()
        return done

    def _flushed(self, fd: int) -> None:
        found = os.fstat(fd)
        path = Path(f"/proc/self/fd/{fd}").readlink()
        if found.st_mode & 0o040000:
            self._folder_flushed(path)
            return
        inode = self.files.setdefault(found.st_ino, Inode())
        size = found.st_size
        reader = self.real["open"](f"/proc/self/fd/{fd}", os.O_RDONLY)
        inode.durable = os.pread(reader, size, 0)
        os.close(reader)

    def _folder_flushed(self, path: Path) -> None:
        inside = str(path) + "/"
        for name in [n for n in self.names if n.startswith(inside) and "/" not in n[len(inside) :]]:
            del self.names[name]
        for entry in path.iterdir():
            self.names[str(entry)] = entry.stat().st_ino

    def left(self, target: Path) -> None:
        """Write into `target` what a power cut would leave of the folder."""
        target.mkdir(parents=True)
        for name, inode in sorted(self.names.items()):
            path = Path(name)
            above = path.parent
            while above != self.folder.parent and str(above) in self.names:
                above = above.parent
            # A name whose folder was never flushed is not there either.
            if above != self.folder.parent:
                continue
            there = target / path.relative_to(self.folder.parent)
            if inode in self.files:
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(self.files[inode].durable)
            elif path.is_dir():
                there.mkdir(parents=True, exist_ok=True)
            else:
                there.touch()
