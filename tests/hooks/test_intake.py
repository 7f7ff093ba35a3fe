"""From a client's bytes to one safe event."""

import hashlib
import json

import pytest

from mkg_hooks import intake
from mkg_hooks.payload import from_record, to_record
from tests.hooks.launching import SESSION, STOP, prompt_event, start_event, tool_event
from tests.hooks.taking import AT, KEY, accept, took
from tests.support.requirement import requirement

# -- the fields of each event --------------------------------------------------------------------

CLAUDE = {
    "SessionStart": (
        start_event(model="m-1"),
        {"source": "startup", "model": "m-1", "natural_key": False},
    ),
    "UserPromptSubmit": (
        prompt_event("hi"),
        {
            "prompt": "hi",
            "turn_id": "p1",
            "natural_key": True,
            "prompt_source": None,
            "source": None,
        },
    ),
    "PreToolUse": (
        tool_event("PreToolUse", "Bash", {"command": "ls"}),
        {
            "tool_name": "Bash",
            "tool_input": '{"command": "ls"}',
            "tool_use_id": "toolu_1",
            "tool_output": None,
            "natural_key": True,
        },
    ),
    "PostToolUse": (
        tool_event(
            "PostToolUse",
            "Bash",
            {"command": "ls"},
            tool_response={"stdout": "hi", "stderr": "warn", "interrupted": False},
        ),
        {"tool_output": "hi\nwarn", "tool_output_bytes": 7, "tool_error": False},
    ),
    "PostToolUseFailure": (
        tool_event(
            "PostToolUseFailure",
            "Bash",
            {"command": "false"},
            error="Exit code 3\noops",
            is_interrupt=True,
        ),
        {"tool_error": True, "error": "Exit code 3\noops", "is_interrupt": True},
    ),
    "Notification": (
        {
            "session_id": SESSION,
            "prompt_id": "p1",
            "message": "Claude needs your permission",
            "notification_type": "permission_prompt",
        },
        {"message": "Claude needs your permission", "natural_key": False},
    ),
    "Stop": (STOP, {"last_message": "DONE: hi", "stop_active": False, "natural_key": True}),
    "SessionEnd": (
        {"session_id": SESSION, "reason": "clear"},
        {"source": "clear", "natural_key": False},
    ),
    "SubagentStart": (
        {"session_id": SESSION, "prompt_id": "p1", "agent_id": "a1", "agent_type": "general"},
        {"agent_id": "a1", "agent_type": "general", "natural_key": True},
    ),
    "SubagentStop": (
        {**STOP, "agent_id": "a1", "agent_type": "general", "agent_transcript_path": "/t/a.jsonl"},
        {"agent_id": "a1", "agent_transcript_path": "/t/a.jsonl", "natural_key": True},
    ),
    "PreCompact": (
        {
            "session_id": SESSION,
            "prompt_id": "p1",
            "trigger": "manual",
            "custom_instructions": None,
        },
        {"source": "manual", "natural_key": False},
    ),
}


@requirement("CL-26")
@pytest.mark.parametrize("event", CLAUDE)
def test_every_claude_event_fills_its_fields(event):
    payload, wanted = CLAUDE[event]
    got = took(event, payload, CLAUDE_CODE_ENTRYPOINT="cli")
    assert {name: getattr(got, name) for name in wanted} == wanted
    assert (got.client, got.name, got.session_id, got.received_at) == ("claude", event, SESSION, AT)
    assert (got.entrypoint, got.truncated, got.raw_sha256) == ("cli", False, None)
    assert got.raw_bytes == len(json.dumps(payload).encode())


CODEX = {
    "UserPromptSubmit": (
        {"session_id": SESSION, "turn_id": "t1", "transcript_path": None, "prompt": "hi"},
        {"prompt": "hi", "turn_id": "t1", "transcript_path": None, "natural_key": True},
    ),
    "PostToolUse": (
        {
            "session_id": SESSION,
            "turn_id": "t1",
            "tool_name": "Bash",
            "tool_input": {"command": "ls"},
            "tool_response": "hi\n",
            "tool_use_id": "call_1",
        },
        {"tool_output": "hi\n", "tool_use_id": "call_1", "tool_error": False},
    ),
    "SessionEnd": ({"session_id": SESSION, "reason": "other"}, {"source": "other"}),
}


@pytest.mark.parametrize("event", CODEX)
def test_codex_events_fill_the_same_fields(event):
    payload, wanted = CODEX[event]
    got = took(event, payload, "codex")
    assert {name: getattr(got, name) for name in wanted} == wanted


def test_an_mcp_answer_is_read_in_either_clients_form():
    text = tool_event("PostToolUse", "mcp__m__x", {"q": 1}, tool_response='{"result":"found"}')
    blocks = {"content": [{"type": "text", "text": "found"}], "isError": True}
    assert took("PostToolUse", text).tool_output == '{"result":"found"}'
    codex = took("PostToolUse", {**text, "tool_response": blocks}, "codex")
    assert (codex.tool_output, codex.tool_error) == ("found", True)


@requirement("CL-22")
def test_the_end_of_a_subagent_that_never_started_is_an_ordinary_event():
    got = took("SubagentStop", {**STOP, "agent_id": "a9", "agent_type": ""})
    assert (got.agent_id, got.agent_type, got.name) == ("a9", None, "SubagentStop")


@requirement("CL-25")
def test_a_prompt_tells_who_wrote_it_only_when_the_client_does():
    assert took("UserPromptSubmit", prompt_event("x")).prompt_source is None
    got = took(
        "UserPromptSubmit",
        prompt_event("x", source="loop_wakeup"),
        CLAUDE_CODE_ENTRYPOINT="sdk-cli",
    )
    assert (got.prompt_source, got.source, got.entrypoint) == ("loop_wakeup", None, "sdk-cli")


@requirement("CL-04")
def test_an_unknown_event_field_or_client_is_kept_as_data():
    got = took("QuantumLeap", {"session_id": SESSION, "charge": 3, "note": "n"})
    assert (got.name, json.loads(got.message or "")) == ("QuantumLeap", {"charge": 3, "note": "n"})
    assert took("Stop", {**STOP, "brand_new": {"a": 1}}).message is None
    assert took("Stop", STOP, "some-client").client == "some-client"


# -- identity ------------------------------------------------------------------------------------


@requirement("MEM-T206", "MEM-W37")
def test_two_equal_prompts_have_two_keys_and_one_prompt_registered_twice_has_one():
    first = took("UserPromptSubmit", prompt_event("continue", "p1"))
    second = took("UserPromptSubmit", prompt_event("continue", "p2"))
    again = took("UserPromptSubmit", prompt_event("continue", "p1"))
    assert first.event_key != second.event_key
    assert first.event_key == again.event_key
    assert first.event_key.startswith(f"claude:{SESSION}:UserPromptSubmit:p1:")
    assert len(first.event_key.rpartition(":")[2]) == 16


@requirement("CL-26")
def test_one_turn_may_compact_and_notify_twice_so_its_prompt_id_is_no_key_there():
    for event in ("PreCompact", "Notification", "SessionStart"):
        assert not took(
            event, {"session_id": SESSION, "prompt_id": "p1", "source": "compact"}
        ).natural_key
    assert (
        took("Stop", STOP).natural_key and not took("Stop", {**STOP, "prompt_id": None}).natural_key
    )


def test_two_stops_of_one_turn_differ_by_their_last_message():
    keys = {
        took("Stop", {**STOP, "last_assistant_message": text}).event_key for text in ("a", "b", "a")
    }
    assert len(keys) == 2


def test_a_field_that_no_column_holds_still_counts_for_identity():
    one = took("PermissionRequest", {"session_id": SESSION, "tool_name": "Bash", "suggestion": 1})
    two = took("PermissionRequest", {"session_id": SESSION, "tool_name": "Bash", "suggestion": 2})
    assert one.event_key != two.event_key


@requirement("SEC-60")
@pytest.mark.parametrize(
    "session",
    ["../../etc/passwd", "a/b", "x" * 129, "a b", "a\nb", "é", "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2],
)
def test_a_session_id_that_could_be_a_path_or_a_secret_is_replaced_by_its_hash(session):
    got = took("Stop", {**STOP, "session_id": session, "prompt_id": "../p"})
    wanted = "h-" + hashlib.sha256(session.encode()).hexdigest()[:32]
    assert (got.session_id, session in got.event_key) == (wanted, False)
    assert got.turn_id and got.turn_id.startswith("h-")
    assert took("Stop", {**STOP, "session_id": "Ab.c_9-"}).session_id == "Ab.c_9-"


def test_the_launchers_clock_counts_unless_it_is_absurd():
    assert intake.stamp("1796023353.000001", 1796023354.0) == "2026-11-30T07:22:33.000001Z"
    for absurd in ("0", "nan", "inf", "1e300", "x", None):
        assert intake.stamp(absurd, 1796023353.5) == "2026-11-30T07:22:33.500000Z"


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw", [b"", b"  ", b"null", b"[]", b'[{"a":1}]', b'"x"', b"3", b"{}", b'{"a":', b"\xff\xfe"]
)
def test_what_is_no_json_object_is_nothing(raw):
    assert accept("UserPromptSubmit", raw) is None


@requirement("B101")
def test_every_kind_of_text_reads_back_as_it_was_written_and_nul_becomes_a_replacement_character():
    texts = [
        "🚀 rocket",
        "👨‍👩‍👧",
        "شكرا",
        "line\r\nline",
        "\ufeffstart",
        "漢字",
        "e\u0301",
        "\u2028|\u0085",
    ]
    for text in texts:
        for escaped in (True, False):
            raw = json.dumps(prompt_event(text), ensure_ascii=escaped).encode()
            assert took("UserPromptSubmit", raw).prompt == text
    assert (
        took("UserPromptSubmit", b"\xef\xbb\xbf" + json.dumps(prompt_event("bom")).encode()).prompt
        == "bom"
    )
    assert took("UserPromptSubmit", prompt_event("a\x00b")).prompt == "a\ufffdb"


def test_a_lone_surrogate_becomes_a_replacement_character_and_a_split_pair_is_joined():
    raw = b'{"session_id":"s","prompt":"a \\ud800 b \\ud83d\\ude80","tool_input":{"\\udc00":1}}'
    got = took("UserPromptSubmit", raw)
    assert got.prompt == "a \ufffd b 🚀"
    assert json.loads(got.tool_input or "") == {"\ufffd": 1}
    json.dumps(to_record(got), ensure_ascii=False).encode("utf-8")


def test_numbers_that_json_cannot_carry_are_replaced():
    raw = (
        b'{"session_id":"s","tool_input":{"a":NaN,"b":-Infinity,"c":1e999,"d":'
        + b"9" * 5000
        + b',"e":12}}'
    )
    assert json.loads(took("PreToolUse", raw).tool_input or "") == {
        "a": None,
        "b": None,
        "c": None,
        "d": "9" * 64,
        "e": 12,
    }


@pytest.mark.parametrize("depth", [60, 5_000, 300_000])
def test_deep_nesting_leaves_the_ids_at_least(depth):
    raw = (
        b'{"session_id":"s-1","tool_use_id":"toolu_9","tool_input":'
        + b"[" * depth
        + b"]" * depth
        + b"}"
    )
    got = took("PostToolUse", raw)
    assert (got.session_id, got.truncated) == ("s-1", True)


def test_of_a_payload_over_16_mib_only_ids_length_and_hash_are_kept():
    body = {
        **tool_event("PostToolUse", "Read", {"file_path": "/x"}),
        "tool_response": "y" * intake.LARGEST,
    }
    body["tool_use_id"] = "toolu_late"
    raw = json.dumps(body).encode()
    got = took("PostToolUse", raw)
    kept = {k: v for k, v in to_record(got).items() if v not in (False, 0)}
    assert kept.pop("event_key").startswith(f"claude:{SESSION}:PostToolUse:toolu_late:")
    assert kept == {
        "v": 1,
        "kind": "event",
        "client": "claude",
        "name": "PostToolUse",
        "session_id": SESSION,
        "turn_id": "p1",
        "tool_use_id": "toolu_late",
        "natural_key": True,
        "truncated": True,
        "received_at": AT,
        "raw_bytes": len(raw),
        "raw_sha256": hashlib.sha256(raw).hexdigest(),
    }
    cut = took(
        "PostToolUse",
        raw[:300_000] + b"\n" + raw[-60_000:],
        **{"mkg.raw_bytes": str(len(raw)), "mkg.raw_sha256": "ab" * 32},
    )
    assert (cut.raw_bytes, cut.raw_sha256, cut.tool_use_id) == (len(raw), "ab" * 32, "toolu_late")


def test_a_text_that_names_a_session_is_not_believed_when_a_payload_is_salvaged():
    inner = '{"session_id":"evil","tool_use_id":"evil"}'
    body = {
        "note": {"session_id": "evil"},
        "prompt": f'"session_id":"evil" {inner}',
        "session_id": "good",
        "tool_response": "z" * intake.LARGEST,
    }
    assert took("PostToolUse", body).session_id == "good"


# -- the record ----------------------------------------------------------------------------------


def test_an_event_survives_the_spool_and_fields_of_a_newer_version_are_ignored():
    event = took("PostToolUse", CLAUDE["PostToolUse"][0])
    record = json.loads(json.dumps(to_record(event)))
    assert (record["v"], record["kind"]) == (1, "event")
    assert from_record({**record, "field_of_2031": 1}) == event
    with pytest.raises(ValueError, match="not an event"):
        from_record({"v": 1, "kind": "event"})


def test_the_record_the_launcher_spools_is_the_event_the_worker_sees():
    raw = json.dumps(prompt_event("same")).encode()
    record = intake.read("claude", "UserPromptSubmit", raw, {}, hmac_key=KEY, received_at=AT)
    assert record is not None and from_record(record) == took("UserPromptSubmit", raw)


def test_the_key_file_counts_only_when_it_is_private_and_ours(tmp_path):
    path = tmp_path / "hmac.key"
    path.touch(mode=0o600)
    path.write_text("ab" * 32 + "\n")
    assert intake.load_key(str(path)) == b"ab" * 32
    link = tmp_path / "link"
    link.symlink_to(path)
    assert intake.load_key(str(link)) is None
    path.chmod(0o644)
    assert intake.load_key(str(path)) is None
    assert intake.load_key(str(tmp_path / "none")) is None and intake.load_key("") is None
