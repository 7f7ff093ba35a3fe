"""The deterministic screen: a cheap first layer that may lower authority, never raise it."""

import re
from dataclasses import dataclass
from typing import Literal

from mkg.features.gate.screen_injection import SQUASHED_OVERRIDE
from mkg.features.gate.screen_rule import Outcome, Rule
from mkg.features.gate.screen_rules import TYPED, UNTYPED
from mkg.features.gate.screen_shadow import Shadow, shadow
from mkg.features.gate.screen_words import negated

Channel = Literal["U", "M", "T", "A", "S", "P", "G"]
CHANNELS: tuple[str, ...] = ("U", "M", "T", "A", "S", "P", "G")

# A person typed these; everything else was written by something that read something.
_TYPED = frozenset({"U", "S"})
_RANK: dict[Outcome, int] = {"pass": 0, "wait": 1, "block": 2}
_TOO_LONG = 20_000
_SEARCH_SYNTAX = re.compile(
    r"\*:\*|\?{3,}|(?:^|\s)[*?]+\w|[({\[\\^~]\s|\b\w+:(?:\S)|\b(?:AND|OR|NOT)\b\s*(?:\W|$|AND|OR|NOT)"
)
_QUOTED = re.compile(
    r"\"[^\"]{1,160}\"|\u201c[^\u201d]{1,160}\u201d|\u00ab[^\u00bb]{1,160}\u00bb|`[^`]{1,160}`"
)
_REPORTS = re.compile(
    r"\b(?:bug|attacks?|injections?|payloads?|detect\w*|reject\w*|refus\w*|block(?:s|ed)?"
    r"|screen(?:s|ed)?"
    r"|filter(?:s|ed)?|test(?:s|ed)?|sanit\w*|phrase|poison\w*|jailbreak\w*|red team|exploit\w*)\b"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the screen says: `category` and `rule` are closed vocabularies, never the text."""

    verdict: Outcome
    category: str
    rule: str
    reason: str


PASSED = Verdict("pass", "", "", "")


def screen(text: str, *, channel: str) -> Verdict:
    """Return the worst verdict any rule gives for `text` as it arrived on `channel`.

    Raises:
        ValueError: `channel` is not one of U, M, T, A, S, P, G.
    """
    if channel not in CHANNELS:
        raise ValueError(f"unknown channel {channel!r}; use one of {', '.join(CHANNELS)}")
    if not text.strip():
        return Verdict("block", "other", "empty", "says nothing")
    if (secret := _secret(text)) is not None:
        return secret
    shade = shadow(text)
    typed = channel in _TYPED
    worst = PASSED
    if channel == "S" and _SEARCH_SYNTAX.search(text):
        worst = Verdict(
            "wait", "other", "search_syntax", "is written in the index's query language"
        )
    for found in (_disguise(shade, typed=typed), _words(shade, typed=typed), _length(text)):
        if _RANK[found.verdict] > _RANK[worst.verdict]:
            worst = found
    return worst


def _secret(text: str) -> Verdict | None:
    """Return the verdict for credentials in `text`, or for the marks of removed ones."""
    from mkg_hooks.redact import redact

    _, found = redact(text)
    if found:
        return Verdict("block", "secret", "credential", "contains a credential")
    if "[REDACTED:" in text:
        return Verdict("wait", "secret", "redacted", "had a credential removed from it")
    return None


def _length(text: str) -> Verdict:
    if len(text) > _TOO_LONG:
        return Verdict("wait", "other", "oversize", "is too long to be one statement")
    return PASSED


def _disguise(shade: Shadow, *, typed: bool) -> Verdict:
    """Return the verdict for text that reads other than it is stored."""
    if shade.squashed and SQUASHED_OVERRIDE.search(shade.squashed):
        return Verdict("block", "injection", "override", "hides an instruction in spaced letters")
    if shade.smuggled:
        return Verdict("block", "injection", "smuggled", "carries text in invisible characters")
    if shade.reordered:
        outcome: Outcome = "wait" if typed else "block"
        return Verdict(
            outcome, "injection", "reordered", "reads in another order than it is stored"
        )
    if shade.hidden:
        return Verdict("wait", "injection", "hidden", "contains characters a reader cannot see")
    if shade.spaced or shade.flooded or shade.controls:
        return Verdict("wait", "other", "obfuscated", "is written so that words are hard to match")
    return PASSED


def _words(shade: Shadow, *, typed: bool) -> Verdict:
    """Return the worst verdict of the word rules over all readings of the text."""
    worst = PASSED
    rules = TYPED if typed else UNTYPED
    for reading in shade.readings:
        mentioned = _mentions(reading)
        for rule in rules:
            most = rule.typed if typed else rule.other
            if _RANK[most] <= _RANK[worst.verdict]:
                continue
            outcome = _outcome(rule, reading, mentioned, typed=typed)
            if _RANK[outcome] > _RANK[worst.verdict]:
                worst = Verdict(outcome, rule.category, rule.name, rule.reason)
    return worst


def _outcome(rule: Rule, reading: str, mentioned: list[tuple[int, int]], *, typed: bool) -> Outcome:
    """Return what `rule` says, leaving out phrases that are forbidden or only reported on."""
    most = rule.typed if typed else rule.other
    reported: Outcome = "pass"
    for pattern in rule.patterns:
        for match in pattern.finditer(reading):
            start, end = match.span()
            if any(left <= start and end <= right for left, right in mentioned):
                reported = "pass" if typed else "wait"
                continue
            whole = rule.negation == "sentence"
            if rule.negation != "none" and negated(reading, start, end, sentence=whole):
                continue
            return most
    return reported


def _mentions(reading: str) -> list[tuple[int, int]]:
    """Return quoted spans that the sentence reports on, as in 'the test uses "..." as payload'."""
    spans = [match.span() for match in _QUOTED.finditer(reading)]
    if not spans:
        return []
    outside = _QUOTED.sub(" ", reading)
    return spans if _REPORTS.search(outside) else []
