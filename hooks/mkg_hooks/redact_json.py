"""Structural redaction: values are masked by the name they are filed under."""

import re
from collections.abc import Callable
from typing import cast

from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_shadow import MARKER
from mkg_hooks.redact_values import is_credential

_MARKED = Regex(MARKER)
_DEPTH = 40
_NODES = 200_000
_PASSWORD = r"password|passwd|passphrase|passcode|passwort|kennwort|userpass|dbpass|pwd"
_SECRET = (
    r"secret|secretkey|token|apikey|accesskey|privatekey|signingkey|encryptionkey|masterkey|authkey"
    r"|sharedkey|accountkey|authorization|cookie|credential|sessionkey|secretaccesskey|pat|sas"
)
_SUFFIX = (
    r"(?:s|confirm|confirmation|again|repeat|old|new|value|plain|text|hash|base64|b64|\d{1,3})?"
)
_SECRET_KEY = Regex(rf"(?:.*)(?:{_PASSWORD}|{_SECRET}){_SUFFIX}")
_PASSWORD_KEY = Regex(rf"(?:.*)(?:{_PASSWORD}){_SUFFIX}")
# Names that end like a secret and are none.
_HARMLESS = Regex(
    r".*(?:token(?:s|count|type|usage|limit)|nexttoken|pagetoken|continuationtoken|nextpagetoken"
    r"|synctoken|secretname|secretid|tokenid)|(?:max|input|output|total|prompt|completion)tokens?"
    r"|pat|.*(?:path|spat|compat|format)|sas|.*[a-z]sas"
)
_FLAG = Regex(r"--?(?:[a-z]+-)?(?:password|passwd|passphrase|pass|token|secret|api-?key)")
_WORD_TOKEN = Regex(r"[A-Za-z]{1,24}|\W{1,8}|[\w ]{1,7}")


def mask(value: object, clean: Callable[[str], str]) -> object:
    """Copy a JSON value with its secrets masked; what lies too deep is dropped, not passed on."""
    return _Walk(clean).visit(value, 0, False)


def secret_key(name: str) -> bool:
    """Whether a JSON key is named like a secret."""
    plain = re.sub(r"[^a-z0-9]", "", name[:200].lower())
    if plain in ("pat", "sas", "cookies"):
        return plain == "cookies"
    return bool(_SECRET_KEY.fullmatch(plain)) and not _HARMLESS.fullmatch(plain)


class _Walk:
    def __init__(self, clean: Callable[[str], str]) -> None:
        self.clean = clean
        self.left = _NODES

    def visit(self, value: object, depth: int, secret: bool) -> object:
        self.left -= 1
        if isinstance(value, str):
            return self.text(value, secret)
        if not isinstance(value, dict | list | tuple):
            return value
        if depth >= _DEPTH or self.left <= 0:
            return "[TRUNCATED]"
        if isinstance(value, dict):
            return self.mapping(cast(dict[object, object], value), depth, secret)
        return self.sequence(list(cast(list[object], value)), depth, secret)

    def text(self, value: str, secret: bool) -> str:
        cleaned = self.clean(value)
        rest = _MARKED.sub("", cleaned).strip() if secret else ""
        return "[REDACTED:named-secret]" if is_credential(rest) else cleaned

    def mapping(
        self, value: dict[object, object], depth: int, secret: bool
    ) -> dict[object, object]:
        masked: dict[object, object] = {}
        named = next(
            (value[k] for k in ("name", "key", "Name", "Key") if isinstance(value.get(k), str)), ""
        )
        for key, item in value.items():
            here = isinstance(key, str) and secret_key(key)
            pair = key in ("value", "Value") and secret_key(str(named))
            label = self.clean(key) if isinstance(key, str) else key
            if (
                here
                and isinstance(item, int)
                and not isinstance(item, bool)
                and self.password(str(key))
            ):
                masked[label] = "[REDACTED:named-secret]"
            elif (
                here
                and isinstance(item, str)
                and self.weak(str(key))
                and _WORD_TOKEN.fullmatch(item)
            ):
                # `token` is also what a parser or a tokenizer calls its words.
                masked[label] = self.text(item, False)
            else:
                masked[label] = self.visit(item, depth + 1, here or pair or secret)
        return masked

    def sequence(self, value: list[object], depth: int, secret: bool) -> list[object]:
        masked: list[object] = []
        before = ""
        for item in value:
            flagged = bool(_FLAG.fullmatch(before)) or (len(value) == 2 and secret_key(before))
            masked.append(self.visit(item, depth + 1, secret or flagged))
            before = item if isinstance(item, str) else ""
        return masked

    def password(self, key: str) -> bool:
        return bool(_PASSWORD_KEY.fullmatch(re.sub(r"[^a-z0-9]", "", key.lower())))

    def weak(self, key: str) -> bool:
        return key.lower() in ("token", "tokens", "cookie", "credential", "pwd")
