"""Sentences that name the value they replace: 'use pnpm instead of npm', 'not 8080 but 9090'."""

import re
from dataclasses import dataclass

from mkg.features.gate.frame import GENERIC, VERBS, stem, words

_I = re.IGNORECASE
_V = r"(?P<{}>`[^`]{{1,80}}`|[^\s,;.!?]+(?:[.:/][^\s,;.!?]+)*(?:[ ]+[^\s,;.!?]+){{0,3}}?)"
_NEW, _OLD = _V.format("new"), _V.format("old")
_END = r"(?=\s*(?:[,;!?)]|\.(?:\s|$)|$|\s(?:for|in|on|as|because|since|to|from|when|and|so|now)\b))"
_FORMS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        r"\b(?:instead of|rather than|in place of|anstatt|statt|au lieu de|en vez de)"
        rf"\s+(?:the\s+)?{_OLD}{_END}",
        r"\b(?:switched|moved|migrated|changed|went|upgraded|downgraded|switching|moving)\b"
        rf"[^,;.]{{0,60}}?\bfrom\s+(?:the\s+)?{_OLD}\s+(?:over\s+)?to\s+(?:the\s+)?{_NEW}{_END}",
        rf"\b(?:replaced|renamed|swapped|exchanged)\s+(?:the\s+)?{_OLD}"
        rf"\s+(?:with|by|to|for)\s+(?:the\s+)?{_NEW}{_END}",
        rf"\bno longer\s+(?:in|on|at|with|use|uses|using|called|named)?\s*(?:the\s+)?{_OLD}{_END}",
        rf"\bnot\s+{_OLD}\s*,?\s+but\s+(?:the\s+)?{_NEW}{_END}",
        r"[,;(]\s*(?:and\s+)?(?:not|nicht|pas|no)\s+(?:(?:on|in|at|with|to|by|the)\s+)*"
        rf"{_OLD}\)?{_END}",
        rf"(?P<new>\S+)\s(?:not|nicht)\s+(?:(?:on|in|at|with|to|by|the)\s+)*{_OLD}\s*[.!]?$",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Replaces:
    """The words of the value that goes, and of what else the sentence speaks."""

    old: frozenset[str]
    new: frozenset[str]
    about: frozenset[str]


def replaces(text: str) -> Replaces | None:
    """The value that a sentence says is replaced, if it names one."""
    for form in _FORMS:
        match = form.search(text)
        if match is None:
            continue
        old = _value(match.group("old"))
        if not old:
            continue
        new = match.groupdict().get("new")
        named = _value(new)
        if new and (not named or new.casefold() in VERBS):
            # 'Files are not committed' names no new value.
            continue
        about = frozenset(stem(w) for w in words(text)) - old - named
        return Replaces(old, named or about, about)
    return None


_MOVED = re.compile(
    r"^(?P<who>(?:we|i|our \w+|the (?:team|project|repo(?:sitory)?|build))(?:'ve| have| has)?)"
    r"(?: (?:now|just|all|finally|recently))?"
    r" (?:moved|switched|migrated|changed|went)(?: over)? to (?P<rest>(?:the )?[^,;.]+)",
    _I,
)


def as_state(text: str) -> str | None:
    """'We moved to bun' as what holds since: 'we use bun'; None where nothing moved."""
    match = _MOVED.match(text)
    if match is None or re.search(r"\bfrom\b", match["rest"], _I):
        return None
    who = re.sub(r"(?:'ve| have| has)$", "", match["who"], flags=_I)
    return f"{who} use {match['rest']}"


def _value(text: str | None) -> frozenset[str]:
    found = (w for w in words(text or "") if w not in GENERIC and w not in {"the", "a", "an"})
    return frozenset(stem(w) for w in found)
