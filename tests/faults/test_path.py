"""The whole path in real processes: launcher, worker, database; killed and cut off in the middle.

What was acknowledged is compared, key by key, with what the graph holds afterwards.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from mkg_hooks import wire
from tests.conftest import Live, Server
from tests.support.proxy import Proxy
from tests.support.requirement import requirement
from tests.support.user_env import importable, user_env

LAUNCH = Path(__file__).parents[2] / "hooks" / "launch.py"


@dataclass
class User:
    """A user's home and project, and the environment of their programs."""

    home: Path
    project: Path
    env: dict[str, str]

    def mkg(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "mkg", *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=90,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, **payload: Any) -> str:
        body = {"cwd": str(self.project), "hook_event_name": event, **payload}
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(LAUNCH), "claude", event],
            input=json.dumps(body).encode(),
            env=self.env,
            cwd=self.project,
            capture_output=True,
            timeout=30,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    @property
    def socket(self) -> str:
        pointer = (self.home / "mkg" / "pointer").read_text(encoding="utf-8")
        return dict(line.split("=", 1) for line in pointer.splitlines())["socket"]

    def status(self) -> dict[str, Any]:
        return json.loads(self.mkg("worker", "status", "--json"))

    def drained(self) -> None:
        self.mkg("worker", "drain", "--timeout", "40")


@dataclass
class Linked(User):
    """One whose store is the test database behind a proxy that can be shut."""

    link: Proxy


@pytest.fixture
def user(live: Live, tmp_path: Path) -> Iterator[Linked]:
    parts = urlsplit(live.server.uri)
    link = Proxy(str(parts.hostname), int(parts.port or 7687))
    link.open()
    made = made_user(live, tmp_path, link)
    yield made
    made.mkg("worker", "stop", check=False)
    link.close()


def made_user(live: Live, tmp_path: Path, link: Proxy) -> Linked:
    """A home whose store is the test database behind that proxy."""
    home, project = tmp_path / "a user's home", tmp_path / "shop"
    home.mkdir()
    project.mkdir()
    server = Server(f"bolt://127.0.0.1:{link.port}", live.server.username, live.server.password)
    server.write_user_file(home)
    return Linked(home, project, user_env(home, **importable()), link)


def stated(user: User, text: str, session: str) -> None:
    user.hook("SessionStart", session_id=session, source="startup")
    user.hook("UserPromptSubmit", session_id=session, prompt=text, prompt_id=uuid.uuid4().hex)
    user.hook(
        "Stop", session_id=session, last_assistant_message="Noted.", prompt_id=uuid.uuid4().hex
    )


def told(user: User, prompt: str, session: str) -> str:
    out = user.hook(
        "UserPromptSubmit", session_id=session, prompt=prompt, prompt_id=uuid.uuid4().hex
    )
    if not out:
        return ""
    return json.loads(out).get("hookSpecificOutput", {}).get("additionalContext", "")


def test_the_first_event_finds_no_worker_and_still_becomes_a_learning(
    user: User, live: Live
) -> None:
    user.mkg("config")
    stated(user, "Remember that the staging database listens on port 5433.", "s1")
    user.drained()
    assert (
        live.value("MATCH (l:Learning) RETURN l.text")
        == "The staging database listens on port 5433."
    )
    assert "5433" in told(user, "Which port does the staging database use?", "s2")


@requirement("B95")
def test_a_stopped_database_costs_one_line_and_no_event(user: Linked, live: Live) -> None:
    user.mkg("worker", "start")
    user.drained()
    user.link.close()
    lines: list[str] = []
    for n in range(3):
        out = user.hook(
            "UserPromptSubmit", session_id="s1", prompt=f"prompt {n}", prompt_id=f"p{n}"
        )
        lines += [json.loads(out)["systemMessage"]] if out else []
        user.hook(
            "PostToolUse",
            session_id="s1",
            tool_name="Bash",
            tool_input={"command": "ls"},
            tool_response={"stdout": "x"},
            tool_use_id=f"t{n}",
            prompt_id=f"p{n}",
        )
    assert len(lines) == 1
    assert live.value("MATCH (e:SessionEvent) RETURN count(e)") == 0
    user.link.open()
    user.drained()
    stored = live.rows(
        "MATCH (e:SessionEvent) RETURN e.event_name AS name, e.turn_id AS turn ORDER BY e.seq"
    )
    assert [(r["name"], r["turn"]) for r in stored] == [
        (name, f"p{n}") for n in range(3) for name in ("UserPromptSubmit", "PostToolUse")
    ]


def send(path: str, key: str, session: str) -> bool:
    """One event over the socket; whether it was acknowledged."""
    payload = json.dumps(
        {
            "session_id": session,
            "hook_event_name": "PostToolUse",
            "cwd": "/nowhere",
            "tool_name": "Bash",
            "tool_input": {"command": key},
            "tool_use_id": key,
            "tool_response": {"stdout": key},
        }
    ).encode()
    try:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(5)
            link.connect(path)
            link.sendall(wire.encode("hook", "claude", "PostToolUse", payload))
            return link.recv(4) == wire.ACK
    except OSError:
        return False


@requirement("SEC-10", "SEC-09")
def test_kill_9_of_the_worker_during_writes_loses_and_doubles_nothing(
    user: User, live: Live
) -> None:
    acked: set[str] = set()
    lock, done = threading.Lock(), threading.Event()
    chance = random.Random(20261130)

    def writer(name: int) -> None:
        n = 0
        while not done.is_set():
            key = f"w{name}-{n}"
            if send(user.socket, key, f"s{name}"):
                with lock:
                    acked.add(key)
            n += 1
            # Some hundred events are enough to be hit in the middle; thousands only cost time.
            done.wait(0.02)

    user.mkg("worker", "start")
    threads = [threading.Thread(target=writer, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    kills = 0
    for _ in range(3):
        until = time.monotonic() + chance.uniform(0.1, 0.5)
        done.wait(max(0.0, until - time.monotonic()))
        os.kill(int(user.status()["pid"]), signal.SIGKILL)
        kills += 1
        user.mkg("worker", "start")
    done.set()
    for thread in threads:
        thread.join(timeout=30)
    user.drained()
    stored = [
        str(r["key"]) for r in live.rows("MATCH (e:SessionEvent) RETURN e.tool_use_id AS key")
    ]
    assert kills == 3
    assert len(acked) > 20
    assert acked - set(stored) == set()
    assert len(stored) == len(set(stored))
    chain = (Path(__file__).parents[1] / "support" / "check_chain.cypher").read_text(
        encoding="utf-8"
    )
    assert live.rows(chain) == []


def test_a_learning_survives_a_worker_killed_between_capture_and_learning(
    user: Linked, live: Live
) -> None:
    user.mkg("worker", "start")
    user.drained()
    user.link.close()
    stated(user, "Remember that releases are cut from the trunk branch only.", "s1")
    os.kill(int(user.status()["pid"]), signal.SIGKILL)
    user.link.open()
    user.drained()
    assert live.rows("MATCH (l:Learning) RETURN l.status AS s, l.text AS t") == [
        {"s": "approved", "t": "Releases are cut from the trunk branch only."}
    ]
