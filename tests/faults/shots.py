"""Firing real hooks and remembering what each was told: the ledger that a checker compares with."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkg_hooks import notice
from tests.hooks.launching import LAUNCH

# A client's own limit for a hook, as the plugins set it.
PATIENCE = 5.0


@dataclass
class Shots:
    """Hooks of one home; safe to use from several threads."""

    env: Mapping[str, str]
    cwd: Path
    acked: list[str] = field(default_factory=list)
    told_lost: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    trials: int = 0
    worst: float = 0.0
    before: tuple[str, ...] = ()
    script: Path = LAUNCH
    arguments: tuple[str, ...] = ()
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fire(
        self,
        key: str,
        *,
        event: str = "UserPromptSubmit",
        client: str = "claude",
        kill_after: float | None = None,
        **more: Any,
    ) -> str:
        """One event named by `key`, whose session is what stands before its number."""
        body: dict[str, Any] = {
            "hook_event_name": event,
            "session_id": key.rpartition("-")[0],
            "cwd": str(self.cwd),
            "prompt_id": key,
            **({"prompt": f"prompt {key}"} if event == "UserPromptSubmit" else {}),
            **more,
        }
        began = time.monotonic()
        process = subprocess.Popen(
            [
                *(*self.before, sys.executable, "-I", "-S", str(self.script)),
                *(*self.arguments, client, event),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(self.env),
            cwd=self.cwd,
        )
        timer = threading.Timer(kill_after, process.kill) if kill_after is not None else None
        if timer:
            timer.start()
        try:
            out, err = process.communicate(json.dumps(body).encode(), timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        took = time.monotonic() - began
        if timer:
            timer.cancel()
        with self._lock:
            self.trials += 1
            self._judge(key, process.returncode, took, out, err, killed=timer is not None)
        return out.decode()

    def _judge(
        self, key: str, code: int, took: float, out: bytes, err: bytes, *, killed: bool
    ) -> None:
        if killed and code < 0:
            self.killed.append(key)
            return
        self.worst = max(self.worst, took)
        if code != 0 or err:
            self.blocked.append(f"{key}: {code} {err.decode()[-300:]}")
        elif notice.LOST in out.decode():
            self.told_lost.append(key)
        else:
            self.acked.append(key)

    def many(self, keys: Iterable[str], **more: Any) -> None:
        """Fire one after the other."""
        for key in keys:
            self.fire(key, **more)

    def add(self, other: "Shots") -> None:
        """Take over what another home's hooks were told."""
        self.acked += other.acked
        self.told_lost += other.told_lost
        self.blocked += other.blocked
        self.trials += other.trials
        self.worst = max(self.worst, other.worst)

    def counts(self) -> dict[str, Any]:
        """What an outcome takes from here."""
        return {
            "trials": self.trials,
            "acknowledged": self.acked,
            "blocked": len(self.blocked),
            "worst_s": self.worst,
        }


def keys_of(event_keys: Iterable[str]) -> list[str]:
    """The natural part of event keys; equal event keys are one event in the graph."""
    parts = [key.split(":") for key in dict.fromkeys(event_keys)]
    # A start has no id of its own: it is the first of its session.
    return [natural or f"{session}-0" for _, session, _, natural, *_ in parts]


def rss(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
