"""An installation is replaced under a running worker, on the real store, while hooks go on."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mkg.worker import client
from mkg_hooks.spool import Spool
from tests.conftest import Live
from tests.hooks.launching import wait_until
from tests.support.requirement import requirement
from tests.support.user_env import user_env

ROOT = Path(__file__).parents[2]
COPIED = ("python", "hooks", "cypher", "gds", "migrations", "plugin")


@dataclass
class Installation:
    """A copy of the program with an interpreter of its own."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def set_version(self, version: str) -> None:
        """Replace the one file that every release changes, as an installer does."""
        path = self.folder / "python" / "mkg" / "__init__.py"
        text = re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', path.read_text())
        beside = path.with_name("new")
        beside.write_text(text)
        beside.replace(path)


def install(folder: Path, version: str) -> Installation:
    ignored = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    paths = (folder / "python", folder / "hooks", sysconfig.get_path("purelib"))
    (packages / "mkg.pth").write_text("".join(f"{path}\n" for path in paths))
    made = Installation(folder)
    made.set_version(version)
    return made


@dataclass
class User:
    """A user's home on the test store."""

    home: Path
    project: Path
    env: dict[str, str]
    told: list[str] = field(default_factory=list)

    def mkg(self, installed: Installation, *words: str) -> str:
        done = subprocess.run(
            [installed.python, "-P", "-m", "mkg", *words],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def pointer(self) -> dict[str, str]:
        lines = (self.home / "mkg" / "pointer").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def hook(self, event: str, **payload: Any) -> None:
        """Fire one event through the launcher of the installation that the pointer names."""
        body = {"cwd": str(self.project), "hook_event_name": event, "session_id": "s", **payload}
        launch = Path(self.pointer["root"]) / "hooks" / "launch.py"
        done = subprocess.run(
            [sys.executable, "-I", "-S", launch, "claude", event],
            input=json.dumps(body).encode(),
            env=self.env,
            cwd=self.project,
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")

    def say(self) -> None:
        turn = uuid.uuid4().hex
        self.hook("UserPromptSubmit", prompt=f"Number {len(self.told)}.", prompt_id=turn)
        self.told.append(turn)

    def status(self) -> dict[str, Any]:
        return client.ask(Path(self.pointer["socket"]), "status") or {}

    def runs(self, version: str) -> int:
        """Wait until a worker of this version answers; its process."""
        wait_until(lambda: self.status().get("version") == version, 60)
        return int(self.status()["pid"])


@pytest.fixture
def user(live: Live, tmp_path: Path) -> Iterator[User]:
    home, project = tmp_path / "home of ann", tmp_path / "shop"
    home.mkdir()
    project.mkdir()
    live.server.write_user_file(home)
    made = User(home, project, user_env(home))
    yield made
    if (home / "mkg" / "pointer").exists():
        assert client.stop(Path(made.pointer["socket"]))


def stored(live: Live) -> Counter[str]:
    rows = live.rows(
        "MATCH (e:SessionEvent) WHERE e.event_name = 'UserPromptSubmit' RETURN e.turn_id AS turn"
    )
    return Counter(str(row["turn"]) for row in rows)


@requirement("PERF-43")
def test_a_replaced_and_a_moved_installation_take_over_and_every_event_is_stored_once(
    user: User, live: Live, tmp_path: Path
) -> None:
    first = install(tmp_path / "first", "0.1.0")
    user.mkg(first, "worker", "start")
    pid = user.runs("0.1.0")
    stop = threading.Event()

    def talk() -> None:
        while not stop.wait(0.05):
            user.say()

    talking = threading.Thread(target=talk)
    talking.start()
    first.set_version("0.1.1")
    assert user.runs("0.1.1") == pid
    second = install(tmp_path / "second", "0.2.0")
    user.mkg(second, "worker", "status")  # any command of an installation moves the pointer to it
    after = user.runs("0.2.0")
    told = json.loads(user.mkg(second, "worker", "status", "--json"))
    stop.set()
    talking.join(30)
    assert (told["version"], told["code"]) == ("0.2.0", "current")
    if sys.platform == "linux":
        command = Path(f"/proc/{after}/cmdline").read_bytes().split(b"\0")
        assert command[0] == os.fsencode(second.python)
    user.mkg(second, "worker", "drain", "--timeout", "60")
    assert len(user.told) > 20
    assert stored(live) == Counter(user.told)


def test_an_installation_that_is_broken_does_not_take_the_memory_away(
    user: User, live: Live, tmp_path: Path
) -> None:
    first = install(tmp_path / "first", "0.1.0")
    user.mkg(first, "worker", "start")
    pid = user.runs("0.1.0")
    (first.folder / "python" / "mkg" / "cli" / "worker.py").write_text("half of a fi(")
    wait_until(lambda: user.status().get("code") == "unusable", 60)
    user.say()
    assert client.ask(Path(user.pointer["socket"]), "drain", {"timeout": 30}, timeout=40)
    assert (user.runs("0.1.0"), stored(live)) == (pid, Counter(user.told))


def test_records_of_an_older_and_a_newer_version_are_stored_and_what_nobody_knows_is_kept(
    user: User, live: Live, tmp_path: Path
) -> None:
    installed = install(tmp_path / "first", "0.1.0")
    user.mkg(installed, "worker", "status")
    spool = Spool(user.pointer["spool"])
    base = {"client": "claude", "session_id": "s", "received_at": "2026-01-01T00:00:00.000000Z"}
    prompt = {**base, "kind": "event", "name": "UserPromptSubmit", "prompt": "Hello."}
    spool.append({**prompt, "v": 0, "event_key": "older", "turn_id": "older"})
    spool.append({**base, "v": 9, "kind": "dream", "event_key": "other"})
    spool.append({"v": 9, "kind": "dream", "text": "without a session"})
    newer = {"v": 9, "event_key": "newer", "turn_id": "newer", "mood": {"kind": "calm"}}
    spool.append({**prompt, **newer})
    user.mkg(installed, "worker", "drain", "--timeout", "60")
    assert stored(live) == Counter(["older", "newer"])
    aside = [p.read_text() for p in (Path(user.pointer["spool"]) / "quarantine").iterdir()]
    assert len(aside) == 2
    assert all("dream" in text and "newer version" in text for text in aside)
    assert user.status()["queue"] == 0
