"""A lock of three tiny jars and a repository that is a dictionary: enough to test fetching."""

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mkg.localdb import fetch, launch
from mkg.localdb.jars import Jar, Lock, parse
from mkg.settings import Settings

JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "25.0.1"' >&2; exit 0; fi
echo started >> "$0.starts"
{body}
"""

CONTENTS = {
    "lib org.example:server:1.0": b"the server" * 400,
    "ext org.example:link:2.0:linux": b"what a plugin links to" * 300,
    "plugins org.example:procedures:3.0": b"procedures" * 200,
}


def small_lock() -> Lock:
    return parse(
        "# three jars\n"
        + "".join(
            f"{where} {hashlib.sha256(content).hexdigest()} {len(content)}\n"
            for where, content in CONTENTS.items()
        )
    )


def content(jar: Jar) -> bytes:
    return CONTENTS[f"{jar.folder} {jar.coordinate}"]


@dataclass
class Repository:
    """Hands out jars; `spoil` replaces the first answers for one file name."""

    spoil: dict[str, list[bytes | BaseException]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, jar: Jar) -> Iterable[bytes]:
        with self.guard:
            self.asked.append(jar.name)
            answers = self.spoil.get(jar.name)
            answer = answers.pop(0) if answers else content(jar)
        if isinstance(answer, BaseException):
            raise answer
        for start in range(0, len(answer), 1000):
            yield answer[start : start + 1000]


def small_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A home whose server would consist of three tiny jars."""
    monkeypatch.setattr(launch, "load_lock", small_lock)
    fetch.ensure(tmp_path / "cache", small_lock(), source=Repository())
    return Settings(
        home=tmp_path / "state",
        cache=tmp_path / "cache",
        config_dir=tmp_path / "config",
        runtime_dir=tmp_path / "run",
    )


def with_java(settings: Settings, body: str) -> Settings:
    """The same home, with a `java` that is a few lines of shell."""
    program = settings.cache.parent / "java"
    program.write_text(JAVA.format(body=body), encoding="utf-8")
    program.chmod(0o755)
    return settings.model_copy(update={"java": str(program)})


def starts(settings: Settings) -> int:
    """How often that `java` was started, other than to be asked for its version."""
    return len(Path(f"{settings.java}.starts").read_text(encoding="utf-8").splitlines())
