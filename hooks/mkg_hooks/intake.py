"""From a client's bytes to one safe event: decode, normalise, leave out, redact, name.

Bad input has one defined end each: bytes that are no JSON object give nothing; a payload over
16 MiB or nested past the parser gives its ids, and of the former length and hash; lone surrogates
and NULs become U+FFFD; NaN and infinities become null; integers past 18 digits become text.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import datetime
import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mkg_hooks import captured, clients, consent, redact, salvage
from mkg_hooks.surrogates import clean_tree

if TYPE_CHECKING:
    from mkg_hooks.payload import HookEvent

LARGEST = 16 * 1024 * 1024
EXTRA_CHARACTERS = 2048
PATH_CHARACTERS = 4096
NUMBER_CHARACTERS = 64
_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
# Ids of the clients' own making, and words without a digit: no rule of the redactor fits them.
_MADE_ID = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:toolu|call|agent)_[A-Za-z0-9]{1,40}|[a-z0-9]{1,20}"
)
_PLAIN_WORD = re.compile(r"[A-Za-z_ .:-]{1,64}")
_ESCAPED = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
_IDS = ("session_id", "tool_use_id", "turn_id", "agent_id")
_SHORT = (
    "prompt_source",
    "tool_name",
    "agent_type",
    "source",
    "model",
    "permission_mode",
    "entrypoint",
)
_PATHS = ("cwd", "transcript_path", "agent_transcript_path")
_TOLD = frozenset(
    {"prompt", "last_message", "error", "message", "tool_input", "tool_output", "raw_sha256"}
)
_TEXTS = ("prompt", "last_message", "error", "message")
EVENT_KEYS = ("hook_event_name", "hookEventName")
KNOWN_EVENTS = frozenset(
    {
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "PermissionDenied",
        "Notification",
        "Stop",
        "StopFailure",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
    }
)


def accept(
    client: str,
    event: str,
    raw: bytes,
    env: Mapping[str, str],
    *,
    hmac_key: bytes | None,
    received_at: str,
) -> "HookEvent | None":
    """Return the HookEvent of a payload, or None when there is nothing to store."""
    from mkg_hooks.payload import from_record

    record = read(client, event, raw, env, hmac_key=hmac_key, received_at=received_at)
    return None if record is None else from_record(record)


def read(
    client: str,
    event: str,
    raw: bytes,
    env: Mapping[str, str],
    *,
    hmac_key: bytes | None,
    received_at: str,
) -> dict[str, object] | None:
    """Return the spool record of a payload, or None; like accept, without the event's class."""
    size = _declared_size(raw, env)
    record: dict[str, object] = {
        "v": 1,
        "kind": "event",
        "client": client,
        "received_at": received_at,
    }
    payload: Any = None
    if size <= LARGEST:
        try:
            payload = parse(raw)
        except RecursionError:
            return {**record, **_salvaged(client, event, raw, size)}
        if not isinstance(payload, dict) or not payload:
            return None
    else:
        digest = env.get("mkg.raw_sha256") or hashlib.sha256(raw).hexdigest()
        return {**record, **_salvaged(client, event, raw, size), "raw_sha256": digest}
    level = _level(env, payload)
    if level == consent.OFF:
        return None
    known = redact.known_values(env)
    fields, extra = _fields(client, event, payload, env, known, hmac_key)
    if level == consent.METADATA:
        # Names, sizes and exit codes; no hash of a text that is not kept either.
        fields, extra = {k: v for k, v in fields.items() if k not in _TOLD}, ""
    record.update({k: v for k, v in fields.items() if v is not None})
    if record["name"] not in KNOWN_EVENTS and extra:
        record.setdefault("message", extra)
    record["raw_bytes"] = size
    record["event_key"] = _key(record, extra)
    return record


def _level(env: Mapping[str, str], payload: dict[str, Any]) -> str:
    """Return what the launcher and the session's folder allow, the strictest of both."""
    told = (env.get("mkg.capture") or "").encode("utf-8", "replace")
    folder = clients.text(payload, "cwd") or ""
    return consent.verdict(None, [folder.encode("utf-8", "surrogateescape")], (told,))[0]


def parse(raw: bytes) -> Any:
    """Return the JSON value of a payload, cleaned; None when it is not JSON.

    Raises RecursionError when it is nested deeper than the parser goes.
    """
    text = raw.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        value = json.loads(
            text,
            strict=False,
            parse_constant=lambda name: None,
            parse_int=_integer,
            parse_float=_real,
        )
    except ValueError:
        return None
    return clean_tree(value) if _ESCAPED.search(raw) or b"\0" in raw else value


def _integer(digits: str) -> object:
    return int(digits) if len(digits) <= 18 else digits[:NUMBER_CHARACTERS]


def _real(digits: str) -> object:
    value = float(digits)
    return value if value - value == 0 else None


def stamp(sent_at: str | None, now: float) -> str:
    """Return a time in ISO form (UTC, microseconds): the launcher's clock, when it is sane."""
    try:
        seconds = float(sent_at or "")
    except ValueError:
        seconds = now
    if not abs(seconds - now) < 60.0:
        seconds = now
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def load_key(path: str) -> bytes | None:
    """Return the local key for keyed digests, or None when it is not a private file of ours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return None
        return os.read(fd, 4096).strip() or None
    finally:
        os.close(fd)


def safe_id(value: object, known: list[str]) -> str | None:
    """Return an id that may name files and nodes: itself, or a hash of it when it is unfit."""
    if not isinstance(value, str) or not value:
        return None
    if _ID.fullmatch(value) and (
        _MADE_ID.fullmatch(value) or redact.redact(value, known)[0] == value
    ):
        return value
    return "h-" + hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:32]


def _declared_size(raw: bytes, env: Mapping[str, str]) -> int:
    declared = env.get("mkg.raw_bytes", "")
    return max(len(raw), int(declared)) if declared.isdecimal() and len(declared) < 16 else len(raw)


def _salvaged(client: str, event: str, raw: bytes, size: int) -> dict[str, object]:
    found = salvage.ids(raw)
    named = event if event != "-" else found.get("hook_event_name", "-")
    fields: dict[str, object] = {
        "name": captured.short(clients.adapter(client).canonical(named, {})) or "-",
        "session_id": safe_id(found.get("session_id"), []),
        "turn_id": safe_id(found.get("prompt_id") or found.get("turn_id"), []),
        "tool_use_id": safe_id(found.get("tool_use_id"), []),
        "agent_id": safe_id(found.get("agent_id"), []),
        "truncated": True,
        "raw_bytes": size,
    }
    fields = {k: v for k, v in fields.items() if v is not None}
    fields["natural_key"] = bool(_natural(client, str(fields["name"]), fields))
    fields["event_key"] = _key({**fields, "client": client}, "")
    return fields


def _natural(client: str, name: str, fields: Mapping[str, object]) -> str:
    return clients.adapter(client).natural(name, fields)


def _fields(
    client: str,
    event: str,
    payload: dict[str, Any],
    env: Mapping[str, str],
    known: list[str],
    hmac_key: bytes | None,
) -> tuple[dict[str, object], str]:
    """Return (the event's fields without anything unsafe, the rest of the payload as text)."""
    adapter = clients.adapter(client)
    named = event if event != "-" else clients.text(payload, *EVENT_KEYS) or "-"
    name = adapter.canonical(named, payload)
    got = adapter.normalise(name, payload, env)
    fields: dict[str, object] = {"name": captured.short(name) or "-", "truncated": False}
    for field in _IDS:
        fields[field] = safe_id(got.get(field), known)
    for field in _SHORT:
        fields[field] = _word(got.get(field), known)
    for field in ("stop_active", "is_interrupt", "tool_error"):
        fields[field] = bool(got.get(field))
    fields.update(_paths(got, known))
    for field in _TEXTS:
        fields[field] = _text(fields, got.get(field), captured.TEXT_CHARACTERS, known)
    _tool(fields, got, known, hmac_key)
    fields["natural_key"] = bool(_natural(client, name, fields))
    rest = {k: v for k, v in payload.items() if k not in adapter.CONSUMED}
    extra, _ = captured.input_text(rest or None, known)
    return fields, (extra or "")[:EXTRA_CHARACTERS]


def _word(value: object, known: list[str]) -> str | None:
    """Return a name or a kind, short and redacted."""
    word = captured.short(value)
    if word is None or (_PLAIN_WORD.fullmatch(word) and not any(k in word for k in known)):
        return word
    return redact.redact(word, known)[0][: captured.SHORT]


def _paths(got: Mapping[str, Any], known: list[str]) -> dict[str, str]:
    """Return the paths, redacted in one go: the redactor's price is per call."""
    told = {field: got.get(field) for field in _PATHS}
    paths = {k: v[:PATH_CHARACTERS] for k, v in told.items() if isinstance(v, str) and v}
    joined = "\n".join(paths.values())
    safe = redact.redact(joined, known)[0] if joined else ""
    if safe == joined:
        return paths
    return {field: redact.redact(value, known)[0] for field, value in paths.items()}


def _text(fields: dict[str, object], value: object, limit: int, known: list[str]) -> str | None:
    """Return one text field, ours taken out and redacted; notes in `fields` when it was cut."""
    if not isinstance(value, str):
        return None
    text, cut = captured.kept_text(captured.without_own_words(value), limit, known)
    fields["truncated"] = bool(fields["truncated"] or cut)
    return text or None


def _tool(
    fields: dict[str, object], got: Mapping[str, Any], known: list[str], hmac_key: bytes | None
) -> None:
    """Fill in what is kept of a tool call; of a sensitive file path, size and keyed digest."""
    tool_input = got.get("tool_input")
    if isinstance(tool_input, str):
        # Some clients send the arguments as JSON text.
        parsed = parse(tool_input.encode("utf-8", "replace"))
        tool_input = parsed if isinstance(parsed, (dict, list)) else tool_input
    output = captured.output_text(got.get("tool_output"))
    fields["tool_output_bytes"] = len(output.encode("utf-8", "replace"))
    secret = captured.secret_source(tool_input)
    if secret is not None:
        tool_input = captured.without_bodies(tool_input)
        if output:
            fields["tool_output"] = captured.withheld(secret, output, hmac_key, known)
        if fields.get("error"):
            # A failed command's error carries what it printed before.
            fields["error"] = captured.withheld(secret, str(got.get("error")), hmac_key, known)
    elif output:
        shown = captured.without_own_words(output)
        fields["tool_output"], cut = captured.kept_bytes(shown, captured.OUTPUT_BYTES, known)
        fields["truncated"] = bool(fields["truncated"] or cut)
    text, cut = captured.input_text(tool_input, known)
    fields["tool_input"] = text
    fields["truncated"] = bool(fields["truncated"] or cut)


def _key(record: Mapping[str, object], extra: str) -> str:
    """Return `{client}:{session}:{event}:{natural}:{hash of the redacted payload}`."""
    left_out = ("received_at", "event_key", "raw_bytes", "v", "kind")
    told = {k: v for k, v in record.items() if k not in left_out}
    body = json.dumps([told, extra], sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")
    natural = _natural(str(record["client"]), str(record["name"]), record)
    parts = (
        record["client"],
        record.get("session_id") or "-",
        record["name"],
        natural,
        hashlib.sha256(body).hexdigest()[:16],
    )
    return ":".join(map(str, parts))
