"""Sentences that name the value they replace: 'use pnpm instead of npm', 'not 8080 but 9090'."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from mkg.features.gate.frame import COUNTS, GENERIC, VERBS, stem, words
from mkg.features.gate.statement import Token, kind, kind_of_any, said

_I = re.IGNORECASE
_WORD = r"[~.]?[^\s,;.!?]+(?:[.:/][^\s,;.!?]+)*"
_V = rf"(?P<{{}}>`[^`]{{{{1,80}}}}`|{_WORD}(?:[ ]+{_WORD}){{{{0,3}}}}?)"
_NEW, _OLD = _V.format("new"), _V.format("old")
_END = (
    r"(?=\s*(?:[,;!?)]|\.(?:\s|$)|$|\s(?:for|in|on|as|because|since|to|from|when|and|so|now|about|of"
    r"|with|by|but|at|after|before|any\s?more)\b))"
)
_AT = r"(?:(?:on|in|at|with|to|by|from|for|after|via|through|under|into|the)\s+)*"
_NO_LONGER = r"\bno longer\s+(?:\w+(?:ed|en)\s+)?(?:(?:use|uses|using|called|named)\s+)?"
_GIVES_UP = re.compile(
    r"\b(?:no longer|not|nicht|pas|but|instead of|rather than|in place of|statt|anstatt)\b", _I
)
_FROM_TO = re.compile(rf"\bfrom\s+(?:the\s+)?{_OLD}\s+(?:over\s+)?to\s+(?:the\s+)?{_NEW}{_END}", _I)
_FORMS = tuple(
    re.compile(pattern, _I)
    for pattern in (
        r"\b(?:instead of|rather than|in place of|anstatt|statt|au lieu de|en vez de)"
        rf"\s+{_AT}{_OLD}{_END}",
        r"\b(?:switched|moved|migrated|changed|went|upgraded|downgraded|switching|moving|renamed|raised"
        r"|lowered|bumped|increased|reduced|extended|shortened|transferred|converted|relicensed|shifted)\b"
        rf"[^,;.]{{0,60}}?\bfrom\s+(?:the\s+)?{_OLD}\s+(?:over\s+)?to\s+(?:the\s+)?{_NEW}{_END}",
        rf"\b(?:replaced|renamed|swapped|exchanged|traded)\s+(?:the\s+)?{_OLD}"
        rf"\s+(?:with|by|to|for)\s+(?:the\s+)?{_NEW}{_END}",
        rf"\breplace[sd]\s+(?:the\s+)?{_OLD}{_END}",
        rf"\boff\s+(?:of\s+)?(?:the\s+)?{_OLD}\s+(?:and\s+)?(?:on)?to\s+(?:the\s+)?{_NEW}{_END}",
        rf"\b(?:stopped|quit)\s+\w+ing\s+{_OLD}{_END}",
        r"\bused to (?:\w+\s+)?(?:the\s+)?"
        rf"{_OLD}\s*,?\s+(?:and|but)\s+(?:now\s+)?(?:\w+\s+)(?:now\s+)?{_NEW}(?:\s+now)?{_END}",
        rf"\bleft\s+(?:the\s+)?{_OLD}(?=\s+(?:and|for)\b)",
        r"\b(?:gave up|cancell?ed|abandoned|retired|removed|ditched|dropped|closed|out of)\s+"
        rf"(?:the\s+)?{_OLD}{_END}",
        rf"(?:^|[,;]\s*)(?:the\s+)?{_OLD}\s+(?:is|was|are|were|has been|have been|will be|has|have)"
        r"\s+(?:already\s+|now\s+)?(?:locked|taken|dead|gone|left(?!\s+\S*\d)|closed|rejected|trouble|retired"
        r"|deprecated|removed|blocked|dropped|shut)\b",
        rf"\bthat\s+(?:was|were|used to be)\s+{_OLD}\s+(?:is|are)\s+(?:now\s+)?{_NEW}{_END}",
        rf"\b(?:dropped|ditched|abandoned|retired)\s+(?:the\s+)?{_OLD}"
        rf"\s+(?:for|in favou?r of)\s+(?:the\s+)?{_NEW}{_END}",
        rf"^{_OLD}\s+(?:handed|hands|passed|gave)\b[^,;.]{{0,60}}?\bto\s+{_NEW}{_END}",
        rf"\b(?:took|takes|taken|taking)\b[^,;.]{{0,60}}?\bover\b[^,;.]{{0,60}}?\bfrom\s+{_OLD}{_END}",
        rf"{_NO_LONGER}{_AT}{_OLD}"
        rf"\s*,?\s+but\s+{_AT}{_NEW}{_END}",
        rf"{_NO_LONGER}{_AT}{_OLD}{_END}",
        rf"\bnot\s+{_OLD}\s*,?\s+but\s+{_AT}{_NEW}{_END}",
        rf"[,;(]\s*(?:and\s+)?(?:not|nicht|pas|no)\s+{_AT}{_OLD}\)?{_END}",
        rf"(?P<new>\S+)\s(?:not|nicht)\s+{_AT}{_OLD}\s*[.!]?$",
    )
)
NUMBERS = frozenset({"number", "version"})
_DID = re.compile(r"^((?:we|i|they)(?:'ve| have)?)\s+\w+", _I)


@dataclass(frozen=True, slots=True)
class Replaces:
    """The words of the value that goes, and of what else the sentence speaks."""

    old: frozenset[str]
    new: frozenset[str]
    about: frozenset[str]
    old_text: str = ""
    new_text: str = ""
    likely: str = ""
    """Where the new value is not told apart: what stands before the words that end the old."""


@lru_cache(maxsize=4096)
def replaces(text: str) -> Replaces | None:
    """The value that a sentence says is replaced, if it names one."""
    return next((made for _, made in _matches(text)), None)


@lru_cache(maxsize=4096)
def standing(text: str) -> str:
    """A sentence without the value that it says is gone."""
    for match, _ in _matches(text):
        start, end = match.span("old")
        kept = _label(match.group("old"))
        rest = _GIVES_UP.sub(" ", f"{text[match.start() : start]} {kept} {text[end : match.end()]}")
        head = text[: match.start()]
        if match.re is _FROM_TO:
            # 'We carried it from a to b' says by its verb that it was changed, and no more.
            head = _DID.sub(r"\1", head)
        return head + rest + text[match.end() :]
    return text


def _matches(text: str) -> Iterator[tuple[re.Match[str], Replaces]]:
    for form in (*_FORMS, _FROM_TO):
        match = form.search(text)
        if match is None or (form is _FROM_TO and not _of_one_sort(match)):
            continue
        old, new = _value(match.group("old")), match.groupdict().get("new")
        named = _value(new)
        if not old or (new and (not named or new.casefold() in VERBS)):
            # 'Files are not committed' names no new value.
            continue
        about = frozenset(stem(w) for w in words(text)) - old - named
        likely = "" if new else _likely(text[: match.start()], match.group("old"))
        yield match, Replaces(old, named or about, about, match.group("old"), new or "", likely)


def _likely(before: str, old: str) -> str:
    """The last words before, or else the last of the old value's sort: 'has eight on the team'."""
    head, gone = said(before).tokens, said(old).tokens
    run: list[Token] = []
    for token in reversed(head):
        if run and (run[0].place != token.place + 1 or token.word in VERBS):
            break
        run.insert(0, token)
    sort, counts = kind(gone), _counts(gone)
    if counts == _counts(tuple(run)) and (not sort or sort & kind(tuple(run))):
        return " ".join(t.word for t in run)
    same = [t for t in head if (counts and _counts((t,))) or sort & kind((t,))]
    return same[-1].word if same else ""


def _counts(tokens: tuple[Token, ...]) -> bool:
    """Whether a number is among them."""
    return any(t.word in COUNTS for t in tokens) or bool(_number(tokens))


def _label(old: str) -> str:
    """What stands before a number and holds for the next as well: 'from Python 3.9 to 3.12'."""
    tokens = said(old).tokens
    if len(tokens) < 2 or kind(tokens) or not kind(tokens[-1:]) & {"number", "version"}:
        return ""
    return " ".join(t.word for t in tokens[:-1])


def _of_one_sort(match: re.Match[str]) -> bool:
    """'Raised from 10 to 20': what is of one sort on both sides is what it was and what it is."""
    old, new = said(match.group("old")).tokens, said(match.group("new")).tokens
    return bool(kind(old) & kind(new) or _number(old) & _number(new))


def _number(tokens: tuple[Token, ...]) -> frozenset[str]:
    """What sort of number stands there beside words: a unit, a name of what is counted."""
    return kind_of_any(tokens) & NUMBERS


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
    if text and text.startswith("`"):
        return frozenset(stem(w) for w in words(text))
    found = (w for w in words(text or "") if w not in GENERIC and w not in {"the", "a", "an"})
    return frozenset(stem(w) for w in found)
