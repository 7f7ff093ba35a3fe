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
# Seconds that a stop waits for its answer in the log, only while the last prompt has none there.
LATE, LOOK_AGAIN = 0.3, 0.02
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
        fields["last_message"] = _last_answer(fields["transcript_path"], fields["session_id"])
    return fields


def _last_answer(path: object, session_id: object) -> str | None:
    """Return the last answer in the tail of the session's own log, or None.

    Only a log that lies where the client keeps it is opened: `<session id>/events.jsonl`. The
    client writes it beside its hooks, so a stop may be told before its answer stands there.
    """
    if not isinstance(path, str) or not path.endswith(f"/session-state/{session_id}/events.jsonl"):
        return None
    until = time.monotonic() + LATE
    while True:
        said, waiting = _answer_in(tail(path, LOG_TAIL))
        if not waiting or time.monotonic() > until:
            return said
        time.sleep(LOOK_AGAIN)


def _answer_in(log: bytes) -> tuple[str | None, bool]:
    """Return the answer after the last prompt, and whether the prompt still stands without one."""
    for line in reversed(log.split(b"\n")):
        if b'"user.message"' in line[:64]:
            return None, True
        if b'"assistant.message"' in line[:64]:
            said = _content(line)
            if said:
                return said, False
    return None, False


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
