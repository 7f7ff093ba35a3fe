"""`mkg statusline`: one short line for a client's status bar; it never waits and never fails."""

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

import typer

from mkg.errors import MkgError
from mkg.json_shape import as_object

ASK_SECONDS = 0.4
STDIN_SECONDS = 0.3
_STDIN_BYTES = 256 * 1024


def statusline() -> None:
    """Say in one line how the memory is: on, paused or degraded, and this session's counts."""
    try:
        typer.echo(line(_given()))
    except (MkgError, OSError, ValueError):
        typer.echo("memory degraded: run mkg worker status")


def line(given: dict[str, Any]) -> str:
    """The line for what a client told on stdin: its `session_id` and folder."""
    from mkg.settings import load_settings
    from mkg.worker import client
    from mkg_hooks import consent

    settings = load_settings(origin="client")
    folder = as_object(given.get("workspace")).get("project_dir") or given.get("cwd")
    folders = [os.fsencode(folder)] if isinstance(folder, str) else []
    if consent.paused(os.fsencode(settings.home), folders):
        return "memory paused"
    if not Path(settings.paths.socket).exists():
        # An idle worker has left; the next event starts one.
        return "memory on"
    asked = {"session_id": str(given.get("session_id") or "")[:200]}
    found = client.ask(settings.paths.socket, "session", asked, timeout=ASK_SECONDS)
    if found is None:
        return "memory degraded: no answer"
    if found.get("graph") == "down":
        return "memory degraded: store away, events are kept"
    if "told" not in found:
        return "memory on"
    return f"memory on · learned {found['learned']} · told {found['told']}"


def _given() -> dict[str, Any]:
    """What a client writes to stdin, as far as it has come in time; {} from a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    until, data = time.monotonic() + STDIN_SECONDS, b""
    while len(data) < _STDIN_BYTES:
        ready, _, _ = select.select([0], [], [], max(0.0, until - time.monotonic()))
        chunk = os.read(0, 65536) if ready else b""
        if not chunk:
            break
        data += chunk
    try:
        return as_object(json.loads(data))
    except (ValueError, RecursionError):
        return {}
