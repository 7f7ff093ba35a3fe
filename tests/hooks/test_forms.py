"""What a client is told: the one form it takes, below its limits, or nothing."""

import json

import pytest

from mkg_hooks import clients, notice
from mkg_hooks.clients import claude, codex, copilot, custom, gemini
from mkg_hooks.payload import HookResult
from tests.support.requirement import requirement

BOTH = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"]
NEITHER = [
    "SessionEnd",
    "PostToolBatch",
    "PermissionRequest",
    "Notification",
    "Stop",
    "SubagentStop",
]
EVENTS = [*BOTH, "PostToolUseFailure", *NEITHER, "PreCompact", "PostCompact", "Unheard"]
SPOKEN = ["SessionStart", "UserPromptSubmit"]
TAKES = {
    claude: [*BOTH, "PostToolUseFailure"],
    codex: BOTH,
    gemini: [*SPOKEN, "PostToolUse", "PostToolUseFailure"],
    copilot: [*SPOKEN, "PostToolUse"],
    custom: SPOKEN,
}
NOTICED = (claude, codex, custom)
GEMINI_NAMES = {
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "PostToolUseFailure": "AfterTool",
}


def name_of(adapter) -> str:
    return adapter.__name__.rpartition(".")[2]


@requirement("CL-05", "CL-15", "CL-17", "CL-23")
@pytest.mark.parametrize("adapter", TAKES, ids=name_of)
@pytest.mark.parametrize("event", EVENTS)
def test_context_is_one_object_of_the_clients_form_and_only_where_it_takes_it(adapter, event):
    said = adapter.render(event, HookResult(context="what was decided"))
    told = GEMINI_NAMES.get(event, event) if adapter is gemini else event
    wanted = {
        "hookSpecificOutput": {"hookEventName": told, "additionalContext": "what was decided"}
    }
    if adapter is copilot:
        wanted = {"additionalContext": "what was decided"}
    assert (json.loads(said) if said else None) == (wanted if event in TAKES[adapter] else None)


@requirement("CL-16")
@pytest.mark.parametrize("adapter", TAKES, ids=name_of)
@pytest.mark.parametrize("event", EVENTS)
def test_a_system_message_is_only_the_notice_at_a_start_or_a_prompt(adapter, event):
    said = adapter.render(event, HookResult(notice="out of reach"))
    speaks = event in SPOKEN and adapter in NOTICED
    assert said == (b'{"systemMessage": "out of reach"}' if speaks else b"")
    assert b"systemMessage" not in adapter.render(event, HookResult(context="x"))


@requirement("B15")
@pytest.mark.parametrize(
    "result", [HookResult(), HookResult(context="c"), HookResult(notice="n"), HookResult("c", "n")]
)
def test_codex_gets_one_object_it_knows_every_key_of_or_nothing(result):
    said = codex.render("SessionStart", result)
    if not (result.context or result.notice):
        assert said == b""
        return
    answer = json.loads(said)
    assert set(answer) <= {"hookSpecificOutput", "systemMessage"}
    inner = answer.get("hookSpecificOutput")
    assert inner is None or (
        set(inner) == {"hookEventName", "additionalContext"}
        and isinstance(inner["additionalContext"], str)
    )


@requirement("CL-18")
def test_context_over_the_limit_of_a_client_is_dropped_whole_and_never_cut():
    def length(adapter, text: str) -> int:
        said = adapter.render("UserPromptSubmit", HookResult(context=text))
        return len(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else 0

    assert length(claude, "x" * 9000) == 9000 and length(claude, "x" * 9001) == 0
    # Clients count UTF-16: a rocket is two. Codex counts a token for four bytes.
    assert length(claude, "🚀" * 4500) == 4500 and length(claude, "🚀" * 4501) == 0
    assert length(claude, "漢" * 9000) == 9000
    assert length(codex, "漢" * 3333) == 3333 and length(codex, "漢" * 3334) == 0
    said = claude.render("UserPromptSubmit", HookResult(context="x" * 9001, notice="too much"))
    assert json.loads(said) == {"systemMessage": "too much"}


@requirement("CL-15")
def test_an_answer_is_ascii_and_holds_no_lone_surrogate():
    said = codex.render("SessionStart", HookResult(context="a \ud800 b 🚀 \x00 \u2028 é"))
    assert said.isascii() and b"\n" not in said
    assert (
        json.loads(said)["hookSpecificOutput"]["additionalContext"]
        == "a \ufffd b 🚀 \ufffd \u2028 é"
    )


def test_blank_context_is_no_context_and_a_client_nobody_named_gets_nothing():
    assert claude.render("SessionStart", HookResult(context=" \n ")) == b""
    for stranger in ("unheard", "customer:x", "custom:", "custom:a b", "custom:" + "x" * 57, "-"):
        assert clients.envelope(stranger, "SessionStart", context="x", notice="y") == b""
        assert not clients.takes_notice(stranger, "SessionStart")
        assert clients.adapter(stranger) is custom
    assert clients.envelope("custom:my-agent", "SessionStart", context="x", notice="") != b""


@requirement("CL-16", "MEM-T113")
def test_the_notice_is_one_short_line_whatever_it_is_made_of():
    said = json.loads(claude.render("SessionStart", HookResult(notice="one\ntwo\t" + "x" * 900)))
    assert said["systemMessage"].startswith("one two x") and len(said["systemMessage"]) == 400


def test_a_notice_is_claimed_once_until_the_outage_ends_or_a_new_epoch_begins(tmp_path):
    spool = str(tmp_path / "spool")
    assert notice.claim(spool, "s", False) and not notice.claim(spool, "s", False)
    assert notice.claim(spool, "other/../s", False)
    # A new epoch speaks again, but not the second registration of the same start.
    assert not notice.claim(spool, "s", True)
    notice.clear(spool)
    assert notice.claim(spool, "s", False)
    assert sorted(p.name for p in (tmp_path / "spool" / "notices").iterdir()) == ["s"]


def test_a_notice_that_cannot_be_remembered_is_not_said(tmp_path):
    (tmp_path / "spool").write_text("a file")
    assert not notice.claim(str(tmp_path / "spool"), "s", True)


@pytest.mark.parametrize(
    ("raw", "session", "fresh"),
    [
        (b'{"session_id":"s-1","source":"resume"}', "s-1", False),
        (b'{ "source" : "clear", "session_id" : "s-2" }', "s-2", True),
        (b'{"prompt":"\\"session_id\\":\\"evil\\""}', "-", True),
        (b"not json", "-", True),
    ],
)
def test_session_and_epoch_are_told_from_a_raw_payload(raw, session, fresh):
    assert (notice.session_in(raw), notice.opens_epoch("SessionStart", raw)) == (session, fresh)
    assert not notice.opens_epoch("UserPromptSubmit", raw)
