"""The namespace that real clients run in: loopback works, and there is nothing else."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import loopback

# A program started by the one that stands in the namespace, as a client is by pytest.
LOOK = """
import subprocess, sys
sys.exit(subprocess.run([sys.executable, "-c", '''
import socket
import loopback
with socket.create_server(("127.0.0.1", 0)) as here:
    socket.create_connection(here.getsockname(), timeout=5).close()
print([name for _, name in socket.if_nameindex()] == ["lo"], loopback.reaches_out())
''']).returncode)
"""
NOBODY = 65534
needs_route = pytest.mark.skipif(
    not loopback.reaches_out(), reason="this machine has no network to be cut off from"
)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can read, with the module in it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        shutil.copy(loopback.__file__, folder)
        (Path(folder) / "loopback.py").chmod(0o644)
        yield Path(folder)


def look(
    folder: Path, *before: str, python: str = sys.executable, user: int | None = None
) -> subprocess.CompletedProcess[str]:
    command = [python, *before, "-c", LOOK]
    options = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    return subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, timeout=60, **options
    )


@needs_route
def test_what_is_started_in_the_namespace_has_loopback_alone(public: Path):
    if refused := loopback.refusal():
        pytest.skip(refused)
    assert look(public, "loopback.py", sys.executable).stdout == "True False\n"
    assert look(public).stdout.endswith("True\n"), "without it the same look finds the way out"


@needs_route
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_than_root_is_cut_off_by_its_own_rights(public: Path):
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None or look(public, python=python, user=NOBODY).returncode:
        pytest.skip("no interpreter that another user may run")
    done = look(public, "loopback.py", python, python=python, user=NOBODY)
    if done.returncode and "namespace" in done.stderr:
        pytest.skip(f"this system gives namespaces to root alone: {done.stderr.strip()}")
    assert done.stdout == "True False\n", done.stderr


def test_a_refusal_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "Linux" in loopback.refusal()


@pytest.mark.clients
def test_this_run_of_real_clients_has_loopback_alone(network: str):
    if network:
        pytest.skip(network)
    assert not loopback.reaches_out()
    assert [name for _, name in socket.if_nameindex()] == ["lo"]
