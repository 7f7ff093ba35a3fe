"""Running the real launcher in a home of its own, as a client does."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkg_hooks.spool import Cursor, Spool

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = ROOT / "hooks" / "launch.py"
FAKE_WORKER = ROOT / "tests" / "worker" / "fake_worker.py"
SESSION = "11111111-2222-4333-8444-555555555555"


def wait_until(true: Callable[[], Any], seconds: float = 5.0) -> Any:
    """Return the first true value within the bound, or fail."""
    until = time.monotonic() + seconds
    while True:
        found = true()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError("not within the bound")
        time.sleep(0.01)


@dataclass
class Home:
    """A MKG_HOME with a pointer whose interpreter starts the worker with made-up features."""

    folder: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def spool(self) -> Path:
        return self.folder / "spool"

    @property
    def socket(self) -> Path:
        return self.folder / "run" / "w.sock"

    def environment(self, **more: str) -> dict[str, str]:
        base = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder.parent),
            "MKG_HOME": str(self.folder),
        }
        return {**base, **self.env, **more}

    def hook(
        self, client: str, event: str, payload: Any, **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """Fire one event; `payload` is a JSON value or raw bytes."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.launch(client, event, stdin=raw, **options)

    def launch(
        self,
        *words: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        python: str = sys.executable,
        flags: tuple[str, ...] = ("-I", "-S"),
        script: Path = LAUNCH,
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [python, *flags, str(script), *words],
            input=stdin,
            capture_output=True,
            timeout=20,
            cwd=self.project,
            env=env or self.environment(),
            check=False,
        )

    def start_worker(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, str(FAKE_WORKER), str(self.folder)],
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder.parent)},
        )
        self.workers.append(process)
        wait_until(self.socket.exists, 20.0)
        wait_until(lambda: self.ask("status").get("graph", "unknown") != "unknown", 20.0)
        return process

    def close(self) -> None:
        """End every worker of this home, also one that a hook has started."""
        self.ask("stop")
        for worker in self.workers:
            worker.wait(10)
        wait_until(lambda: not self.socket.exists() or not self.ask("ping"))

    def records(self) -> list[dict[str, Any]]:
        """What lies in the spool from its beginning."""
        return [record for _, record in Spool(self.spool).read(Cursor(0), 10_000)]

    def ask(self, verb: str, **request: Any) -> dict[str, Any]:
        from mkg.worker import client

        return client.ask(self.socket, verb, request or None) or {}

    def applied(self) -> list[str]:
        path = self.folder / "applied"
        return path.read_text().splitlines() if path.exists() else []

    def drained(self) -> list[str]:
        """Wait until the worker has applied everything; returns the event keys in order."""
        wait_until(lambda: self.ask("ping"))
        assert self.ask("drain", timeout=5.0)["drained"]
        return self.applied()


def make_home(base: Path) -> Home:
    folder, project = base / "mkg", base / "project"
    folder.mkdir(mode=0o700, parents=True)
    project.mkdir()
    interpreter = folder / "python"
    command = shlex.join([sys.executable, str(FAKE_WORKER), str(folder)])
    interpreter.write_text(
        f'#!/bin/sh\necho "$@" >> {shlex.quote(str(folder / "started"))}\nexec {command}\n'
    )
    interpreter.chmod(0o700)
    write_pointer(folder)
    (folder / "hmac.key").touch(mode=0o600)
    (folder / "hmac.key").write_text("00" * 32)
    return Home(folder, project)


def write_pointer(folder: Path, **changes: str) -> Path:
    lines = {
        "version": "1",
        "python": str(folder / "python"),
        "root": str(ROOT),
        "socket": str(folder / "run" / "w.sock"),
        "spool": str(folder / "spool"),
        "hmac": str(folder / "hmac.key"),
        **changes,
    }
    path = folder / "pointer"
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(fd, "".join(f"{k}={v}\n" for k, v in lines.items()).encode())
    os.close(fd)
    return path


def start_event(**more: Any) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "transcript_path": f"/h/{SESSION}.jsonl",
        "cwd": "/w",
        "hook_event_name": "SessionStart",
        "source": "startup",
        **more,
    }


def prompt_event(prompt: str, turn: str | None = "p1", **more: Any) -> dict[str, Any]:
    event = {
        "session_id": SESSION,
        "transcript_path": f"/h/{SESSION}.jsonl",
        "cwd": "/w",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": prompt,
        **more,
    }
    return {**event, "prompt_id": turn} if turn else event


def tool_event(
    name: str, tool: str, tool_input: Any, use: str = "toolu_1", **more: Any
) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "transcript_path": f"/h/{SESSION}.jsonl",
        "cwd": "/w",
        "prompt_id": "p1",
        "permission_mode": "default",
        "effort": {"level": "medium"},
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": tool_input,
        "tool_use_id": use,
        **more,
    }


STOP = {
    "session_id": SESSION,
    "cwd": "/w",
    "prompt_id": "p1",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
    "last_assistant_message": "DONE: hi",
    "background_tasks": [],
    "session_crons": [],
}
