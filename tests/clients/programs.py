"""The pinned client programs: fetched once for a machine, a failure kept with its reason.

MKG_CLIENT_TESTS=require turns "the client cannot be had" from a skip into a failure.
"""

import fcntl
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.clients import more_clients
from tests.clients.kit import clients
from tests.conftest import shared_cache

WHEEL = "claude-in-a-wheel"
"""Claude Code out of the Python package that carries it."""
ALL = ("claude", "codex", "gemini", "copilot", WHEEL)
_PINS = {**clients.PINS, **more_clients.PINS, WHEEL: clients.PINS["claude-agent-sdk"]}


def client_program(client: str) -> str:
    """Path of a pinned client; without one the test is skipped, or fails where it is required."""
    program, reason = fetched(client)
    if program is not None:
        return program
    told = f"{client} {_PINS[client]} cannot be had here: {reason}"
    if os.environ.get("MKG_CLIENT_TESTS") == "require":
        pytest.fail(told)
    pytest.skip(told)


@cache
def fetched(client: str) -> tuple[str | None, str]:
    """The program of a pinned client, or why there is none; asked for once in a run."""
    folder = shared_cache() / "clients"
    folder.mkdir(parents=True, exist_ok=True)
    reasons: list[str] = []
    for way in ("npm", "wheel") if client == "claude" else ("npm",):
        try:
            return _install(client, folder, way), ""
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            reasons.append(f"{way}: {error}")
    return None, "; ".join(reasons)


def _install(client: str, folder: Path, way: str) -> str:
    if client in more_clients.PINS:
        return more_clients.install(client, folder)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if client == WHEEL:
            program = clients.install("claude", str(folder / "from-python"), via="pip")
        else:
            program = clients.install(client, str(folder), via="pip" if way == "wheel" else "npm")
        subprocess.run([program, "--version"], check=True, capture_output=True, timeout=60)
    return program
