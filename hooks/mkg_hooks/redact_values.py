"""Judges of captured values: is this a secret, or a placeholder, a word or a piece of code?

They see the captured value only, never the text round it: a host called example.com says nothing
about the password next to it.
"""

import re
from itertools import pairwise

from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_shadow import SENTINEL

_PLACEHOLDER = Regex(
    r"(.)\1{5,}|\.\.\.|\u2026|\*{3,}"
    r"|^[<\[{(%].*[>\]})%]$|\$\{|\{\{|\$\(|%\(\w+\)s|^%[sdr]$|<[A-Za-z][A-Za-z _\-]*>|^\{[\w.]*\}"
    r"|^\$(?:env:)?[A-Z_][A-Z0-9_]*$|^\$(?:env:)?[a-z_]+$|^%[A-Z_]+%$|^process\.env|^os\.environ"
    r"|(?:^|[-_ .])(?:your|insert|replace|change|placeholder|redacted|dummy|fake|sample|todo"
    r"|goes|here|masked|hidden|removed|omitted)(?:$|[-_ .])"
    r"|^(?:my|the|some|test|xxx+)[-_ ]|change_?me|^(?:x+|n/a|tbd)$",
    re.IGNORECASE,
)
_SEQUENCES = ("0123456789", "1234567890", "abcdefghij", "abcdef0123456789")
_STOP_WORDS = """
password passwd passphrase passwort secret token apikey api_key key value string str text
null none nil true false undefined optional required bytes int object any char pass pwd user
username admin root default example sample test testing changeme empty hidden private public
basic bearer digest negotiate auth hash salt encrypted plain plaintext unknown missing valid
invalid wrong correct incorrect expired field input prompt login file env environment vault
keyring stdin secrets tokens passwords config settings self this not set unset yes no on off
localhost
"""
_STOP = frozenset(_STOP_WORDS.split())
# Words with a number behind them that are said about secrets more often than used as one.
_ALGORITHM = Regex(
    r"(?:sha|md|base|utf|aes|rsa|hmac|argon|pbkdf|bcrypt|scrypt|ed|x|rs|hs|es|oauth|http|tls|ipv"
    r"|python|int|uint|float|utf)-?_?\d{1,5}\w{0,3}",
    re.IGNORECASE,
)
_WORD_PART = Regex(r"[a-z]{2,}\d{0,3}|[A-Z]{2,}\d{0,3}|[A-Z][a-z]+\d{0,3}|[a-zA-Z]|\d{1,4}")
_CAMEL = Regex(r"(?:[A-Z]{2,8}|[A-Za-z])?[a-z]{2,}(?:[A-Z][a-z]{2,})*\d{0,3}")
_SPLIT = Regex(r"[-_./: ]+")
_CODE = Regex(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|[A-Za-z_][\w.]*[(\[]")
# Capitals inside a word, where no camel case puts them.
_CASE = Regex(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_HARD = Regex(r"[!@#$%^&*+=?~|]")
# Three kinds of characters, or two of letters, within a few places: words do not do that.
_SHORT_RUNS = Regex(
    r"[a-z]\d[a-zA-Z]|\d[a-z]\d|[a-z][A-Z][A-Z][a-z]|[a-z][A-Z][a-z][A-Z]|[A-Z]\d[A-Za-z]|\d[A-Z]\d"
)
_PATH = Regex(r"(?:~|\.{1,2})?/[\w.\-]+(?:/[\w.\-]*)*$|[A-Za-z]:\\")


def placeholder(value: str) -> bool:
    """Whether a value only stands for a secret, as documentation writes it."""
    bare = value.replace(SENTINEL, "")
    if len(bare) < 2 or (len(set(bare)) <= 3 and len(bare) >= 8):
        return True
    return bool(_PLACEHOLDER.search(bare))


def wordlike(value: str) -> bool:
    """Whether a value is words, or an identifier made of words."""
    parts = [part for part in _SPLIT.split(value.strip("-_./: ")) if part]
    return all(_WORD_PART.fullmatch(part) or _CAMEL.fullmatch(part) for part in parts)


def random_looking(value: str) -> bool:
    """Whether kinds of characters change as often as in something a machine made up."""
    kinds = [
        "d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in value
    ]
    changes = sum(a != b for a, b in pairwise(kinds))
    digits, uppers, size = kinds.count("d"), kinds.count("u"), len(value)
    if value.isalnum() and (value == value.lower() or value == value.upper()):
        return digits >= 3 and changes * 6 >= size
    if changes * 10 >= 4 * size or (digits >= 2 and changes * 4 >= size):
        return True
    # Names in camel case change as often, but hold one capital in four or five letters.
    return size >= 16 and changes * 4 >= size and 3 * size <= 10 * uppers <= 7 * size


def odd(value: str) -> bool:
    """Whether a short value is unlike a word: a digit, a hard symbol, capitals in odd places."""
    if any(c.isdigit() for c in value):
        return not _ALGORITHM.fullmatch(value)
    if re.search(r"[\w][!#$^&*][\w!#$^&*]", value):
        return True
    return len(value) >= 8 and not wordlike(value) and len(_CASE.findall(value)) >= 2


def is_token(value: str) -> bool:
    """Judge of tokens with a telling prefix."""
    low = value.lower()
    if "example" in low or placeholder(value) or any(s in low for s in _SEQUENCES[:3]):
        return False
    return not (value.isascii() and (value == low or value.isupper()) and wordlike(value)
                and sum(c.isdigit() for c in value) * 8 < len(value))  # fmt: skip


def is_key(value: str) -> bool:
    """Judge of upper-case keys, where a missing digit says nothing."""
    return not value.endswith("EXAMPLE") and not placeholder(value)


def _made_up(value: str) -> bool:
    return bool(_SHORT_RUNS.search(value)) or len(_CASE.findall(value)) >= 6


def is_mixed(value: str) -> bool:
    """Judge of tokens whose prefix is also a common beginning of names."""
    return is_token(value) and not wordlike(value) and _made_up(value)


def is_any(value: str) -> bool:
    """Judge of values whose place leaves no doubt."""
    return not placeholder(value)


def is_url_password(value: str) -> bool:
    """Judge of the password of a URL."""
    return (
        is_any(value)
        and value.lower() not in _STOP
        and not value.startswith(("$", "%s", "{", "<", "["))
    )


def is_credential(value: str) -> bool:
    """Judge of the value of a JSON key or a header that is named like a secret."""
    bare = value.strip()
    if len(bare) < 4 or bare.lower() in _STOP or placeholder(bare):
        return False
    return not _PATH.match(bare)


def is_quoted(value: str) -> bool:
    """Judge of a quoted value behind a name like password."""
    low = value.lower()
    if len(value) < 6 or not is_credential(value) or "example" in low or not odd(value):
        return False
    if low.startswith(("http://", "https://", "$", "%", "--")) or _ALGORITHM.fullmatch(value):
        return False
    if " " in value or _CODE.match(value):
        return " " not in value and bool(_HARD.search(value)) and any(c.isdigit() for c in value)
    # One word with a number is what people choose; several are the name of something.
    return value.isalnum() or bool(_HARD.search(value.rstrip("!?=:"))) or not wordlike(value)


def is_bare(value: str) -> bool:
    """Judge of an unquoted value behind a name like password."""
    return not _CODE.match(value) and is_quoted(value) and not value.isdigit()


def is_env(value: str) -> bool:
    """Judge of NAME=value, where anything that is no placeholder counts."""
    low = value.lower()
    if len(value) < 6 or not is_credential(value) or "example" in low or _CODE.match(value):
        return False
    return not value.isdigit() or len(value) >= 8


def is_secret(value: str) -> bool:
    """Judge of a value behind a name like token or secret, which code is full of."""
    if len(value) < 12 or not is_quoted(value):
        return False
    return random_looking(value) or (not wordlike(value) and sum(c.isdigit() for c in value) >= 3)


def is_prose(value: str) -> bool:
    """Judge of what follows `the password is`."""
    bare = value.rstrip(".,;:)")
    return is_quoted(bare) and not _CODE.match(bare) and not bare.isdigit()


def is_header(value: str) -> bool:
    """Judge of the value of an authorization header."""
    return is_credential(value) and not wordlike(value) and not _CODE.match(value)


def is_cookie(value: str) -> bool:
    """Judge of a cookie header: one long random part is a session."""
    return any(
        len(p) >= 16 and random_looking(p) and not placeholder(p) for p in re.split("[;=& ]", value)
    )


def is_account(value: str) -> bool:
    """Judge of the password in `-u user:password`."""
    return is_credential(value) and not value.isdigit() and not _PATH.match(value)


def is_argument(value: str) -> bool:
    """Judge of the value of a command-line option named like a secret."""
    return not value.startswith("-") and is_env(value) and odd(value)


JUDGES = {
    "header": is_header,
    "cookie": is_cookie,
    "account": is_account,
    "argument": is_argument,
    "token": is_token,
    "key": is_key,
    "mixed": is_mixed,
    "mixed-lower": is_mixed,
    "any": is_any,
    "url": is_url_password,
    "credential": is_credential,
    "quoted": is_quoted,
    "bare": is_bare,
    "env": is_env,
    "secret": is_secret,
    "prose": is_prose,
}
