"""One adapter per agent client, and the one form in which we speak to them.

Codex drops an answer with an unknown key, Claude one whose event name is missing: so an envelope
holds `hookSpecificOutput` with exactly two keys, or `systemMessage`, or both, and nothing else.
"""

import json
from collections.abc import Mapping
from types import ModuleType

from mkg_hooks.surrogates import clean

CONTEXT_EVENTS = {
    "claude": frozenset(
        {
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "SubagentStart",
        }
    ),
    "codex": frozenset(
        {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}
    ),
}
NOTICE_EVENTS = frozenset({"SessionStart", "UserPromptSubmit"})
CONTEXT_CHARACTERS = 9000
# Codex counts a token per four bytes and spills more than about 2,500 to a world-readable file.
CODEX_BYTES = 10_000
NOTICE_CHARACTERS = 400


def adapter(client: str) -> ModuleType | None:
    """Return the module that reads a client's payloads, or None for a client we do not know."""
    if client == "claude":
        from mkg_hooks.clients import claude

        return claude
    if client == "codex":
        from mkg_hooks.clients import codex

        return codex
    return None


def takes_notice(client: str, event: str) -> bool:
    """Say whether a client shows its user a line at this event."""
    return client in CONTEXT_EVENTS and event in NOTICE_EVENTS


def fits(client: str, context: str) -> bool:
    """Say whether a client takes this much context without writing it to a file of its own."""
    if len(context.encode("utf-16-le")) // 2 > CONTEXT_CHARACTERS:
        return False
    return client != "codex" or len(context.encode("utf-8")) <= CODEX_BYTES


def envelope(client: str, event: str, *, context: str, notice: str) -> bytes:
    """Return the exact stdout for an answer; b"" when this client and event take none.

    Context that does not fit is dropped: the caller cuts at an item's boundary, and half of a
    sentence or of a JSON string is worse than nothing.
    """
    context = clean(context)
    answer: dict[str, object] = {}
    if notice and takes_notice(client, event):
        answer["systemMessage"] = " ".join(clean(notice).split())[:NOTICE_CHARACTERS]
    if context.strip() and event in CONTEXT_EVENTS.get(client, ()) and fits(client, context):
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return json.dumps(answer).encode("ascii") if answer else b""


def first(payload: Mapping[str, object], *names: str) -> object:
    """Return the first present value; empty text, null and empty lists count as absent."""
    for name in names:
        value = payload.get(name)
        if value not in (None, "", []):
            return value
    return None


def text(payload: Mapping[str, object], *names: str) -> str | None:
    """Return the first present value when it is text."""
    value = first(payload, *names)
    return value if isinstance(value, str) else None
