"""Real clients on this machine: cut off from the network, and a user's world to run them in."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mkg import localdb
from tests.clients import loopback, programs
from tests.clients.family import Draw, draw
from tests.clients.programs import client_program
from tests.clients.world import World
from tests.conftest import shared_cache

ROOT = Path(__file__).resolve().parents[2]
# What a published repository does not hold, or what a plugin does not need.
LEFT_OUT = (".git", ".venv", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "dist")


@pytest.fixture(scope="session", autouse=True)
def network(request: pytest.FixtureRequest) -> str:
    """Real clients see loopback alone, once all they need is fetched; else why that is not so."""
    items = request.session.items
    if not any(item.get_closest_marker("clients") for item in items):
        return "no real client runs"
    reason = _hindrance(items) or loopback.refusal()
    terminal: Any = request.config.pluginmanager.getplugin("capturemanager")
    with terminal.global_and_fixture_disabled():
        if reason:
            print(f"The clients see the network of this machine: {reason}", flush=True)
            return reason
        print("Fetching what the clients need; loopback is all they see afterwards.", flush=True)
    for client in programs.ALL:
        programs.fetched(client)
    localdb.fetch_for_tests(shared_cache())
    loopback.enter()
    return ""


def _hindrance(items: list[pytest.Item]) -> str:
    """What of this run would be out of reach from within."""
    for name in ("MKG_TEST_NEO4J_URI", "MKG_TEST_DOCKER"):
        if name in os.environ:
            return f"{name} names a server outside"
    if not all(item.path.is_relative_to(Path(__file__).parent) for item in items):
        return "other tests run in the same process"
    return ""


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
