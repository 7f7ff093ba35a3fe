"""Expands the recipes of `tests/cases/*.jsonl`: credentials are made up here, never written out."""

import base64
import json
import random
import re
import string
import zlib

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_LETTERS = string.ascii_letters
_ALPHABETS = {
    "AN": _LETTERS + string.digits,
    "U": _LETTERS + string.digits + "-_",
    "UP": string.ascii_uppercase + string.digits,
    "D": string.digits,
    "HEX": "0123456789abcdef",
    "L": _LETTERS,
    "B32_": string.ascii_uppercase + "234567",
    "BECH": "qpzry9x8gf2tvdw0s3jn54khce6mua7l".upper(),
}
_SIMPLE = re.compile(
    r"\{(?:(?P<kind>AN|UP|U|D|HEX|L|B32_|BECH)(?P<size>\d+)|B64_(?P<padded>\d+)|B64x(?P<lines>\d+)"
    r"|(?P<crc>CRC6)|(?P<jwt>JWT))\}"
)
_WRAPPING = re.compile(r"\{(B64|FULLWIDTH):((?:[^{}]|\{[A-Z0-9_]+\})*)\}")


def expand(template: str, seed: int | str = 0) -> str:
    """Replace every recipe of a template, the same way for the same seed."""
    rng = random.Random(f"{seed}:{template}")
    while wrapped := _WRAPPING.search(template):
        inner = expand(wrapped.group(2), rng.random())
        made = _base64(inner) if wrapped.group(1) == "B64" else _fullwidth(inner)
        template = template[: wrapped.start()] + made + template[wrapped.end() :]
    pieces: list[str] = []
    at = 0
    for match in _SIMPLE.finditer(template):
        pieces.append(template[at : match.start()])
        pieces.append(_make(match, template, "".join(pieces), rng))
        at = match.end()
    return "".join([*pieces, template[at:]])


def _make(match: re.Match[str], template: str, before: str, rng: random.Random) -> str:
    if match["kind"]:
        return _pick(_ALPHABETS[match["kind"]], int(match["size"]), rng)
    if match["padded"]:
        size = int(match["padded"])
        return base64.b64encode(rng.randbytes(size)).decode()[: size - size % 4] + _pick(
            _ALPHABETS["AN"], size % 4, rng
        )
    if match["lines"]:
        # The line break of the recipe is the one that stands next to it.
        escaped = template[: match.start()].endswith("\\n") or template[match.end() :].startswith(
            "\\n"
        )
        lines = [base64.b64encode(rng.randbytes(48)).decode() for _ in range(int(match["lines"]))]
        return ("\\n" if escaped else "\n").join(lines)
    if match["crc"]:
        body = re.search(r"[A-Za-z0-9]*\Z", before)
        return _base62(zlib.crc32(body.group().encode() if body else b""))
    return _jwt(rng)


def _pick(alphabet: str, size: int, rng: random.Random) -> str:
    return "".join(rng.choice(alphabet) for _ in range(size))


def _base62(number: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, 62)
        digits = _BASE62[rest] + digits
    return digits.rjust(6, "0")


def _jwt(rng: random.Random) -> str:
    header = {"alg": "HS256", "typ": "JWT"}
    payload = {"sub": _pick(string.digits, 10, rng), "name": "Some One", "iat": rng.getrandbits(31)}
    parts = [_url64(json.dumps(part).encode()) for part in (header, payload)]
    return ".".join([*parts, _url64(rng.randbytes(32))])


def _url64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
