"""Planted secrets go through real processes: they leave by none of the exits.

Exits: the spool, the graph, the logs, what is injected, what a command prints, a tool's answer.
"""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import Live
from tests.faults.test_path import User, told, user
from tests.support.recipes import expand
from tests.support.requirement import requirement

__all__ = ["user"]
FIND = (Path(__file__).parents[1] / "support" / "find_canary.cypher").read_text(encoding="utf-8")
TOKEN = expand("ghp_{AN36}", 21)
# No rule could find this one: it is known by the name of the variable that holds it.
KNOWN = "plum lamp on the seventh shelf"
ENCODED = base64.b64encode(KNOWN.encode()).decode()
PLACE = "blue staging cluster"


def ask_tools(user: User, *calls: tuple[str, dict[str, Any]]) -> str:
    """Everything an MCP server writes for these calls."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lines: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (name, arguments) in enumerate(calls, 1):
        params = {"name": name, "arguments": arguments}
        lines.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    heard = ""
    with subprocess.Popen(
        [sys.executable, "-m", "mkg", "serve", "--face", "memory"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=user.env, cwd=user.project, text=True,
    ) as server:  # fmt: skip
        assert server.stdin and server.stdout
        for line in lines:
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
            if "id" in line:
                heard += server.stdout.readline()
        server.stdin.close()
    return heard


@requirement("SEC-76", "SEC-70")
def test_a_planted_secret_leaves_by_no_exit(user: User, live: Live) -> None:
    user.env["SHELF_PASSWORD"] = KNOWN
    user.mkg("config")
    said: list[str] = []
    secrets = f"{TOKEN} and {KNOWN} and {ENCODED}"
    said.append(user.hook("SessionStart", session_id="s1", source="startup"))
    said.append(
        user.hook(
            "UserPromptSubmit",
            session_id="s1",
            prompt_id="p1",
            prompt=f"Remember that {PLACE} is opened with {secrets}, ask the platform team.",
        )
    )
    # The launcher kept that by itself; what follows goes through the worker.
    user.drained()
    for number, text in enumerate((secrets, f"\\u200b{TOKEN[:9]}\u200b{TOKEN[9:]}")):
        user.hook(
            "PostToolUse",
            session_id="s1",
            tool_name="Bash",
            tool_use_id=f"toolu_{number}",
            tool_input={"command": f"curl -H 'X: {text}' https://x.test"},
            tool_response={"stdout": f"it says {text}", "stderr": ""},
        )
    user.hook("Stop", session_id="s1", last_assistant_message=f"Noted: {secrets}", prompt_id="p1")
    user.drained()
    said.append(told(user, f"How do I open {PLACE}?", "s2"))
    (learned,) = live.rows("MATCH (l:Learning) RETURN l.short_id AS id, l.text AS text LIMIT 1")
    assert PLACE in str(learned["text"]) and "[REDACTED:github-pat]" in str(learned["text"])
    said.append(user.mkg("why", str(learned["id"])))
    said.append(user.mkg("worker", "status"))
    heard = ask_tools(
        user,
        ("project_get_context", {"query": PLACE}),
        ("project_add_learning", {"text": f"The door of {PLACE} takes {TOKEN} only."}),
        ("episode_search", {"query": PLACE}),
    )
    assert "github-pat" in heard
    said.append(heard)
    files = b"".join(p.read_bytes() for p in user.home.rglob("*") if p.is_file())
    assert b"worker.started" in files
    for canary in (TOKEN, KNOWN, ENCODED):
        assert not any(canary in text for text in said)
        assert canary.encode() not in files
        assert live.rows(FIND, canary=canary) == []
    assert "github-pat" in "".join(said)
    # The same search does find what is there.
    assert live.rows(FIND, canary=PLACE)
