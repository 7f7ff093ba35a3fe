"""Real clients on this machine: installing the pinned binary, and a user's world to run it in.

MKG_CLIENT_TESTS=require turns "the client cannot be had" from a skip into a failure.
"""

import fcntl
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.clients.family import Draw, draw
from tests.clients.kit import clients
from tests.clients.world import World
from tests.conftest import shared_cache

ROOT = Path(__file__).resolve().parents[2]
# What a published repository does not hold, or what a plugin does not need.
LEFT_OUT = (".git", ".venv", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "dist")


def install_client(client: str, folder: Path) -> str:
    """The pinned client, from npm or (Claude Code) out of the Python wheel that carries it.

    Raises:
        RuntimeError: no source gave a program that runs here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        reasons = []
        for via in ("npm", "pip") if client == "claude" else ("npm",):
            try:
                program = clients.install(client, str(folder), via=via)
                subprocess.run([program, "--version"], check=True, capture_output=True, timeout=60)
                return program
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                reasons.append(f"{via}: {error}")
        raise RuntimeError("; ".join(reasons))


@cache
def client_program(client: str) -> str:
    """Path of a pinned client; without one the test is skipped, or fails where it is required."""
    try:
        return install_client(client, shared_cache() / "clients")
    except RuntimeError as error:
        reason = f"{client} {clients.PINS[client]} cannot be had here: {error}"
        if os.environ.get("MKG_CLIENT_TESTS") == "require":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Draw:
    """Sentences of a new seed; CLIENTS_SEED repeats a run."""
    seed = int(os.environ.get("CLIENTS_SEED") or random.SystemRandom().randrange(10**6))
    with capsys.disabled():
        print(f" CLIENTS_SEED={seed} ", end="", flush=True)
    return draw(seed)


@pytest.fixture(scope="session")
def claude_program() -> str:
    """Path of the pinned Claude Code."""
    return client_program("claude")


@pytest.fixture
def world(claude_program: str, tmp_path: Path) -> Iterator[World]:
    """A user with an empty HOME and the plugin of this checkout, who has never run `mkg`."""
    made = World(program=claude_program, folder=tmp_path, plugin=ROOT, cache=shared_cache())
    yield made
    made.close()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the repository as a marketplace would deliver it."""
    target = tmp_path / "market place's copy"
    return Path(shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT)))
