"""What is told of a payload too large or too deep to parse: who sent it, and no more."""

import re

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
WANTED = ("session_id", "hook_event_name", "prompt_id", "turn_id", "tool_use_id", "agent_id")
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"|[{}\[\]:,]')
# In the tail the depth is unknown, so only the last plain id in front of the end counts.
_TAIL_ID = re.compile(
    rb'"(tool_use_id|prompt_id|turn_id|agent_id|session_id)"\s*:\s*"([A-Za-z0-9._-]{1,128})"'
)


def ids(raw: bytes) -> dict[str, str]:
    """Return the ids and the event name that stand at the top level of a payload.

    The head is read as tokens with their depth, so that a text or a nested object that says
    "session_id" is not believed; both scans are bounded.
    """
    found: dict[str, str] = {}
    depth, key, expecting = 0, b"", False
    for match in _TOKEN.finditer(raw, 0, HEAD_BYTES):
        mark = match[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and mark == b":":
            expecting = True
            continue
        elif depth == 1 and match[1] is not None:
            if expecting and key.decode("ascii", "replace") in WANTED:
                found[key.decode("ascii")] = match[1].decode("utf-8", "replace")
            key = match[1]
        expecting = False
    if len(raw) > HEAD_BYTES:
        for match in _TAIL_ID.finditer(raw, max(len(raw) - TAIL_BYTES, HEAD_BYTES)):
            name = match[1].decode("ascii")
            if name == "tool_use_id" or name not in found:
                found[name] = match[2].decode("ascii")
    return {name: value for name, value in found.items() if value}
