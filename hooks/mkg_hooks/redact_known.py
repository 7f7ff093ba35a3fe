"""Values that are known to be secret, and every form in which they may turn up in a text."""

import re
from collections.abc import Iterator, Mapping, Sequence

from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_values import placeholder

_SECRET_NAME = Regex(
    r"PASS(?:WORD|WD|PHRASE|CODE)?(?:_|$)|PASSWORD|PASSWD|PWD$|SECRET|TOKEN(?!IZ)"
    r"|API_?KEY|ACCESS_?KEY"
    r"|PRIVATE_?KEY|_KEY$|^KEY$|CREDENTIAL|(?:^|_)AUTH$|_PAT$|_DSN$|_SAS$|SIGNING|ENCRYPTION",
    re.IGNORECASE,
)
_PLAIN_NAME = Regex(
    r"_(?:FILE|PATH|DIR|SOCK|SOCKET|HOME|COUNT|LIMIT|SIZE|NAME|TYPE|HELPER|BACKEND|ID)$"
    r"|^(?:PWD|OLDPWD)$|MAX_|_TOKENS$|ASKPASS",
    re.IGNORECASE,
)
_USER_INFO = Regex(r"://[^\s/:@]{0,128}:([^\s/@]{1,256})@")
_LEAST = 8
_LEAST_ENCODED = 8
_cache: dict[tuple[str, ...], list[str]] = {}
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def known_values(env: Mapping[str, str]) -> list[str]:
    """The secret values of an environment: of variables named so and of URLs."""
    found: dict[str, None] = {}
    for name, value in env.items():
        for match in _USER_INFO.finditer(value):
            found.update(dict.fromkeys(_worth(_unquoted(match.group(1)))))
            found.update(dict.fromkeys(_worth(match.group(1))))
        if not _SECRET_NAME.search(name) or (_PLAIN_NAME.search(name) and "AWS_ACCESS" not in name):
            continue
        if name.upper().endswith("_AUTH") and "/" in value:
            # NEO4J_AUTH is user/password; the user's name alone is no secret.
            found.update(dict.fromkeys(_worth(value.partition("/")[2])))
            continue
        if "://" not in value:
            found.update(dict.fromkeys(_worth(value.strip())))
    return sorted(found, key=len, reverse=True)


def known_spans(text: str, known: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a known value stands in a text, in any of its forms."""
    key = tuple(known)
    forms = _cache.get(key)
    if forms is None:
        if len(_cache) >= 16:
            _cache.clear()
        unique = {form for value in key if len(value) >= _LEAST for form in _forms(value)}
        forms = _cache[key] = sorted(unique, key=len, reverse=True)
    for form in forms:
        at = text.find(form)
        while at >= 0:
            yield at, at + len(form)
            at = text.find(form, at + len(form))


def _worth(value: str) -> list[str]:
    """The value, if masking it everywhere does no harm: no short, plain or common word."""
    if len(value) < _LEAST or placeholder(value):
        return []
    if value.startswith(("/", "~/", "./")) and re.fullmatch(r"[\w./~ \-]+", value):
        return []
    letters = value.replace("-", "").replace("_", "").replace(" ", "").replace(".", "")
    single = letters.lower() == letters or letters.istitle() or letters.isupper()
    if letters.isalpha() and single and len(value) < 16:
        return []
    return [] if letters.isdigit() and len(letters) < 10 else [value]


def _forms(value: str) -> Iterator[str]:
    yield value
    data = value.encode("utf-8", "surrogatepass")
    quoted = "".join([chr(b) if b in _UNRESERVED else f"%{b:02X}" for b in data])
    yield quoted
    yield quoted.lower() if quoted.lower() != value.lower() else quoted
    yield re.sub("%[0-9A-F]{2}", lambda m: m.group().lower(), quoted)
    yield quoted.replace("%20", "+")
    yield quoted.replace("%2F", "/")
    for ascii_only in (True, False):
        escaped = _json(value, ascii_only)
        yield escaped
        yield escaped.replace("/", "\\/")
        yield _json(escaped, ascii_only)
    yield value.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    yield value.replace("'", "'\\''")
    yield data.hex()
    yield data.hex().upper()
    yield from _base64(data)


def _json(value: str, ascii_only: bool) -> str:
    import json

    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]


def _base64(data: bytes) -> Iterator[str]:
    """The part of the base64 of a longer text that the value alone decides, at each alignment."""
    import binascii

    for shift in range(3):
        whole = binascii.b2a_base64(b"\0" * shift + data, newline=False).decode()
        core = whole[(0, 2, 3)[shift] : (shift + len(data)) * 8 // 6]
        if len(core) >= _LEAST_ENCODED:
            yield core
            yield core.replace("+", "-").replace("/", "_")
    yield binascii.b2a_base64(data, newline=False).decode()


def _unquoted(value: str) -> str:
    return re.sub(
        "(?:%[0-9a-fA-F]{2})+",
        lambda m: bytes.fromhex(m.group().replace("%", "")).decode("utf-8", "replace"),
        value,
    )
