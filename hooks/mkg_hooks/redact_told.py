"""Secrets that a sentence names after it has told them: `use X as the API key`."""

import re
from collections.abc import Iterator

from mkg_hooks.redact_gate import Words, find_all
from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_rules import Rule
from mkg_hooks.redact_values import JUDGES

_REACH = 512
_NAME = Regex(
    r"((?:[a-z][\w.\-']{0,20} ){0,3})(?:(api|access|auth|app|admin|master|private|secret|service"
    r"|account|license|write|signing|encryption|deploy|integration|ingestion|client|server|preshared|shared)"
    r"[ _\-]?key|token|secret|password|passphrase|passcode|credential|seed)s?(?![\w\-])",
    re.ASCII | re.IGNORECASE,
)
# What else is called a token or a key.
_OTHER_WORDS = """
page next previous sync cursor continuation pagination cache primary foreign public partition sort
idempotency start end stop pad special separator unknown first last of in for with and or that which
commit build hash lookup object
"""
_OTHER = frozenset(_OTHER_WORDS.split())
_OPEN = " \n\t\"'`(<>"


def told(text: str, words: Words, rank: int, rule: Rule) -> Iterator[tuple[int, int, int, int]]:
    """Values before ` as the `, ` is my ` and their like, with a name of a secret behind."""
    for key in rule.keys:
        for at in find_all(words.low, key.encode()):
            name = _NAME.match(text, at + len(key))
            if name is None or not _OTHER.isdisjoint(name.group(1).lower().split()):
                continue
            end = at - (text[at - 1 : at] in ('"', "'", "`", ")", ","))
            start = 1 + max([text.rfind(mark, max(0, end - _REACH), end) for mark in _OPEN])
            if end > start and JUDGES[rule.judge](text[start:end]):
                yield start, end, rank, start
