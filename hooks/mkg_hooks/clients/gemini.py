"""Gemini CLI: its payloads (version 0.61) and the form of its answers.

It has event names of its own and no ids of turns or tool calls; its `timestamp` tells one firing
from the next. What a hook added at a start comes back inside the prompt as `<hook_context>`, with
`<` and `>` escaped, so our own block is not recognisable there. It reads stderr as the answer where
stdout is empty, so the launcher says `{}` when there is nothing to say.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mkg_hooks.clients import custom, envelope

if TYPE_CHECKING:
    from mkg_hooks.payload import HookResult

CONSUMED = custom.CONSUMED
EVENTS = {
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
    "BeforeTool": "PreToolUse",
    "AfterTool": "PostToolUse",
    # Not PreCompress: it fires before every request to the model, whether or not anything shrinks.
}
_OWN_NAMES = {
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "PostToolUseFailure": "AfterTool",
}
_HOOK_CONTEXT = re.compile(r"<hook_context>.*?(?:</hook_context>|\Z)", re.DOTALL)
# The client's own lines below what a command printed; a failed command has no other mark.
_EXIT_CODE = re.compile(r"^Exit Code: [1-9]\d*\n(?:Process Group PGID: \d+\s*)?\Z", re.MULTILINE)
_UNTRUSTED = re.compile(r"\A\s*<untrusted_context>\n?(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)


def canonical(event: str, payload: Mapping[str, object]) -> str:
    """Return the name an event has here; a tool call that failed has one of its own."""
    name = EVENTS.get(event, event)
    return "PostToolUseFailure" if name == "PostToolUse" and _error(payload) else name


def own_name(event: str) -> str:
    """Return the client's name of an event that it takes an answer to."""
    return _OWN_NAMES.get(event, event)


def normalise(event: str, payload: dict[str, Any], env: Mapping[str, str]) -> dict[str, object]:
    """Return the event's fields, raw: intake cuts and redacts them."""
    fields = custom.normalise(event, payload, {})
    prompt, response = fields["prompt"], payload.get("tool_response")
    if isinstance(prompt, str):
        fields["prompt"] = _HOOK_CONTEXT.sub("", prompt).strip() or None
    if isinstance(response, dict):
        said = _said(response.get("llmContent"))
        fields["tool_output"] = said if said is not None else response.get("returnDisplay")
        fields["error"] = _error(payload)
        failed = isinstance(said, str) and _EXIT_CODE.search(said)
        fields["tool_error"] = bool(fields["tool_error"] or failed)
    return fields


def _error(payload: Mapping[str, object]) -> str | None:
    """Return what a tool's answer names as its error, or None when it succeeded."""
    response = payload.get("tool_response")
    found = response.get("error") if isinstance(response, dict) else None
    if isinstance(found, dict):
        found = found.get("message") or found.get("type") or "the tool failed"
    return found if isinstance(found, str) and found else None


def _said(content: Any) -> str | None:
    """Return the text of a tool's answer as the model got it, without the client's wrapper."""
    if isinstance(content, list):
        parts = [_said(part) for part in content]
        return "\n".join(part for part in parts if part) or None
    if isinstance(content, dict):
        content = content.get("text")
    if not isinstance(content, str):
        return None
    wrapped = _UNTRUSTED.fullmatch(content)
    return wrapped[1] if wrapped else content


def natural(event: str, fields: Mapping[str, object]) -> str:
    """Return "": no id of this client makes a firing unique; its time is in the payload's hash."""
    return ""


def render(event_name: str, result: "HookResult") -> bytes:
    """Return the exact stdout for an answer."""
    return envelope("gemini", event_name, context=result.context, notice=result.notice)
