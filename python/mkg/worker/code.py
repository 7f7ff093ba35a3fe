"""The code that runs and the code on disk: whether they differ, and whether the new one starts."""

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import mkg
import mkg_hooks
from mkg import pointer
from mkg.bundle.files import root
from mkg.worker.shape import Limits, Log

PROOF_SECONDS = 30.0
State = Literal["current", "settling", "unusable", "replaced"]


@dataclass(frozen=True, slots=True)
class Code:
    """What a worker would run that started now."""

    python: str
    root: str
    files: str
    """A digest over the names, sizes and times of this package's own files."""


def on_disk(note: Path) -> Code:
    """Return the code that the pointer names now, and how our own files look now."""
    told = pointer.read_pointer(note)
    return Code(told.get("python", ""), told.get("root", ""), _digest())


def starts(python: str) -> str | None:
    """Return the version that an interpreter's `mkg` tells, or None when it does not even start."""
    try:
        done = subprocess.run(
            [python, "-P", "-m", "mkg", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROOF_SECONDS,
            cwd="/",
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip()[:40] if done.returncode == 0 else None


def resident() -> int | None:
    """Return the bytes this process holds in memory, or None where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Looks every few seconds for what a new process would do better: new code, less memory."""

    def __init__(
        self,
        note: Path,
        limits: Limits,
        log: Log,
        *,
        look: Callable[[Path], Code] = on_disk,
        proof: Callable[[str], str | None] = starts,
        memory: Callable[[], int | None] = resident,
    ) -> None:
        self._note, self._limits, self._log = note, limits, log
        self._look, self._proof, self._memory = look, proof, memory
        self._running = look(note)
        self._seen: Code | None = None
        self._refused: Code | None = None
        self._began = self._again = time.monotonic()
        self._over = threading.Event()
        self.state: State = "current"
        self.successor: str | None = None

    def run(self, leave: Callable[[], None]) -> None:
        """Look until stopped; call `leave` once when a successor should take over."""
        while not self._over.wait(self._limits.look):
            if self.due():
                leave()
                return

    def stop(self) -> None:
        """End `run`."""
        self._over.set()

    def due(self) -> bool:
        """Look once; whether the worker should make room, for `successor`."""
        now = self._look(self._note)
        if now == self._running:
            self._seen, self.state = None, "current"
            return self._too_large()
        if now != self._seen:
            # An installation writes for seconds: what still changes is not started.
            self._seen, self.state = now, "settling"
            return False
        if now == self._refused and time.monotonic() < self._again:
            return False
        version = self._proof(now.python) if now.python else None
        if version is None:
            # The memory goes on with the code it has; perhaps the machine was only too busy.
            self._refused, self.state = now, "unusable"
            self._again = time.monotonic() + self._limits.look_again
            self._log.error("worker.upgrade_unusable", running=mkg.__version__)
            return False
        self._log.info("worker.upgrade", running=mkg.__version__, next=version)
        return self._leave_to(now.python)

    def _too_large(self) -> bool:
        held = self._memory()
        grown = time.monotonic() - self._began > self._limits.grown
        if held is None or held <= self._limits.resident or not (grown and self._running.python):
            return False
        self._log.error("worker.too_large", mib=held >> 20, most=self._limits.resident >> 20)
        return self._leave_to(self._running.python)

    def _leave_to(self, python: str) -> bool:
        self.successor, self.state = python, "replaced"
        return True

    def status(self) -> dict[str, object]:
        """Return version and state of the code, and the memory held."""
        held = self._memory()
        return {
            "version": mkg.__version__,
            "code": self.state,
            "resident_mib": None if held is None else held >> 20,
        }


def _digest() -> str:
    told = hashlib.sha256()
    for folder in _folders():
        for line in sorted(_files(folder)):
            told.update(line.encode("utf-8", "surrogateescape"))
    return told.hexdigest()


def _folders() -> list[str]:
    own = [str(Path(str(module.__file__)).parent) for module in (mkg, mkg_hooks)]
    return [*own, *(str(root(kind)) for kind in ("hooks", "cypher", "gds", "migrations"))]


def _files(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        # Being replaced, or gone: another look like any other.
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                found = entry.stat()
                yield f"{entry.path}\0{found.st_size}\0{found.st_mtime_ns}\n"
        except OSError:
            continue
