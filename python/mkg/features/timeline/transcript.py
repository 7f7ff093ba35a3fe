"""Turns a Claude Code transcript into the hook events that the session would have sent.

Source: clients.md 6.2. Chosen by type, never by substring; injected context, side chains, meta
lines and compaction summaries are left out; a line over the ceiling or without JSON is counted.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mkg.errors import Refused
from mkg.json_shape import as_array, as_object

MAX_LINE = 16 * 1024 * 1024
_NOT_TYPED = (
    "<local-command-caveat>",
    "<command-name>",
    "<local-command-stdout>",
    "<bash-input>",
    "<bash-stdout>",
)


@dataclass(slots=True)
class Replay:
    """What was read, and the events in order."""

    events: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    prompts: int = 0
    skipped: int = 0
    cwd: str | None = None


def read(path: Path) -> Replay:
    """Read one transcript file.

    Raises:
        Refused: it is not a regular file, or holds no prompt of a person.
    """
    if not path.is_file():
        raise Refused(f"{path} is not a file; give a .jsonl transcript of Claude Code")
    replay = Replay()
    state = _State()
    for line in _lines(path, replay):
        _one(line, replay, state)
    _stop(replay, state)
    if not replay.prompts:
        raise Refused(f"{path} holds no prompt of a person")
    session = state.session or path.stem
    base = {"session_id": session, "transcript_path": str(path), "cwd": replay.cwd or ""}
    start = ("SessionStart", {"source": "startup"})
    end = ("SessionEnd", {"reason": "other"})
    replay.events = [
        (name, {**base, "hook_event_name": name, **payload})
        for name, payload in (start, *replay.events, end)
    ]
    return replay


@dataclass(slots=True)
class _State:
    session: str | None = None
    prompt_id: str | None = None
    last_message: str | None = None
    open_turn: bool = False
    calls: dict[str, tuple[str, dict[str, Any]]] = field(
        default_factory=dict[str, tuple[str, dict[str, Any]]]
    )


def _lines(path: Path, replay: Replay) -> Iterator[dict[str, Any]]:
    with path.open("rb") as handle:
        while raw := handle.readline(MAX_LINE + 1):
            if len(raw) > MAX_LINE:
                while raw and not raw.endswith(b"\n"):
                    raw = handle.readline(MAX_LINE)
                replay.skipped += 1
                continue
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError):
                replay.skipped += 1
                continue
            if isinstance(value, dict):
                yield cast("dict[str, Any]", value)


def _one(line: dict[str, Any], replay: Replay, state: _State) -> None:
    if line.get("isSidechain") or line.get("isMeta") or line.get("isCompactSummary"):
        return
    kind, content = line.get("type"), as_object(line.get("message")).get("content")
    if kind not in {"user", "assistant"}:
        return
    state.session = state.session or line.get("sessionId")
    if isinstance(line.get("cwd"), str):
        replay.cwd = replay.cwd or line["cwd"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [as_object(block) for block in as_array(content)]
    if kind == "assistant":
        _assistant(blocks, state)
    else:
        _user(line, blocks, replay, state)


def _assistant(blocks: list[dict[str, Any]], state: _State) -> None:
    for block in blocks:
        if block.get("type") == "text" and str(block.get("text", "")).strip():
            state.last_message = str(block["text"])
        elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
            state.calls[str(block.get("id"))] = (str(block.get("name")), block["input"])


def _user(
    line: dict[str, Any], blocks: list[dict[str, Any]], replay: Replay, state: _State
) -> None:
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        _tool_result(block, replay, state)
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    prompt = _without_reminders("\n".join(texts)).strip()
    if results or not prompt or prompt.startswith(_NOT_TYPED):
        return
    _stop(replay, state)
    state.prompt_id = str(line.get("promptId") or line.get("uuid") or f"prompt-{replay.prompts}")
    state.open_turn = True
    replay.prompts += 1
    replay.events.append(("UserPromptSubmit", {"prompt": prompt, "prompt_id": state.prompt_id}))


def _tool_result(block: dict[str, Any], replay: Replay, state: _State) -> None:
    call = state.calls.pop(str(block.get("tool_use_id")), None)
    if call is None:
        return
    content = block.get("content")
    if not isinstance(content, str | None):
        parts = [as_object(part) for part in as_array(content)]
        content = "\n".join(str(part.get("text", "")) for part in parts)
    common = {
        "tool_name": call[0],
        "tool_input": call[1],
        "tool_use_id": str(block.get("tool_use_id")),
        "prompt_id": state.prompt_id,
    }
    if block.get("is_error"):
        payload = {**common, "error": str(content or ""), "is_interrupt": False}
        replay.events.append(("PostToolUseFailure", payload))
    else:
        replay.events.append(("PostToolUse", {**common, "tool_response": str(content or "")}))


def _stop(replay: Replay, state: _State) -> None:
    if state.open_turn:
        payload = {
            "stop_hook_active": False,
            "last_assistant_message": state.last_message or "",
            "prompt_id": state.prompt_id,
        }
        replay.events.append(("Stop", payload))
    state.open_turn, state.last_message = False, None


def _without_reminders(text: str) -> str:
    opening, closing = "<system-reminder>", "</system-reminder>"
    while (start := text.find(opening)) >= 0:
        end = text.find(closing, start)
        text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
    return text
