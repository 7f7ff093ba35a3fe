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
    r"|python|int|uint|float|utf|latin|iso|cp|windows|koi|big)-?_?\d{1,5}\w{0,3}",
    re.IGNORECASE,
)
_WORD_PART = Regex(r"[a-z]{2,}\d{0,3}|[A-Z]{2,}\d{0,3}|[A-Z][a-z]+\d{0,3}|[a-zA-Z]\d?|\d{1,4}")
_CAMEL = Regex(r"(?:[A-Z]{2,8}|[A-Za-z])?[a-z]{2,}(?:[A-Z][a-z]{2,})*\d{0,3}")
# A name of several words, abbreviations in capitals among them.
_NAME_CASE = Regex(r"_{0,2}(?:_?[A-Z]{0,8}[a-z]{2,})+[A-Z]{0,8}")
_NAME_ENDS = ("key", "token", "secret", "password")
_SHORT_HEX = Regex(r"[0-9a-f]{12,19}")
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
    if _NAME_CASE.fullmatch(value):
        return False
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
    digits = sum(c.isdigit() for c in value)
    if value in (value.lower(), value.upper()) and digits * 8 < len(value):
        return False
    return is_token(value) and not wordlike(value) and _made_up(value)


def is_cased(value: str) -> bool:
    """Judge of tokens whose letters are not in the case their vendor gives them."""
    return is_token(value) and not wordlike(value) and any(c.isdigit() for c in value)


def is_vendor(value: str) -> bool:
    """Judge of tokens of many vendors, some with a prefix that code uses too."""
    return is_mixed(value) and sum(c.isdigit() for c in value) >= 2


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
    value = value.rstrip(".,;:)")
    if len(value) < 12 or not is_quoted(value):
        return False
    if value.lower().endswith(_NAME_ENDS):
        return False
    if _SHORT_HEX.fullmatch(value) or _NAME_CASE.fullmatch(value):
        # A checksum, or a name with abbreviations in capitals.
        return False
    return random_looking(value) or (not wordlike(value) and sum(c.isdigit() for c in value) >= 3)


def is_prose(value: str) -> bool:
    """Judge of what follows `the password is`."""
    bare = value.rstrip(".,;:)")
    return is_quoted(bare) and not _CODE.match(bare) and not bare.isdigit()


def is_header(value: str) -> bool:
    """Judge of the value of an authorization header."""
    if _SHORT_HEX.fullmatch(value) or _NAME_CASE.fullmatch(value):
        return False
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


def is_blob(value: str) -> bool:
    """Judge of long keys that are random from one end to the other."""
    bare = value.removeprefix("0x")
    if placeholder(bare) or wordlike(bare) or len(set(bare)) < 10 or bare.isdigit():
        return False
    return random_looking(bare[:64]) and sum(c.isdigit() for c in bare) >= 3


def is_basic(value: str) -> bool:
    """Judge of `user:password` in base64."""
    import binascii

    try:
        plain = binascii.a2b_base64(value + "=" * (-len(value) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return False
    _, colon, rest = plain.partition(":")
    return bool(colon) and plain.isprintable() and len(rest) >= 4 and is_credential(rest)


def is_parameter(value: str) -> bool:
    """Judge of one segment or parameter of a URL."""
    if not is_token(value) or value.isdigit() or wordlike(value):
        return False
    return sum(c.isdigit() for c in value) >= 2 and (random_looking(value) or _made_up(value))


def is_strong(value: str) -> bool:
    """Judge of what a sentence calls a password without saying `is`."""
    bare = value.rstrip(".,;:)!?\u3002")
    if len(value) < 8 or not is_credential(bare) or "example" in bare.lower() or _CODE.match(bare):
        return False
    if not any(c.isdigit() for c in bare) or not any(c.isalpha() for c in bare):
        return False
    if _ALGORITHM.fullmatch(bare) or "/" in bare or bare.startswith(("http", "-", "$", "#", "@")):
        return False
    return not wordlike(bare) and (bool(_HARD.search(bare)) or _made_up(bare))


def is_pin(value: str) -> bool:
    """Judge of a number behind the word PIN."""
    return len(set(value)) > 1


def is_code(value: str) -> bool:
    """Judge of a code in groups."""
    return sum(c.isdigit() for c in value) >= 2


# What comes before the random part of ids that are no secrets: objects of an API, hashes, files.
_ID_WORDS = """
toolu call msg message thread run asst resp response
chatcmpl cmpl org proj project prj file user usr
cus pi price prod sub evt event req request in ch pm seti si txn acct account card
src fc rs ws srv dpl
team item batch step vs ft ftjob order inv cs plan coupon trace span gen chat conv doc node task
job exec wf img image blob obj object ref rev ver pkg mod chunk bundle main index vendor app css js
hash sha sha1 sha256 sha384 sha512 md5 blake2b blake3 id uid uuid guid commit tree git tmp temp
cache data test tests case spec func srvtoolu session agent subagent sess page asset assets static
build dist release version tag branch snapshot container pod rs replicaset deployment layer digest
"""
_IDS = frozenset(_ID_WORDS.split())
_CREDENTIAL_PARTS = """
sk pat tok token key secret api apikey oauth auth cred creds live priv private access refresh bearer
pass password prod sec session_token rk
"""
_CREDENTIALS = frozenset(_CREDENTIAL_PARTS.split())
_TAILED = Regex(r"(?<![A-Za-z0-9_\-./\\@#:])([a-z][a-z0-9]{1,14}(?:[_-][a-z0-9]{1,12}){0,3})[_-]$")


def tail_start(value: str, before: str) -> int | None:
    """Where a token of an unknown vendor begins in what stands before its random end, or None.

    Ids of objects look the same; they are told apart by the words that stand for credentials, and
    where there is none by length.
    """
    named = _TAILED.search(before)
    if named is None:
        return None
    parts = re.split("[_-]", named.group(1))
    told = any(part in _CREDENTIALS for part in parts) or parts[-1].endswith("tok")
    if parts[0] in _IDS or (not told and any(part in _IDS for part in parts)):
        return None
    if placeholder(value) or wordlike(value) or "example" in value.lower():
        return None
    if sum(map(len, re.findall("[a-z]{4,}", value))) * 2 >= len(value) and value != value.lower():
        # Words in camel case.
        return None
    digits, uppers = sum(c.isdigit() for c in value), sum(c.isupper() for c in value)
    lowers = sum(c.islower() for c in value)
    if uppers and lowers:
        fits = digits >= 2 and _made_up(value) and len(value) >= (16 if told else 30)
    else:
        fits = told and digits >= 4 and random_looking(value) and len(value) >= 24
    return named.start() if fits else None


JUDGES = {
    "blob": is_blob,
    "basic": is_basic,
    "parameter": is_parameter,
    "strong": is_strong,
    "pin": is_pin,
    "code": is_code,
    "tail": is_token,
    "vendor": is_vendor,
    "cased": is_cased,
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
