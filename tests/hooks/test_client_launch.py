"""What each client gets from the real launcher: its own form or nothing, and exit 0."""

import json
import re
from pathlib import Path

import pytest

from mkg_hooks import notice
from tests.hooks.launching import ROOT, SESSION, Home, prompt_event, start_event, tool_event
from tests.support.requirement import requirement

CLIENTS = {
    "claude": ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
    "copilot": ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"),
    "custom:my-agent": ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "Unheard"),
    "unheard": ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "Unheard"),
}
PAYLOADS = (
    start_event(),
    prompt_event("hello"),
    tool_event("PostToolUse", "Bash", {"command": "ls"}, tool_response="a"),
    {"session_id": SESSION, "stop_hook_active": False, "last_assistant_message": "done"},
    {"session_id": SESSION, "reason": "other"},
)


def specific(event: str, context: str) -> bytes:
    told = {"hookEventName": event, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": told}).encode()


ANSWERS = {
    "claude": (
        specific("SessionStart", "echo: startup"),
        specific("UserPromptSubmit", "echo: hello"),
    ),
    "codex": (
        specific("SessionStart", "echo: startup"),
        specific("UserPromptSubmit", "echo: hello"),
    ),
    "gemini": (specific("SessionStart", "echo: startup"), specific("BeforeAgent", "echo: hello")),
    "copilot": (b'{"additionalContext": "echo: startup"}', b'{"additionalContext": "echo: hello"}'),
    "custom:my-agent": (
        specific("SessionStart", "echo: startup"),
        specific("UserPromptSubmit", "echo: hello"),
    ),
    "unheard": (b"", b""),
}


@requirement("CL-05", "CL-15", "CL-24")
def test_every_client_is_answered_in_its_form_where_it_takes_one_and_else_with_nothing(home: Home):
    home.start_worker()
    for client, events in CLIENTS.items():
        nothing = b"{}" if client == "gemini" else b""
        wanted = [*ANSWERS[client], nothing, nothing, nothing]
        done = [home.hook(client, e, p) for e, p in zip(events, PAYLOADS, strict=True)]
        assert [d.stdout for d in done] == wanted, client
        assert {(d.returncode, d.stderr) for d in done} == {(0, b"")}
    stored = [key.split(f":{SESSION}:") for key in home.drained()]
    assert [client for client, _ in stored] == [c for c in CLIENTS for _ in range(5)]
    names = [rest.split(":")[0] for _, rest in stored]
    assert names[10:15] == ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"]


@requirement("CL-05", "CL-16")
@pytest.mark.parametrize("client", CLIENTS)
def test_without_a_worker_every_event_is_kept_and_a_line_is_said_only_where_it_is_shown(
    offline: Home, client: str
):
    events, payloads = CLIENTS[client], PAYLOADS
    done = [offline.hook(client, e, p) for e, p in zip(events, payloads, strict=True)]
    nothing = b"{}" if client == "gemini" else b""
    shown = client in ("claude", "codex", "custom:my-agent")
    line = json.dumps({"systemMessage": notice.KEPT}).encode()
    assert [d.stdout for d in done] == [line if shown else nothing, *[nothing] * 4]
    assert {(d.returncode, d.stderr) for d in done} == {(0, b"")}
    kept = offline.records()
    assert [r["client"] for r in kept] == [client] * 5
    assert kept[1]["name"] == "UserPromptSubmit" and kept[1]["prompt"] == "hello"


@pytest.mark.parametrize("raw", [b"", b"not json", b"[]", b'{"session_id":', b'{"session_id": 3}'])
def test_gemini_is_answered_in_json_whatever_it_sends(offline: Home, raw: bytes):
    done = offline.hook("gemini", "AfterTool", raw)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"{}", b"")


def test_gemini_is_answered_in_json_where_nothing_is_installed(tmp_path: Path, offline: Home):
    env = offline.environment(MKG_HOME=str(tmp_path / "none"))
    done = offline.hook("gemini", "SessionStart", start_event(), env=env)
    assert (done.returncode, done.stdout) == (0, b"{}")
    assert offline.hook("copilot", "SessionStart", start_event(), env=env).stdout == b""


@requirement("CL-04")
@pytest.mark.parametrize("client", ["", "-", "custom:", "custom:a/b", "custom:a b", "é", "x" * 200])
def test_a_strange_client_name_is_no_error_and_its_event_is_stored(offline: Home, client: str):
    done = offline.hook(client, "UserPromptSubmit", prompt_event("hello"))
    assert (done.returncode, done.stderr) == (0, b"")
    (kept,) = offline.records()
    assert kept["prompt"] == "hello" and re.fullmatch(r"[\w.:-]{1,64}", str(kept["client"]))


def test_the_payload_that_the_readme_documents_is_understood(home: Home):
    home.start_worker()
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split("### Any other program", 1)[1].split("\n### ", 1)[0]
    lines = [json.loads(x) for x in re.findall(r"^\{.*\}$", section, re.MULTILINE)]
    asked, answers = lines[:-1], lines[-1]
    assert [x["hook_event_name"] for x in asked][:2] == ["SessionStart", "UserPromptSubmit"]
    said = [home.hook("custom:my-agent", x["hook_event_name"], x).stdout for x in asked]
    told = json.loads(said[1])
    assert set(told) == set(answers) == {"hookSpecificOutput"}
    assert set(told["hookSpecificOutput"]) == set(answers["hookSpecificOutput"])
    assert said[2:] == [b""] * len(said[2:])
    records = home.records()
    assert [r["name"] for r in records] == [x["hook_event_name"] for x in asked]
    fields = {"session_id": "session_id", "cwd": "cwd", "turn_id": "turn_id", "prompt": "prompt"}
    fields |= {"tool_name": "tool_name", "tool_use_id": "tool_use_id", "error": "error"}
    fields |= {"last_assistant_message": "last_message", "agent_id": "agent_id"}
    for payload, record in zip(asked, records, strict=True):
        for key, field in fields.items():
            assert record.get(field) == payload.get(key), (payload["hook_event_name"], key)
