"""Planted secrets go through real processes: they leave by none of the exits.

Exits: the spool, the graph, the logs, what is injected, what a command prints, a tool's answer.
"""

import base64
import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

from tests.conftest import Live
from tests.faults.test_path import User, told, user
from tests.support.credentials import kinds, made
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


@requirement("B81")
def test_twenty_kinds_of_secret_leave_only_their_markers(user: User, live: Live) -> None:
    every = kinds()
    chosen = [made(kind, 7) for kind in every[:: len(every) // 20][:20]]
    assert len(chosen) == 20
    texts, secrets = [text for text, _ in chosen], [s for _, own in chosen for s in own]
    groups = ["\n".join(texts[n::5]) for n in range(5)]
    user.mkg("config")
    user.hook("SessionStart", session_id="s1", source="startup")
    prompt = f"Remember that the old setup is written down as:\n{groups[0]}"
    user.hook("UserPromptSubmit", session_id="s1", prompt_id="p1", prompt=prompt)
    user.hook(
        "PostToolUse",
        session_id="s1",
        tool_name="Bash",
        tool_use_id="toolu_1",
        tool_input={"command": groups[1], "env": {"dump": groups[4]}},
        tool_response={"stdout": groups[2], "stderr": groups[1]},
    )
    user.hook(
        "PostToolUseFailure",
        session_id="s1",
        tool_name="Read",
        tool_use_id="toolu_2",
        tool_input={"file_path": f"/srv/{texts[3]}/x"},
        error=groups[4],
    )
    user.hook("Stop", session_id="s1", prompt_id="p1", last_assistant_message=groups[3])
    user.drained()
    said = told(user, "How was the old setup written down?", "s2")
    files = b"".join(p.read_bytes() for p in user.home.rglob("*") if p.is_file())
    for secret in secrets:
        assert live.rows(FIND, canary=secret) == []
        assert secret.encode() not in files and secret not in said
    assert live.rows(FIND, canary="[REDACTED:")


@requirement("SEC-56", "ADV-D15")
def test_logs_hold_no_content_and_no_exit_a_control_character(user: User, live: Live) -> None:
    odd = "bell \u0007 and nul \u0000 and \u001b[31mred"
    user.mkg("config")
    prompt = f"Remember that {PLACE} is reached by the north gate. Thanks, {odd}."
    user.hook("UserPromptSubmit", session_id="s1", prompt_id="p1", prompt=prompt)
    user.hook(
        "PostToolUse",
        session_id="s1",
        tool_name="Bash",
        tool_use_id="toolu_1",
        tool_input={"command": f"echo {odd}"},
        tool_response={"stdout": f"{PLACE} {odd}", "stderr": ""},
    )
    user.hook("Stop", session_id="s1", prompt_id="p1", last_assistant_message=f"{odd} noted")
    user.drained()
    # The events are kept, with the letters round those characters.
    assert (
        len(live.rows("MATCH (e:SessionEvent) WHERE e.tool_output CONTAINS 'red' RETURN e.seq"))
        == 1
    )
    said = [told(user, f"How do I reach {PLACE}?", "s2")]
    (learned,) = live.rows("MATCH (l:Learning) RETURN l.short_id AS id")
    said += [user.mkg("why", str(learned["id"])), user.mkg("log", "--last")]
    heard = ask_tools(
        user,
        ("project_get_context", {"query": PLACE}),
        ("episode_fetch", {}),
        ("neo4j_read_cypher", {"query": f"MATCH (n) WHERE n.text = '{PLACE}' RETURN missing"}),
        ("project_get_context", {"query": PLACE, "limit": "many"}),
    )
    assert PLACE in said[0] and PLACE in said[1] and PLACE in heard
    for text in [*said, heard]:
        assert [c for c in text if unicodedata.category(c) == "Cc" and c not in "\n"] == []
    logs = [p for p in user.home.rglob("*") if p.is_file() and ".log" in p.name]
    assert logs
    for path in logs:
        text = path.read_text(encoding="utf-8")
        assert PLACE not in text and "north gate" not in text
