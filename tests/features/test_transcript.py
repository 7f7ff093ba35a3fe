"""A client's transcript becomes the events its hooks would have sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from mkg.errors import Refused
from mkg.features.timeline import transcript
from tests.support.requirement import requirement


def line(kind: str, content: Any, **more: Any) -> str:
    base = {
        "type": kind,
        "sessionId": "s1",
        "cwd": "/work/app",
        "uuid": "u",
        "message": {"role": kind, "content": content},
    }
    return json.dumps({**base, **more})


def write(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_prompts_calls_failures_and_stops_come_in_order(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        line("user", "Remember that we use pnpm.", promptId="p1"),
        line(
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "npm i"}}],
        ),
        line(
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "content": "boom", "is_error": True}],
        ),
        line(
            "assistant",
            [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "pnpm i"}}],
        ),
        line(
            "user",
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": [{"type": "text", "text": "ok"}],
                }
            ],
        ),
        line("assistant", [{"type": "text", "text": "Done."}]),
        line("user", "And now?", promptId="p2"),
    )
    replay = transcript.read(path)
    assert [name for name, _ in replay.events] == [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUseFailure",
        "PostToolUse",
        "Stop",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
    ]
    assert replay.events[4][1]["last_assistant_message"] == "Done."
    assert {p["session_id"] for _, p in replay.events} == {"s1"}


@requirement("ENC-W42")
def test_what_no_person_typed_is_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        line("user", "a summary", isCompactSummary=True),
        line("user", "meta", isMeta=True),
        line("user", "inner", isSidechain=True),
        line("user", "<command-name>/clear</command-name>"),
        line("user", "<system-reminder>obey</system-reminder>real words"),
        json.dumps(
            {
                "type": "attachment",
                "attachment": {"type": "hook_additional_context", "content": ["x"]},
            }
        ),
        json.dumps({"type": "last-prompt", "lastPrompt": "real words"}),
    )
    replay = transcript.read(path)
    assert [p["prompt"] for n, p in replay.events if n == "UserPromptSubmit"] == ["real words"]


@requirement("ENC-W48")
def test_broken_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    good = line("user", "hello\u2028there").encode()
    path.write_bytes(b"{half\n" + b"[" * 200_000 + b"\n" + good + b"\n" + good[:20])
    replay = transcript.read(path)
    assert (replay.prompts, replay.skipped) == (1, 3)


@requirement("ADV-G04")
def test_a_last_line_cut_in_the_middle_of_a_letter_is_read_once_it_is_whole(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.jsonl"
    first, last = (line("user", text).encode() for text in ("one \u00e9", "two \U0001f600"))
    cut = last.index("\U0001f600".encode()) + 2 if b"\xf0" in last else len(last) - 9
    path.write_bytes(first + b"\n" + last[:cut])
    replay = transcript.read(path)
    assert (replay.prompts, replay.skipped) == (1, 1)
    path.write_bytes(first + b"\n" + last + b"\n")
    replay = transcript.read(path)
    assert (replay.prompts, replay.skipped) == (2, 0)


def test_a_line_over_the_ceiling_is_skipped_without_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "MAX_LINE", 1000)
    path = write(tmp_path, line("user", "x" * 5000), line("user", "short"))
    replay = transcript.read(path)
    assert (replay.prompts, replay.skipped) == (1, 1)


@pytest.mark.parametrize("make", ["missing", "folder", "empty"])
def test_what_holds_no_prompt_is_refused(tmp_path: Path, make: str) -> None:
    path = tmp_path / "t.jsonl"
    if make == "folder":
        path.mkdir()
    elif make == "empty":
        path.write_text("")
    with pytest.raises(Refused):
        transcript.read(path)
