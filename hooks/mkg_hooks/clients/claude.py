"""Claude Code: its payloads (clients of version 2.1) and the form of its answers."""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mkg_hooks.clients import envelope, first, text

if TYPE_CHECKING:
    from mkg_hooks.payload import HookResult

TOOL_EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "PermissionDenied",
)
# Keys whose values land in a field; the rest of a payload counts for its identity only.
CONSUMED = frozenset(
    {
        "session_id",
        "transcript_path",
        "cwd",
        "hook_event_name",
        "prompt",
        "source",
        "reason",
        "trigger",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "prompt_id",
        "turn_id",
        "agent_id",
        "agent_type",
        "agent_transcript_path",
        "last_assistant_message",
        "stop_hook_active",
        "model",
        "permission_mode",
        "message",
        "error",
        "is_interrupt",
    }
)


def canonical(event: str, payload: Mapping[str, object]) -> str:
    """Return the name an event has here: this client's own."""
    return event


def normalise(event: str, payload: dict[str, Any], env: Mapping[str, str]) -> dict[str, object]:
    """Return the event's fields, raw: intake cuts and redacts them."""
    prompting = event == "UserPromptSubmit"
    fields: dict[str, object] = {
        "session_id": text(payload, "session_id"),
        "cwd": text(payload, "cwd") or env.get("CLAUDE_PROJECT_DIR"),
        "transcript_path": text(payload, "transcript_path"),
        "prompt": text(payload, "prompt") if prompting else None,
        "prompt_source": text(payload, "source") if prompting else None,
        "source": None if prompting else text(payload, "source", "reason", "trigger"),
        "tool_name": text(payload, "tool_name"),
        "tool_input": first(payload, "tool_input"),
        "tool_output": first(payload, "tool_response"),
        "tool_use_id": text(payload, "tool_use_id"),
        "turn_id": text(payload, "prompt_id", "turn_id"),
        "agent_id": text(payload, "agent_id"),
        "agent_type": text(payload, "agent_type"),
        "agent_transcript_path": text(payload, "agent_transcript_path"),
        "last_message": text(payload, "last_assistant_message"),
        "stop_active": payload.get("stop_hook_active") is True,
        "model": text(payload, "model"),
        "permission_mode": text(payload, "permission_mode"),
        "entrypoint": env.get("CLAUDE_CODE_ENTRYPOINT"),
        "message": text(payload, "message"),
        "error": text(payload, "error"),
        "is_interrupt": payload.get("is_interrupt") is True,
        "tool_error": event == "PostToolUseFailure" or failed(payload.get("tool_response")),
    }
    return fields


def failed(response: Any) -> bool:
    """Say whether a tool's answer calls itself an error."""
    return isinstance(response, dict) and True in (
        response.get("isError"),
        response.get("is_error"),
    )


def natural(event: str, fields: Mapping[str, object]) -> str:
    """Return the id that makes one firing of this event unique in its session, or "".

    A prompt id alone does not do for compactions, notifications and session starts: several of one
    turn may carry equal payloads and still be several.
    """
    if event in TOOL_EVENTS:
        return str(fields.get("tool_use_id") or "")
    if event in ("SubagentStart", "SubagentStop"):
        return str(fields.get("agent_id") or "")
    if event in ("UserPromptSubmit", "Stop", "StopFailure"):
        return str(fields.get("turn_id") or "")
    return ""


def render(event_name: str, result: "HookResult") -> bytes:
    """Return the exact stdout for an answer."""
    return envelope("claude", event_name, context=result.context, notice=result.notice)
