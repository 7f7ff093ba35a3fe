"""Every client's payloads, as recorded from the real programs, become the same events."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mkg_hooks.clients import copilot
from tests.hooks.taking import accept, took
from tests.support.requirement import requirement

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "session_more"
TOLD = ("prompt", "tool_name", "tool_output", "tool_error", "last_message", "source")
Payload = dict[str, Any]


def recorded(client: str) -> list[tuple[str, Payload]]:
    """The events of a recording, with its placeholders filled in."""
    text = (FOLDER / f"{client}.jsonl").read_text("utf-8")
    text = text.replace("{{HOME}}", "/home/dev").replace("{{CWD}}", "/home/dev/orders")
    lines = [json.loads(line) for line in text.splitlines()]
    return [(line["event"], line["payload"]) for line in lines]


def one(client: str, event: str, n: int = 0) -> Payload:
    return [payload for name, payload in recorded(client) if name == event][n]


def told(client: str, event: str, payload: Payload) -> Payload:
    got = took(event, payload, client)
    found = {name: getattr(got, name) for name in TOLD}
    return {"name": got.name, **{k: v for k, v in found.items() if v not in (None, False)}}


GEMINI = [
    {"name": "SessionStart", "source": "startup"},
    {"name": "UserPromptSubmit", "prompt": "Look at the release notes, please."},
    {"name": "PreCompress", "source": "auto"},
    {"name": "PreToolUse", "tool_name": "run_shell_command"},
    {
        "name": "PostToolUse",
        "tool_name": "run_shell_command",
        "tool_output": "Output: hi\nProcess Group PGID: 4376",
    },
    {"name": "PreCompress", "source": "auto"},
    {"name": "PreToolUse", "tool_name": "run_shell_command"},
    {
        "name": "PostToolUse",
        "tool_name": "run_shell_command",
        "tool_output": "Output: oops\nExit Code: 3\nProcess Group PGID: 4584",
        "tool_error": True,
    },
    {"name": "PreCompress", "source": "auto"},
    {"name": "Stop", "last_message": "All is well."},
    {"name": "SessionEnd", "source": "exit"},
]
COPILOT = [
    {"name": "SessionStart", "source": "startup"},
    {"name": "UserPromptSubmit", "prompt": "Look at the release notes, please."},
    {"name": "PreToolUse", "tool_name": "Bash"},
    {"name": "PermissionRequest", "tool_name": "bash"},
    {
        "name": "PostToolUse",
        "tool_name": "Bash",
        "tool_output": "hi\n<shellId: 0 completed with exit code 0>",
    },
    {"name": "PreToolUse", "tool_name": "Bash"},
    {"name": "PermissionRequest", "tool_name": "bash"},
    {
        "name": "PostToolUse",
        "tool_name": "Bash",
        "tool_output": "oops\n<shellId: 1 completed with exit code 3>",
        "tool_error": True,
    },
    {"name": "Stop"},
    {"name": "SessionEnd", "source": "complete"},
]


@requirement("CL-05")
@pytest.mark.parametrize(("client", "wanted"), [("gemini", GEMINI), ("copilot", COPILOT)])
def test_a_recorded_session_is_told_in_the_names_that_all_clients_share(client, wanted):
    assert [told(client, *event) for event in recorded(client)] == wanted


@pytest.mark.parametrize("client", ["codex", "gemini", "copilot"])
def test_every_recorded_event_has_its_session_its_folder_and_a_key_of_its_own(client):
    events = [took(*event, client) for event in recorded(client)]
    assert {e.cwd for e in events} == {"/home/dev/orders"}
    assert all(e.session_id and e.client == client for e in events)
    keys = Counter(e.event_key for e in events)
    again = Counter(e.event_key for e in (took(*event, client) for event in recorded(client)))
    assert keys == again and all(key.startswith(f"{client}:") for key in keys)
    # A resumed Codex session ends again in the very same words: only time tells the two apart.
    repeated = {key.split(":")[2] for key, count in keys.items() if count > 1}
    assert repeated == ({"SessionEnd"} if client == "codex" else set())


def test_a_recorded_codex_session_with_compaction_and_a_subagent():
    events = [took(*event, "codex") for event in recorded("codex")]
    assert [(e.name, e.source) for e in events[8:12]] == [
        ("PreCompact", "auto"),
        ("PostCompact", "auto"),
        ("SessionStart", "resume"),
        ("SessionStart", "compact"),
    ]
    assert len({e.session_id for e in events[:15]}) == 1, "a resumed session keeps its id"
    inner = [e for e in events if e.agent_id]
    assert [e.name for e in inner] == ["SubagentStart", "UserPromptSubmit", "PreToolUse"]
    assert {e.session_id for e in inner} == {events[-1].session_id} != {inner[0].agent_id}
    assert (inner[1].prompt, inner[1].agent_type) == ("Count the INNER files.", "default")
    assert [e.tool_output for e in events if e.tool_output][:2] == ["hi\n", "oops\n"]
    assert all(e.turn_id for e in events if e.name in ("UserPromptSubmit", "PreToolUse", "Stop"))


def test_codex_asks_for_permission_without_an_id_and_each_question_is_an_event():
    asked = {**one("codex", "PreToolUse"), "hook_event_name": "PermissionRequest"}
    asked.pop("tool_use_id")
    first = took("PermissionRequest", asked, "codex")
    other = took("PermissionRequest", {**asked, "tool_input": {"command": "rm x"}}, "codex")
    assert (first.tool_input, first.tool_use_id) == ('{"command": "echo hi"}', None)
    assert not first.natural_key and first.event_key != other.event_key
    assert first.event_key == took("PermissionRequest", asked, "codex").event_key


def test_a_stop_that_codex_repeats_in_one_turn_is_one_event_however_often_it_comes():
    stop = one("codex", "Stop")
    assert took("Stop", stop, "codex").natural_key
    assert len({took("Stop", stop, "codex").event_key for _ in range(3)}) == 1
    going_on = took("Stop", {**stop, "stop_hook_active": True}, "codex")
    assert going_on.stop_active and going_on.event_key != took("Stop", stop, "codex").event_key


# -- Gemini --------------------------------------------------------------------------------------

ECHO = (
    "<hook_context>&lt;mkg-memory nonce=abcd1234&gt;\nwe deploy with make ship\n"
    "&lt;/mkg-memory nonce=abcd1234&gt;</hook_context>\n\n"
)


@requirement("CL-29")
@pytest.mark.parametrize(
    ("prompt", "kept"),
    [
        (ECHO + "How do I deploy?", "How do I deploy?"),
        ("How do I deploy?\n" + ECHO, "How do I deploy?"),
        (ECHO + "one" + ECHO + "two", "one\n\ntwo"),
        ("what does hook_context mean?", "what does hook_context mean?"),
        ("cut off <hook_context>we deploy with", "cut off"),
        (ECHO, None),
    ],
)
def test_what_a_hook_told_gemini_does_not_come_back_as_the_users_words(prompt, kept):
    payload = {**one("gemini", "BeforeAgent"), "prompt": prompt}
    got = took("BeforeAgent", payload, "gemini")
    assert (got.name, got.prompt) == ("UserPromptSubmit", kept)
    stop = took("AfterAgent", {**one("gemini", "AfterAgent"), "prompt": prompt}, "gemini")
    assert "make ship" not in json.dumps([stop.prompt, stop.message, stop.last_message])
    # Of another client these are words like others.
    assert took("UserPromptSubmit", payload, "claude").prompt == prompt


@pytest.mark.parametrize(
    ("response", "name", "output", "error"),
    [
        ({"llmContent": "found", "error": None}, "PostToolUse", "found", None),
        ({"llmContent": [{"text": "a"}, {"text": "b"}]}, "PostToolUse", "a\nb", None),
        ({"llmContent": {"text": "a"}}, "PostToolUse", "a", None),
        ({"llmContent": {"inlineData": 1}, "returnDisplay": "shown"}, "PostToolUse", "shown", None),
        (
            {"llmContent": "no", "error": {"type": "not_found", "message": "no such file"}},
            "PostToolUseFailure",
            "no",
            "no such file",
        ),
        ({"error": {"type": "not_found"}}, "PostToolUseFailure", None, "not_found"),
        ({"error": {}}, "PostToolUseFailure", None, "the tool failed"),
        ("bare text", "PostToolUse", "bare text", None),
    ],
)
def test_a_tools_answer_is_read_in_every_shape_that_gemini_gives_it(response, name, output, error):
    got = took("AfterTool", {**one("gemini", "AfterTool"), "tool_response": response}, "gemini")
    assert (got.name, got.tool_output, got.error) == (name, output, error)
    assert got.tool_error is (name == "PostToolUseFailure")


def test_an_exit_code_in_the_middle_of_what_a_command_printed_is_no_failure():
    said = "Output: a\nExit Code: 3\nall went well\nits Exit Code: 3\nProcess Group PGID: 1"
    payload = {**one("gemini", "AfterTool"), "tool_response": {"llmContent": said}}
    assert not took("AfterTool", payload, "gemini").tool_error
    shell = {"result_type": "success", "text_result_for_llm": "exit code 3>\nfine"}
    payload = {**one("copilot", "PostToolUse"), "tool_result": shell}
    assert not took("PostToolUse", payload, "copilot").tool_error


def test_without_ids_the_clients_clock_tells_two_equal_firings_from_one_registered_twice():
    first = one("gemini", "BeforeAgent")
    later = {**first, "timestamp": "2026-11-30T13:55:01.155Z"}
    keys = [took("BeforeAgent", p, "gemini").event_key for p in (first, first, later)]
    assert keys[0] == keys[1] != keys[2]


# -- Copilot -------------------------------------------------------------------------------------


STOPPED = {"hookType": "agentStop", "input": {"timestamp": 1796046861671}}
STOP = {"type": "hook.start", "data": STOPPED}


def log_of(folder: Path, *lines: Any, session: str = "s-1") -> Payload:
    """A stop of a session whose own log holds these lines."""
    path = folder / "session-state" / session / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    dense = (",", ":")
    path.write_text("".join(json.dumps(line, separators=dense) + "\n" for line in lines))
    return {**one("copilot", "Stop"), "session_id": session, "transcript_path": str(path)}


def said(content: str) -> Payload:
    return {"type": "assistant.message", "data": {"content": content}}


def asked(content: str) -> Payload:
    return {"type": "user.message", "data": {"content": content}}


@requirement("CL-21")
@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([asked("q"), said("first"), said("last"), {"type": "hook.start"}, STOP], "last"),
        ([asked("q"), said("first"), said(""), STOP], "first"),
        ([asked("q"), said("old"), asked("next"), STOP], None),
        ([asked("q"), said("mine"), STOP, asked("next"), said("later")], "mine"),
        # What stands there without this stop may be the answer to an earlier prompt.
        ([asked("q"), said("old"), {"type": "hook.start"}], None),
        ([said("x" * copilot.LOG_TAIL), STOP], None),
        ([], None),
    ],
)
def test_what_copilot_answered_is_read_from_the_end_of_its_own_log(tmp_path, lines, wanted):
    assert took("Stop", log_of(tmp_path, *lines), "copilot").last_message == wanted


@pytest.mark.parametrize("there", [True, False])
def test_an_answer_that_copilot_logs_a_moment_after_its_stop_is_waited_for(tmp_path, there):
    stop = log_of(tmp_path, asked("q"), said("a"), STOP)
    path = Path(str(stop["transcript_path"]))
    whole = path.read_text()
    path.write_text(whole[:40]) if there else path.unlink()
    late = threading.Timer(0.05, lambda: path.write_text(whole))
    late.start()
    assert took("Stop", stop, "copilot").last_message == "a"
    late.join()


def test_a_stop_without_a_time_takes_what_the_log_has(tmp_path):
    stop = log_of(tmp_path, asked("q"), said("a"))
    for told in (None, "yesterday", 7):
        assert took("Stop", {**stop, "timestamp": told}, "copilot").last_message == "a"


def test_no_other_file_is_opened_for_a_stop_of_copilot(tmp_path):
    stop = log_of(tmp_path, said("words of another session"), STOP, session="s-2")
    assert took("Stop", stop, "copilot").last_message == "words of another session"
    assert took("Stop", {**stop, "session_id": "s-1"}, "copilot").last_message is None
    path = Path(stop["transcript_path"])
    secret = path.rename(tmp_path / "secret")
    assert took("Stop", {**stop, "transcript_path": str(secret)}, "copilot").last_message is None
    path.symlink_to(secret)
    assert took("Stop", stop, "copilot").last_message is None
    path.unlink()
    path.mkdir()
    assert took("Stop", stop, "copilot").last_message is None
    path.rmdir()
    assert took("Stop", stop, "copilot").last_message is None


def test_copilots_camel_case_events_are_read_too():
    result = {"resultType": "denied", "textResultForLlm": "not allowed"}
    payload = {"sessionId": "s-1", "toolName": "bash", "toolArgs": '{"command":"ls"}'}
    got = took("postToolUse", {**payload, "toolResult": result}, "copilot")
    assert (got.name, got.session_id, got.tool_input) == (
        "PostToolUse",
        "s-1",
        '{"command": "ls"}',
    )
    assert (got.tool_output, got.tool_error) == ("not allowed", True)


# -- any other program ---------------------------------------------------------------------------


@requirement("CL-04")
@pytest.mark.parametrize("client", ["custom:my-agent", "cursor", "unheard"])
def test_the_usual_spellings_of_a_program_nobody_knows_are_understood(client):
    camel = {"sessionId": "s-1", "turnId": "t-1", "hookEventName": "UserPromptSubmit"}
    got = took("UserPromptSubmit", {**camel, "cwd": "/w", "prompt": "hello"}, client)
    assert (got.client, got.session_id, got.turn_id, got.prompt) == (client, "s-1", "t-1", "hello")
    cursor = {
        "conversation_id": "c-1",
        "generation_id": "g-1",
        "workspace_roots": ["/w"],
        "tool_name": "Shell",
        "tool_output": '{"stdout":"hi"}',
        "user_email": "ann@example.test",
    }
    got = took("PostToolUse", cursor, client)
    assert (got.session_id, got.turn_id, got.cwd) == ("c-1", "g-1", "/w")
    assert got.tool_output == '{"stdout":"hi"}'


@requirement("CL-04", "CL-27")
def test_an_event_nobody_knows_is_stored_as_it_is_but_for_the_mail_address():
    payload = {"session_id": "s-1", "charge": 3, "user_email": "ann@example.test"}
    got = took("beforeShellExecution", payload, "custom:my-agent")
    assert (got.name, got.message) == ("beforeShellExecution", '{"charge": 3}')


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "copilot", "custom:x", "unheard"])
@pytest.mark.parametrize("value", [None, 3, [], ["a"], {"a": [1]}, "text", True])
def test_a_known_field_of_any_type_is_no_error(client, value):
    names = ("prompt", "tool_response", "tool_result", "tool_input", "cwd", "source", "error")
    payload = {"session_id": "s-1", **dict.fromkeys((*names, "workspace_roots"), value)}
    for event in ("SessionStart", "BeforeAgent", "UserPromptSubmit", "AfterTool", "PostToolUse"):
        assert took(event, payload, client).session_id == "s-1"
    assert accept("Stop", {"session_id": value, "x": 1}, client) is not None
