"""What is kept of a tool call and of a text."""

import hashlib
import hmac
import json

import pytest

from mkg_hooks import captured, intake
from mkg_hooks.payload import to_record
from tests.hooks.launching import SESSION, STOP, prompt_event, tool_event
from tests.hooks.taking import AT, KEY, took
from tests.support.requirement import requirement


def test_of_a_tools_output_the_first_2_kb_are_kept_and_its_size():
    got = took(
        "PostToolUse",
        tool_event("PostToolUse", "Bash", {"command": "x"}, tool_response={"stdout": "é" * 5000}),
    )
    assert (got.tool_output, got.tool_output_bytes, got.truncated) == ("é" * 1024, 10_000, True)
    small = took(
        "PostToolUse",
        tool_event("PostToolUse", "Bash", {"command": "x"}, tool_response={"stdout": "ok"}),
    )
    assert (small.tool_output, small.tool_output_bytes, small.truncated) == ("ok", 2, False)


TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.mark.parametrize("at", range(captured.OUTPUT_BYTES - 60, captured.OUTPUT_BYTES + 10, 7))
def test_a_secret_that_the_cut_would_halve_leaves_no_half(at):
    output = "x" * (at - 1) + " " + TOKEN + " tail" * 20_000
    got = took(
        "PostToolUse", tool_event("PostToolUse", "Bash", {"command": "x"}, tool_response=output)
    )
    assert got.tool_output is not None and "ghp_" not in got.tool_output


def test_a_secret_halved_by_the_window_itself_leaves_no_half_either():
    # Nine long known values shrink to markers, so the window's end moves into what is kept.
    known = "".join(f"{n * 7919:x}q" for n in range(1000, 1400))[:2000]
    window = captured.OUTPUT_BYTES + 2 * captured.MARGIN
    output = (known * 9).ljust(window - 11, "x") + " " + TOKEN + " tail" * 20_000
    payload = tool_event("PostToolUse", "Bash", {"command": "x"}, tool_response=output)
    got = took("PostToolUse", payload, BIG_SECRET=known)
    assert got.tool_output is not None and "ghp_" not in got.tool_output and got.truncated


def test_a_long_prompt_is_cut_and_says_so():
    long = "word " * 100_000 + TOKEN
    got = took("UserPromptSubmit", prompt_event(long))
    assert got.prompt and len(got.prompt) == captured.TEXT_CHARACTERS and got.truncated
    assert long.startswith(got.prompt)


def test_large_arguments_stay_valid_json_and_keep_their_short_texts():
    got = took(
        "PreToolUse",
        tool_event("PreToolUse", "Write", {"file_path": "/a.py", "content": "c" * 50_000}),
    )
    kept = json.loads(got.tool_input or "")
    assert (
        kept["file_path"] == "/a.py"
        and kept["content"] == "c" * captured.INPUT_STRING
        and got.truncated
    )
    many = took(
        "PreToolUse", tool_event("PreToolUse", "X", {"path": "/b", "rows": ["r" * 900] * 900})
    )
    kept = json.loads(many.tool_input or "")
    assert (kept["path"], kept["not_kept"], many.truncated) == ("/b", "too large", True)


def test_an_image_is_kept_as_its_length():
    image = {"type": "image", "file": {"base64": "A" * 9000, "type": "image/png"}}
    got = took(
        "PostToolUse",
        tool_event("PostToolUse", "Read", {"file_path": "/a.png"}, tool_response=image),
    )
    assert "AAAA" not in (got.tool_output or "") and "9000 characters" in (got.tool_output or "")


@requirement("SEC-70")
def test_every_text_field_is_redacted_known_values_too():
    known = "plainlooking-but-secret-7731"
    payload = {
        "session_id": SESSION,
        "cwd": f"/w/{known}",
        "transcript_path": f"/t/{TOKEN}",
        "prompt": f"p {TOKEN}",
        "tool_name": f"mcp__{TOKEN}",
        "tool_input": {"a": f"i {known}", "password": "hunter2-hunter2"},
        "tool_response": f"o {TOKEN} {known}",
        "last_assistant_message": f"l {TOKEN}",
        "error": f"e {known}",
        "message": f"m {TOKEN}",
        "agent_type": known,
        "model": known,
        "agent_transcript_path": f"/a/{known}",
        "unheard_of": {"deep": [known, TOKEN]},
        "source": known,
        "permission_mode": known,
    }
    for event in ("UserPromptSubmit", "PostToolUse", "Stop", "NeverHeardOf"):
        text = json.dumps(to_record(took(event, payload, MY_TOKEN=known)))
        assert known not in text and TOKEN not in text and "hunter2" not in text
        assert "[REDACTED:" in text


SENSITIVE = [
    ("Read", {"file_path": "/w/.env"}),
    (
        "Edit",
        {"file_path": "/w/.env.local", "old_string": "SECRETBODY", "new_string": "SECRETBODY2"},
    ),
    ("Write", {"file_path": "/home/u/.aws/credentials", "content": "SECRETBODY"}),
    ("MultiEdit", {"file_path": "/w/key.pem", "edits": [{"old_string": "SECRETBODY"}]}),
    ("NotebookEdit", {"notebook_path": "/w/secrets.json", "new_source": "SECRETBODY"}),
    ("Grep", {"pattern": "x", "path": "/w/.env"}),
    ("Bash", {"command": "cat .env | head"}),
    ("Bash", {"command": "printenv"}),
    ("shell", {"command": ["bash", "-lc", "cat ~/.ssh/id_rsa"]}),
]


@requirement("SEC-75")
@pytest.mark.parametrize(("tool", "arguments"), SENSITIVE)
def test_of_a_sensitive_file_only_path_size_and_keyed_digest_are_kept(tool, arguments):
    payload = tool_event(
        "PostToolUse", tool, arguments, tool_response={"stdout": "SECRETBODY=1"}, error="SECRETBODY"
    )
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        got = took(event, payload)
        assert "SECRETBODY" not in json.dumps(to_record(got))
        kept = json.loads(got.tool_output or "")
        assert (kept["captured"], kept["size"]) == (False, 12)
        assert kept["hmac_sha256"] == hmac.new(KEY, b"SECRETBODY=1", hashlib.sha256).hexdigest()
    plain = intake.accept(
        "claude", "PostToolUse", json.dumps(payload).encode(), {}, hmac_key=None, received_at=AT
    )
    assert plain and json.loads(plain.tool_output or "")["hmac_sha256"] == ""


@requirement("SEC-75")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "/w/environment.md"}),
        ("Bash", {"command": "ls -la .env"}),
        ("Bash", {"command": "env FOO=1 make"}),
    ],
)
def test_of_an_ordinary_file_the_output_is_kept(tool, arguments):
    got = took(
        "PostToolUse", tool_event("PostToolUse", tool, arguments, tool_response={"stdout": "BODY"})
    )
    assert got.tool_output == "BODY"


# -- our own words -------------------------------------------------------------------------------

BLOCK = '<mkg-memory nonce="{0}">\n- "the cache is per user"\n</mkg-memory nonce="{0}">'
OWN = {
    "whole": ("before\n" + BLOCK.format("a1b2c3d4") + "\nafter", "before\n\nafter"),
    "labelled": (
        "SessionStart hook additional context: " + BLOCK.format("a1b2"),
        "SessionStart hook additional context: ",
    ),
    "two": (BLOCK.format("aaaa") + "mid" + BLOCK.format("bbbb"), "mid"),
    "unquoted": ("<mkg-memory nonce=ab12>x</mkg-memory nonce=ab12> rest", " rest"),
    "cut off": ("kept <mkg-memory nonce=ab12>\nnever closed", "kept "),
    "closed by another": ("k <mkg-memory nonce=ab12> x </mkg-memory nonce=zzzz> y", "k "),
    "escaped": (json.dumps("say " + BLOCK.format("a1b2") + " end"), '"say  end"'),
    "named only": ("the tag <mkg-memory> and mkg-memory nonce are documented", None),
}


@requirement("CL-29")
@pytest.mark.parametrize("what", OWN)
def test_what_the_memory_injected_is_not_learned_again(what):
    text, left = OWN[what]
    left = text if left is None else left
    assert took("UserPromptSubmit", prompt_event(text)).prompt == left
    assert took("Stop", {**STOP, "last_assistant_message": text}).last_message == left
    got = took("PostToolUse", tool_event("PostToolUse", "X", {"a": 1}, tool_response=text))
    assert got.tool_output == left
