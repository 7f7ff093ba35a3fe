"""Asking the worker of a store, and starting it as a process of its own."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mkg.localdb import process
from mkg.worker.lifecycle import answers
from mkg_hooks import wire

START_SECONDS = 20.0
POLL = 0.05


def ask(
    socket: Path, verb: str, request: dict[str, Any] | None = None, *, timeout: float = 5.0
) -> dict[str, Any] | None:
    """Return the worker's answer, or None when no worker is there."""
    payload = json.dumps(request).encode() if request is not None else b""
    try:
        return json.loads(wire.ask(str(socket), verb, payload, timeout=timeout))
    except OSError:
        return None


def start(socket: Path, *, timeout: float = START_SECONDS) -> bool:
    """Start a worker unless one answers; returns whether one answers within `timeout`."""
    if answers(socket):
        return True
    # Nothing of the caller's survives in it: new session, null descriptors, the root as folder.
    # The shell leaves at once, so that the worker is nobody's child and no zombie when it ends.
    # -P: a module of the caller's folder must not be taken for one of ours.
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, "-P", "-m", "mkg", "worker", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
        cwd="/",
        check=False,
    )
    return wait_until(lambda: answers(socket), timeout)


def stop(socket: Path, *, timeout: float = START_SECONDS) -> bool:
    """Stop the worker; returns whether it is gone within `timeout`."""
    told = ask(socket, "stop", timeout=timeout)
    if told is None:
        return True
    return wait_until(lambda: not running(int(told["pid"])), timeout)


def running(pid: int) -> bool:
    """Say whether a process runs."""
    # One that has ended may keep its number: a worker's parent is the system's first process, and
    # that of a container takes it away late or never.
    return process.began(pid) is not None


def wait_until(true: Any, timeout: float) -> bool:
    """Ask repeatedly for at most `timeout` seconds."""
    until = time.monotonic() + timeout
    while not true():
        if time.monotonic() > until:
            return False
        time.sleep(POLL)
    return True
