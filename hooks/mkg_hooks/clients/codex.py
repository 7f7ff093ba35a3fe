"""Codex CLI: its payloads (version 0.171) and the form of its answers.

It differs from Claude Code where it matters here: `turn_id` for `prompt_id`, a shell tool's answer
is bare text, `transcript_path` may be null, a failed command is an ordinary PostToolUse, a
subagent's own prompt is a UserPromptSubmit with `agent_id`, and any unknown key in an answer makes
it drop the whole.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mkg_hooks.clients import claude, envelope

if TYPE_CHECKING:
    from mkg_hooks.payload import HookResult

CONSUMED = claude.CONSUMED
canonical = claude.canonical
natural = claude.natural


def normalise(event: str, payload: dict[str, Any], env: Mapping[str, str]) -> dict[str, object]:
    """Return the event's fields, raw: intake cuts and redacts them."""
    # Started from within Claude Code, it has that client's variables, which are not its own.
    return claude.normalise(event, payload, {})


def render(event_name: str, result: "HookResult") -> bytes:
    """Return the exact stdout for an answer."""
    return envelope("codex", event_name, context=result.context, notice=result.notice)
