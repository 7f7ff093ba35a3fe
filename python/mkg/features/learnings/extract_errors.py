"""An error and the changed call that worked: what a failed tool call taught."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

RESEMBLES = 0.6
COMPARED = 1000
SIGNATURE = 300

_TRANSIENT = re.compile(
    r"\btimed[ -]?out\b|\b(?:etimedout|esockettimedout)\b|\b(?:request|gateway|connection|connect"
    r"|read|operation|command|"
    r"socket|network|response|lock wait|idle) time-?out\b|\btime-?out (?:error|exceeded|expired"
    r"|reached|occurred|after|while|"
    r"waiting|of \d)|\btime-?outerror\b|\bdeadline exceeded\b|\bexceeded (?:the )?(?:time-?out"
    r"|time limit|deadline)"
    r"|\b429\b|\btoo many requests\b|\brate[ -]?limit(?:ed|s|ing)?\b|\bquota\b|\boverloaded\b"
    r"|\bconnection (?:was )?(?:refused|"
    r"reset|aborted|closed)|\b(?:econnrefused|econnreset|econnaborted|epipe|enotfound|eai_again"
    r"|ehostunreach|enetunreach)\b"
    r"|\bcould(?: not|n't) resolve (?:host|proxy)|\bname or service not known\b|\bname "
    r"resolution\b|\bgetaddrinfo\b|\bnodename "
    r"nor servname\b|\bno such host\b|\bnetwork is unreachable\b|\bbad gateway\b|\bservice "
    r"unavailable\b|\bhttp[/ \d.]* ?50[234]\b"
    r"|\b(?:status|code|error)(?: code)?:? 50[234]\b|\bout of memory\b|\boom(?:-?killed)?\b"
    r"|\bcannot allocate memory\b|\benomem\b"
    r"|\bmemoryerror\b|\bheap out of memory\b|\bno space left\b|\benospc\b|\bdisk (?:is )?full\b"
    r"|\bdisk quota\b"
    r"|\bpermission denied\b|\beacces\b|\beperm\b|\boperation not permitted\b"
    r"|\bkeyboardinterrupt\b|\bsigint\b|\binterrupted by\b"
    r"|\b(?:user|operator) (?:rejected|denied|declined|cancell?ed|interrupted|doesn't want)"
    r"|\brequest (?:was )?aborted\b|"
    r"\b(?:was )?cancell?ed by\b|\[request interrupted",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\b\w*(?:error|exception)\b|\bfailed\b|\bnot found\b|\bno such\b|\bcannot\b|\bcan't\b"
    r"|\bunknown\b|\bunrecognized\b|"
    r"\binvalid\b|\bunexpected\b|\bundefined\b|\bmissing\b|\brequired\b|\bdenied\b|\bfatal\b"
    r"|\bdoes not exist\b|\bassert",
    re.IGNORECASE,
)
_RAISED = re.compile(r"^(?:[a-zA-Z_]\w*\.)*\w*(?:Error|Exception|Exit|Warning)(?::|$)")
_DULL = re.compile(
    r"^\s*(?:Exit code \d+|Traceback \(most recent|[=\-_*#~^\s]+|\s*File \".*|\s+at .*)\s*$"
)
# What a call is for is said in words that differ every time; it is not part of the call.
_WORDS_ABOUT = frozenset({"description", "explanation", "reason", "justification"})


def tool_key(tool_name: str) -> str:
    """Return a tool's own name, without the prefix a client puts before a server's tools."""
    return tool_name.rsplit("__", 1)[-1] if tool_name.startswith("mcp__") else tool_name


def transient(error: str) -> bool:
    """Tell whether an error says more about the moment than about the call."""
    return bool(_TRANSIENT.search(error))


def signature_span(error: str) -> tuple[int, int] | None:
    """Return the offsets of the line that says most about an error, at most 300 characters."""
    first: tuple[int, int] | None = None
    telling: tuple[int, int] | None = None
    raised: tuple[int, int] | None = None
    traceback = "Traceback (most recent" in error
    offset = 0
    for line in error.splitlines(keepends=True):
        body = line.strip()
        start = offset + len(line) - len(line.lstrip())
        offset += len(line)
        if not body or _DULL.match(line):
            continue
        span = (start, start + min(len(body), SIGNATURE))
        first = first or span
        # A traceback names its exception in its last line; other output names the error first.
        if traceback and _RAISED.match(body):
            raised = span
        elif telling is None and _TELLING.search(body):
            telling = span
    return raised or telling or first


def leaves(tool_input: str) -> str:
    """Return the values of a call's input, one a line, cut to what is compared."""
    try:
        value: Any = json.loads(tool_input)
    except (ValueError, RecursionError):
        return tool_input[:COMPARED]
    return "\n".join(_leaf_values(value, 0))[:COMPARED]


def resembles(failed: str, later: str) -> bool:
    """Tell whether at least 60 % of the characters of `failed` survive, in order, in `later`."""
    if not failed:
        return False
    shared = sum((Counter(failed) & Counter(later)).values())
    if shared < RESEMBLES * len(failed):
        return False
    blocks = SequenceMatcher(None, failed, later, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) >= RESEMBLES * len(failed)


def lesson(tool: str, signature: str, failed: str, fixed: str) -> str:
    """Return the sentence that says which call failed, how, and which one worked."""
    went_wrong = f"{tool}: {_one_line(failed, 130)} fails with: {_one_line(signature, 160)}."
    return f"{went_wrong} What worked: {_one_line(fixed, 150)}"


def _one_line(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3].rstrip() + "..."


def _leaf_values(value: Any, depth: int) -> Iterator[str]:
    if depth > 20:
        return
    if isinstance(value, dict):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            if str(key) not in _WORDS_ABOUT:  # pyright: ignore[reportUnknownArgumentType]
                yield from _leaf_values(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _leaf_values(inner, depth + 1)
    elif value is not None:
        yield str(value)
