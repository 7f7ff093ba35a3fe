"""One adapter per agent client, and the one form in which we speak to each of them.

An adapter has `canonical(event, payload)`, the name under which an event is known here (Claude
Code's), `normalise(event, payload, env)`, its fields, `natural(event, fields)`, the id that makes
one firing unique, and `CONSUMED`, the payload's keys that land in a field.

Codex drops an answer with an unknown key, Claude one whose event name is missing: so an envelope
holds exactly what its client's table lists, and nothing else.
"""

import importlib
import json
import re
from collections.abc import Mapping
from types import ModuleType

from mkg_hooks.surrogates import clean

ADAPTERS = ("claude", "codex", "gemini", "copilot")
OTHER = "custom"
_CUSTOM = re.compile(r"custom:[A-Za-z0-9_.-]{1,56}")
_START_AND_PROMPT = frozenset({"SessionStart", "UserPromptSubmit"})
_CODEX = _START_AND_PROMPT | {"PreToolUse", "PostToolUse", "SubagentStart"}
CONTEXT_EVENTS: dict[str, frozenset[str]] = {
    "claude": _CODEX | {"PostToolUseFailure"},
    "codex": _CODEX,
    "gemini": _START_AND_PROMPT | {"PostToolUse", "PostToolUseFailure"},
    "copilot": _START_AND_PROMPT | {"PostToolUse"},
    OTHER: _START_AND_PROMPT,
}
# Where a client shows its user a line; the launcher has the same list for what it says by itself.
NOTICE_EVENTS: dict[str, frozenset[str]] = {
    "claude": _START_AND_PROMPT,
    "codex": _START_AND_PROMPT,
    OTHER: _START_AND_PROMPT,
}
CONTEXT_CHARACTERS = 9000
# Codex counts a token per four bytes and spills more than about 2,500 to a world-readable file.
CODEX_BYTES = 10_000
NOTICE_CHARACTERS = 400


def family(client: str) -> str | None:
    """Return which form a client takes, or None for a name that nobody has told us to answer."""
    if client in ADAPTERS:
        return client
    return OTHER if _CUSTOM.fullmatch(client) else None


def adapter(client: str) -> ModuleType:
    """Return the module that reads a client's payloads; an unknown client gets the widest reader.

    Only the one that is needed is loaded: without a worker this happens inside the hook.
    """
    name = client if client in ADAPTERS else OTHER
    return importlib.import_module(f"mkg_hooks.clients.{name}")


def takes_notice(client: str, event: str) -> bool:
    """Say whether a client shows its user a line at this event."""
    return event in NOTICE_EVENTS.get(family(client) or "", ())


def fits(client: str, context: str) -> bool:
    """Say whether a client takes this much context without writing it to a file of its own."""
    if len(context.encode("utf-16-le")) // 2 > CONTEXT_CHARACTERS:
        return False
    return client != "codex" or len(context.encode("utf-8")) <= CODEX_BYTES


def envelope(client: str, event: str, *, context: str, notice: str) -> bytes:
    """Return the exact stdout for an answer to an event; b"" where the client takes none.

    `event` is the name known here. Context that does not fit is dropped: the caller cuts at an
    item's boundary, and half of a sentence or of a JSON string is worse than nothing.
    """
    context, form = clean(context), family(client) or ""
    answer: dict[str, object] = {}
    if notice and takes_notice(client, event):
        answer["systemMessage"] = " ".join(clean(notice).split())[:NOTICE_CHARACTERS]
    if context.strip() and event in CONTEXT_EVENTS.get(form, ()) and fits(client, context):
        if form == "copilot":
            answer["additionalContext"] = context
        else:
            told = _own_name(form, event)
            answer["hookSpecificOutput"] = {"hookEventName": told, "additionalContext": context}
    return json.dumps(answer).encode("ascii") if answer else b""


def _own_name(form: str, event: str) -> str:
    if form == "gemini":
        from mkg_hooks.clients import gemini

        return gemini.own_name(event)
    return event


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
