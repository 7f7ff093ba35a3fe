"""Copilot CLI: its payloads (version 1.0.102) and the form of its answers.

Hooks are registered under the Pascal-case names, whose payloads are like Claude Code's; the
camel-case events, whose answers the client ignores, are stored all the same. A start that is new
says `new`. A stop does not say what the assistant answered: that stands in the session's own log.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import json
import re
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mkg_hooks.clients import claude, custom, envelope
from mkg_hooks.tail import tail

if TYPE_CHECKING:
    from mkg_hooks.payload import HookResult

CONSUMED = custom.CONSUMED
EVENTS = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "permissionRequest": "PermissionRequest",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "sessionEnd": "SessionEnd",
}
natural = claude.natural
LOG_TAIL = 256 * 1024
# Seconds that a stop waits for its own line in the log; the launcher waits longer for the worker.
LATE, LOOK_AGAIN = 0.2, 0.01
# The client's own line below what a command printed; a failed command has no other mark.
_EXIT_CODE = re.compile(r"<shellId: \d+ completed with exit code [1-9]\d*>\s*\Z")


def canonical(event: str, payload: Mapping[str, object]) -> str:
    """Return the name an event has here."""
    return EVENTS.get(event, event)


def normalise(event: str, payload: dict[str, Any], env: Mapping[str, str]) -> dict[str, object]:
    """Return the event's fields, raw: intake cuts and redacts them."""
    fields = custom.normalise(event, payload, env)
    if event == "SessionStart" and fields["source"] == "new":
        fields["source"] = "startup"
    result = fields["tool_output"]
    if isinstance(result, dict):
        said = result.get("text_result_for_llm", result.get("textResultForLlm"))
        kind = result.get("result_type", result.get("resultType"))
        failed = kind not in (None, "success")
        if isinstance(said, str):
            fields["tool_output"] = said
            failed = failed or bool(_EXIT_CODE.search(said))
        fields["tool_error"] = bool(fields["tool_error"]) or failed
    if event == "Stop" and fields["last_message"] is None:
        fields["last_message"] = _last_answer(
            payload, fields["transcript_path"], fields["session_id"]
        )
    return fields


def _last_answer(payload: Mapping[str, object], path: object, session_id: object) -> str | None:
    """Return the last answer in the tail of the session's own log, or None.

    Only a log that lies where the client keeps it is opened: `<session id>/events.jsonl`. The
    client writes it beside its hooks, so a stop may be told before the log says so, or is there
    at all: an answer counts once the stop itself stands below it, else it may be an older one.
    """
    if not isinstance(path, str) or not path.endswith(f"/session-state/{session_id}/events.jsonl"):
        return None
    stop = _moment(payload.get("timestamp"))
    until = time.monotonic() + LATE
    while True:
        before, found, _ = tail(path, LOG_TAIL).rpartition(stop)
        if found:
            return _answer_in(before)
        if time.monotonic() > until:
            return None
        time.sleep(LOOK_AGAIN)


def _moment(told: object) -> bytes:
    """Return a stop's time as the log's line on the hook has it: in milliseconds since 1970."""
    try:
        at = datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        at = None
    return b'"timestamp":%d' % round(at.timestamp() * 1000) if at else b"\n"


def _answer_in(log: bytes) -> str | None:
    """Return the answer after the last prompt."""
    for line in reversed(log.split(b"\n")):
        if b'"user.message"' in line[:64]:
            return None
        if b'"assistant.message"' in line[:64]:
            said = _content(line)
            if said:
                return said
    return None


def _content(line: bytes) -> str | None:
    try:
        data = json.loads(line).get("data")
    except (ValueError, AttributeError, RecursionError):
        return None
    said = data.get("content") if isinstance(data, dict) else None
    return said if isinstance(said, str) and said else None


def render(event_name: str, result: "HookResult") -> bytes:
    """Return the exact stdout for an answer."""
    return envelope("copilot", event_name, context=result.context, notice=result.notice)
