"""A lock of three tiny jars and a repository that is a dictionary: enough to test fetching."""

import hashlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from mkg.localdb.jars import Jar, Lock, parse

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
