"""What is kept of a tool call or a text: bounded, not our own words, nothing of secret files."""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import json
import re
from typing import Any

from mkg_hooks import redact
from mkg_hooks.surrogates import clean

OUTPUT_BYTES = 2048
TEXT_CHARACTERS = 256 * 1024
INPUT_CHARACTERS = 64 * 1024
INPUT_STRING = 16 * 1024
SHORT = 400
# A text is redacted in a window wider than what is kept: a secret that the cut would halve is whole
# in the window, and the margin at a cut window's end is never kept.
MARGIN = 8 * 1024
PATH_KEYS = ("file_path", "notebook_path", "path", "filename")
_BODY_KEYS = ("content", "old_string", "new_string", "edits", "new_source", "patch", "input")
_OWN_BLOCK = re.compile(
    r"<mkg-memory\s+nonce=(?:\\?[\"'])?([A-Za-z0-9_-]{4,64})(?:\\?[\"'])?\s*>"
    r"(?:.*?</mkg-memory\s+nonce=(?:\\?[\"'])?\1(?:\\?[\"'])?\s*>|.*\Z)",
    re.DOTALL,
)


def without_own_words(text: str) -> str:
    """Return the text without the blocks this memory injected, or it would learn its own output.

    An unclosed block reaches to the end: what cut it off cut our words, not the user's.
    """
    if "<mkg-memory" not in text:
        return text
    return _OWN_BLOCK.sub("", text).strip("\n")


def kept_text(text: str, limit: int, known: list[str]) -> tuple[str, bool]:
    """Return (redacted text of at most `limit` characters, whether something was cut)."""
    window = text[: limit + 2 * MARGIN]
    safe, _ = redact.redact(window, known)
    if len(window) < len(text):
        safe = safe[: max(len(safe) - MARGIN, 0)]
    return safe[:limit], len(window) < len(text) or len(safe) > limit


def kept_bytes(text: str, limit: int, known: list[str]) -> tuple[str, bool]:
    """Return (redacted text of at most `limit` bytes of UTF-8, whether something was cut)."""
    safe, cut = kept_text(text, limit, known)
    encoded = safe.encode("utf-8")
    return encoded[:limit].decode("utf-8", "ignore"), cut or len(encoded) > limit


def output_text(response: Any) -> str:
    """Return what a tool answered as text, whatever shape the client gives it."""
    if response is None:
        return ""
    if isinstance(response, str):
        return response
    if isinstance(response, dict):
        if isinstance(response.get("stdout"), str):
            streams = (response["stdout"], response.get("stderr"))
            return "\n".join(part for part in streams if isinstance(part, str) and part)
        if isinstance(response.get("content"), (list, str)):
            return output_text(response["content"])
    if isinstance(response, list) and response and all(_is_text_block(item) for item in response):
        return "\n".join(str(item["text"]) for item in response)
    return json.dumps(_without_data(response), ensure_ascii=False)


def _is_text_block(item: Any) -> bool:
    return (
        isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)
    )


def _without_data(value: Any, depth: int = 50) -> Any:
    """Return a value with encoded images and documents replaced by their length."""
    if depth <= 0:
        return None
    if isinstance(value, list):
        return [_without_data(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {
            k: f"[{len(v)} characters]"
            if k in ("base64", "data") and isinstance(v, str) and len(v) > 256
            else _without_data(v, depth - 1)
            for k, v in value.items()
        }
    return value


def input_text(tool_input: Any, known: list[str]) -> tuple[str | None, bool]:
    """Return (the call's arguments as redacted JSON text, whether something was cut)."""
    if tool_input is None:
        return None, False
    cut = [False]
    shortened = _shortened(tool_input, known, cut)
    text = json.dumps(redact.redact_tree(shortened, known), ensure_ascii=False, sort_keys=True)
    if len(text) <= INPUT_CHARACTERS:
        return text, cut[0]
    kept: dict[str, Any] = {"not_kept": "too large", "characters": len(text)}
    if isinstance(shortened, dict):
        brief = {k: v for k, v in shortened.items() if isinstance(v, str) and len(v) <= SHORT}
        masked: Any = redact.redact_tree(dict(list(brief.items())[:32]), known)
        kept.update(masked)
    return json.dumps(kept, ensure_ascii=False, sort_keys=True)[:INPUT_CHARACTERS], True


def _shortened(value: Any, known: list[str], cut: list[bool], depth: int = 50) -> Any:
    """Return a value with long texts redacted and cut, and depth bounded."""
    if isinstance(value, str) and len(value) > INPUT_STRING:
        cut[0] = True
        return kept_text(value, INPUT_STRING, known)[0]
    if isinstance(value, (dict, list)) and depth <= 0:
        cut[0] = True
        return None
    if isinstance(value, list):
        return [_shortened(item, known, cut, depth - 1) for item in value]
    if isinstance(value, dict):
        return {k: _shortened(v, known, cut, depth - 1) for k, v in value.items()}
    return value


def secret_source(tool_input: Any) -> str | None:
    """Return what names the sensitive file or environment a tool call shows, or None."""
    if not isinstance(tool_input, dict):
        return None
    for key in PATH_KEYS:
        path = tool_input.get(key)
        if isinstance(path, str) and redact.sensitive_path(path):
            return path
    command = tool_input.get("command") or tool_input.get("cmd")
    if isinstance(command, list):
        command = " ".join(map(str, command))
    if isinstance(command, str) and redact.command_reads_sensitive(command):
        return "command"
    return None


def withheld(path: str, body: str, hmac_key: bytes | None, known: list[str]) -> str:
    """Return what stands for the content of a sensitive file: path, size, keyed digest."""
    encoded, digest = body.encode("utf-8"), ""
    if hmac_key:
        import hmac  # few events need it

        digest = hmac.new(hmac_key, encoded, "sha256").hexdigest()
    shown, _ = redact.redact(path, known)
    return json.dumps(redact.not_captured(shown, len(encoded), digest), ensure_ascii=False)


def without_bodies(tool_input: Any) -> Any:
    """Return a file tool's arguments without the text they carry."""
    if not isinstance(tool_input, dict):
        return tool_input
    return {k: "[not captured]" if k in _BODY_KEYS else v for k, v in tool_input.items()}


def short(value: Any) -> str | None:
    """Return a short, clean text or None."""
    return clean(value)[:SHORT] if isinstance(value, str) and value else None
