"""The lock file of the server: which jars, from which coordinate, with which content.

One line a jar: `folder coordinate sha256 size`. The folder is `lib` (the server itself), `ext`
(what the plugins link to) or `plugins` (jars that declare procedures or functions, the only ones
that the server has to search for them).
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mkg.errors import LocalDbError

FOLDERS = ("lib", "ext", "plugins")
_COORDINATE = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+(:[\w.-]+)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar of the server."""

    folder: str
    group: str
    artifact: str
    version: str
    classifier: str | None
    sha256: str
    size: int

    @property
    def name(self) -> str:
        """The file's name."""
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.jar"

    @property
    def coordinate(self) -> str:
        """group:artifact:version[:classifier]"""
        parts = (self.group, self.artifact, self.version, self.classifier)
        return ":".join(part for part in parts if part)

    @property
    def line(self) -> str:
        """The jar's line of the lock file."""
        return f"{self.folder} {self.coordinate} {self.sha256} {self.size}"


@dataclass(frozen=True, slots=True)
class Lock:
    """All jars, in the order of the class path, and a short hash that names this set."""

    jars: tuple[Jar, ...]
    digest: str

    @property
    def total(self) -> int:
        """Bytes of all jars."""
        return sum(jar.size for jar in self.jars)

    @property
    def server(self) -> str | None:
        """The pinned version of the server."""
        name = "org.neo4j:neo4j:"
        found = (jar.version for jar in self.jars if jar.coordinate.startswith(name))
        return next(found, None)

    def version(self, group: str, artifact: str) -> str:
        """The pinned version of one artifact.

        Raises:
            LocalDbError: the lock does not name it.
        """
        for jar in self.jars:
            if (jar.group, jar.artifact) == (group, artifact):
                return jar.version
        raise LocalDbError(f"server.lock does not name {group}:{artifact}; run: make lock-server")


@cache
def load_lock() -> Lock:
    """The shipped lock."""
    path = Path(__file__).with_name("server.lock")
    return parse(path.read_text(encoding="utf-8"))


def parse(text: str) -> Lock:
    """Read a lock file.

    Raises:
        LocalDbError: a line is malformed, or two lines would write one file.
    """
    jars: list[Jar] = []
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        jar = _jar(line, number)
        if jar.name in seen:
            raise LocalDbError(f"server.lock:{number}: {jar.name} stands twice")
        seen.add(jar.name)
        jars.append(jar)
    if not jars:
        raise LocalDbError("server.lock names no jar; run: make lock-server")
    ordered = sorted(jars, key=lambda jar: (FOLDERS.index(jar.folder), jar.name))
    digest = hashlib.sha256("\n".join(jar.line for jar in ordered).encode()).hexdigest()[:16]
    return Lock(tuple(ordered), digest)


def _jar(line: str, number: int) -> Jar:
    parts = line.split()
    if len(parts) != 4:
        raise LocalDbError(f"server.lock:{number}: not 'folder coordinate sha256 size'")
    folder, coordinate, sha256, size = parts
    if folder not in FOLDERS:
        raise LocalDbError(f"server.lock:{number}: {folder!r} is not one of {', '.join(FOLDERS)}")
    if not _COORDINATE.fullmatch(coordinate):
        raise LocalDbError(f"server.lock:{number}: {coordinate!r} is not a coordinate")
    if not _SHA256.fullmatch(sha256) or not size.isdecimal():
        raise LocalDbError(f"server.lock:{number}: sha256 or size is malformed")
    group, artifact, version, *rest = coordinate.split(":")
    return Jar(folder, group, artifact, version, rest[0] if rest else None, sha256, int(size))
