"""Any other program that can run a command: `custom:NAME`, and names nobody has told us of.

README documents the keys and the answer. Beside them the spellings of other clients are read
(camel case, Cursor's), so that most hook systems need no translation.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mkg_hooks.clients import claude, envelope, first, text

if TYPE_CHECKING:
    from mkg_hooks.payload import HookResult

# field -> the keys that may carry it, the first present one wins.
TEXTS = {
    "session_id": ("session_id", "sessionId", "conversation_id"),
    "transcript_path": ("transcript_path", "transcriptPath"),
    "tool_name": ("tool_name", "toolName"),
    "tool_use_id": ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId"),
    "turn_id": ("turn_id", "prompt_id", "turnId", "generation_id"),
    "agent_id": ("agent_id", "agentId"),
    "agent_type": ("agent_type", "agentType"),
    "agent_transcript_path": ("agent_transcript_path",),
    "last_message": ("last_assistant_message", "lastAssistantMessage", "prompt_response"),
    "model": ("model",),
    "permission_mode": ("permission_mode", "permissionMode"),
    "message": ("message",),
    "error": ("error",),
}
TOOL_INPUT = ("tool_input", "toolInput", "tool_args", "toolArgs")
TOOL_OUTPUT = ("tool_response", "tool_output", "tool_result", "toolResult")
# A mail address is never stored (CL-27), also not as the rest of an event nobody knows.
ADDRESSES = frozenset({"user_email", "userEmail", "email"})
CONSUMED = (
    claude.CONSUMED
    | {key for keys in (*TEXTS.values(), TOOL_INPUT, TOOL_OUTPUT) for key in keys}
    | {"hookEventName", "stopHookActive", "workspace_roots"}
    | ADDRESSES
)
canonical = claude.canonical
natural = claude.natural


def normalise(event: str, payload: dict[str, Any], env: Mapping[str, str]) -> dict[str, object]:
    """Return the event's fields, raw: intake cuts and redacts them."""
    prompting = event == "UserPromptSubmit"
    fields: dict[str, object] = {field: text(payload, *keys) for field, keys in TEXTS.items()}
    output = first(payload, *TOOL_OUTPUT)
    stop_active = (payload.get("stop_hook_active"), payload.get("stopHookActive"))
    return {
        **fields,
        "cwd": text(payload, "cwd") or _first_root(payload) or env.get("CLAUDE_PROJECT_DIR"),
        "prompt": text(payload, "prompt") if prompting else None,
        "prompt_source": text(payload, "source") if prompting else None,
        "source": None if prompting else text(payload, "source", "reason", "trigger"),
        "tool_input": first(payload, *TOOL_INPUT),
        "tool_output": output,
        "stop_active": True in stop_active,
        "entrypoint": None,
        "is_interrupt": payload.get("is_interrupt") is True,
        "tool_error": event == "PostToolUseFailure" or claude.failed(output),
    }


def _first_root(payload: Mapping[str, Any]) -> str | None:
    roots = payload.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None


def render(event_name: str, result: "HookResult") -> bytes:
    """Return the exact stdout for an answer."""
    return envelope("custom:any", event_name, context=result.context, notice=result.notice)
