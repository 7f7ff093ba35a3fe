"""Runners that kill themselves: a line of stdin names a folder and a place, a fork runs it.

A place is `id event #n`: the migration that runs (`start` before the first), what happens there for
the n-th time. `ask` and `asked` stand around a query in a transaction, `run` and `ran` around a
statement in one, `done` after a commit. argv is URI, user and password; answers are a line each.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkg.db import Neo4jRunner, Unit
from mkg.migrate import apply_all, lease

# A short lease, so that the next runner need not wait long for a dead one's.
lease.TTL_SECONDS = 0.3


class Watch:
    """Counts what happens and kills this process at one place."""

    def __init__(self, place: str, trace: list[str]):
        self.place = place
        self.trace = trace
        self.at = "start"
        self.times: Counter[str] = Counter()

    def __call__(self, event: str) -> None:
        label = f"{self.at} {event}"
        self.times[label] += 1
        self.trace.append(f"{label} #{self.times[label]}")
        if self.trace[-1] == self.place:
            os.kill(os.getpid(), signal.SIGKILL)

    def progress(self, line: str) -> None:
        id, _, what = line.partition(": ")
        self.at = id if what == "running" else self.at


def around(
    owner: type, method: str, watch: Watch, before: Callable[..., str], after: Callable[..., str]
) -> None:
    real = getattr(owner, method)

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        if name := before(*args, **options):
            watch(name)
        answer = real(self, *args, **options)
        watch(after(*args, **options))
        return answer

    setattr(owner, method, watched)


def run(account: list[str], root: str, place: str) -> list[str]:
    """Apply a folder; returns every place it came past."""
    trace: list[str] = []
    watch = Watch(place, trace)
    around(Unit, "fetch", watch, lambda q, _: f"ask {q.name}", lambda q, _: f"asked {q.name}")
    around(Unit, "execute", watch, lambda *_: "run", lambda *_: "ran")
    around(Neo4jRunner, "fetch", watch, lambda *_: "", lambda q, _: f"done {q.name}")
    for method in ("execute", "in_one"):
        around(Neo4jRunner, method, watch, lambda *_, **__: "", lambda *_, **o: f"done {o['name']}")
    uri, user, password = account
    with Neo4jRunner(uri, (user, password), "neo4j", caller="killed") as runner:
        apply_all(runner, root=Path(root), progress=watch.progress)
    return trace


def main() -> None:
    for line in sys.stdin:
        root, place = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                json.dump(run(sys.argv[1:], root, place), out)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as answer:
            told = answer.read()
        _, status = os.waitpid(child, 0)
        end = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)
        print(json.dumps([end, json.loads(told or "[]")]), flush=True)


if __name__ == "__main__":
    main()
