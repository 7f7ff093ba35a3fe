"""A real worker process with made-up features: the graph is a file that another test process reads.

    python fake_worker.py HOME     until stopped

In HOME: `applied` gets one event key a line; `graph-down` present means that the graph is away;
`slow-answer` present means that an answer never comes; `poison` holds a text that cannot be
applied; `code` is the code on disk and `held` the memory in use, as `watch` sees them. `began` gets
a line for every start, `served` for every end that is not a successor's beginning.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mkg.errors import GraphUnavailable
from mkg.worker import lifecycle
from mkg.worker.code import Code, Watch
from mkg.worker.shape import Limits, Makers, Places
from mkg_hooks.payload import HookEvent, HookResult

LIMITS = Limits(
    poll=0.05,
    backoff_first=0.05,
    backoff_most=0.1,
    same_firing=2.0,
    look=0.05,
    in_flight=4 * 1024 * 1024,
    resident=100,
    grown=0.2,
)


@dataclass
class Deps:
    run: Any
    embed: Any


class Dispatch:
    """Answers with what it was asked; applies by writing event keys to a file, durably."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def routes(self) -> dict[str, Any]:
        route = SimpleNamespace(budget_ms=2000, foreground=("echo",), background=())
        return {"SessionStart": route, "UserPromptSubmit": route}

    def answer(self, event: HookEvent, deps: Any) -> HookResult:
        (self._home / "begun").write_text(event.prompt or "")
        self._need(deps)
        if (self._home / "slow-answer").exists():
            time.sleep(30)
        return HookResult(context=f"echo: {event.prompt or event.source}")

    def apply(self, records: Any, deps: Any) -> None:
        self._need(deps)
        poison = self._home / "poison"
        word = poison.read_text() if poison.exists() else None
        for record in records:
            if word and word in str(record.get("prompt")):
                raise KeyError("cannot be applied")
        with (self._home / "applied").open("a") as file:
            file.writelines(f"{record['event_key']}\n" for record in records)
            file.flush()
            os.fsync(file.fileno())

    def counts(self, session_id: str, deps: Any) -> dict[str, int]:
        return {}

    def mend(self, deps: Any, marks: dict[str, str]) -> bool:
        return False

    def warm(self, deps: Any, *, once: bool = False) -> None:
        self._need(deps)

    def _need(self, deps: Any) -> None:
        if deps.run is None or (self._home / "graph-down").exists():
            raise GraphUnavailable("the graph is away")


class Run:
    """A connection that only knows whether the graph is there."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def verify(self) -> None:
        if (self._home / "graph-down").exists():
            raise GraphUnavailable("the graph is away")

    def close(self) -> None:
        pass


class Embed:
    model = "fake"

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts]


class Log:
    """Keeps what was logged, for the tests that look."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def info(self, event: str, **shape: Any) -> None:
        self.lines.append(("info", event, shape))

    def degraded(self, event: str, reason: str, **shape: Any) -> None:
        self.lines.append(("degraded", event, {"reason": reason, **shape}))

    def error(self, event: str, **shape: Any) -> None:
        self.lines.append(("error", event, shape))


def places(home: Path) -> Places:
    return Places(
        home / "run" / "w.sock", home / "run" / "w.lock", home / "spool", home / "hmac.key"
    )


def makers(home: Path) -> Makers:
    return Makers(connect=lambda: Run(home), embedder=Embed, deps=Deps, secrets=dict)


def watch(home: Path) -> Watch:
    """The code on disk is what `code` says; `unusable` keeps it from starting."""

    def look(note: Path) -> Code:
        told = note.read_text() if note.exists() else ""
        return Code(sys.executable, "", told)

    def proof(python: str) -> str | None:
        return None if (home / "unusable").exists() else "next"

    def memory() -> int | None:
        told = home / "held"
        return int(told.read_text() or 0) if told.exists() else 0

    return Watch(home / "code", LIMITS, Log(), look=look, proof=proof, memory=memory)


def main(folder: Path) -> None:
    """Serve, and become the next worker when there is other code."""
    with (folder / "began").open("a") as file:
        file.write(f"{os.getpid()}\n")
    looking = watch(folder)
    ended = lifecycle.run(
        places(folder),
        makers(folder),
        Dispatch(folder),
        log=Log(),
        limits=LIMITS,
        watch=looking,
    )
    if ended == "replaced" and looking.successor:
        os.execv(looking.successor, [looking.successor, __file__, str(folder)])
    if ended == "over":
        with (folder / "served").open("a") as file:
            file.write(f"{os.getpid()}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
