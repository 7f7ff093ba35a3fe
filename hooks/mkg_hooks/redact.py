"""Masking credentials in everything that leaves the hook: one redactor for every exit.

Standard library only, because the hook imports it in an isolated interpreter.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from mkg_hooks.redact_known import known_spans, known_values
from mkg_hooks.redact_paths import command_reads_sensitive, not_captured, sensitive_path
from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_scan import scan, table
from mkg_hooks.redact_shadow import MARKER, View, views

__all__ = [
    "Found",
    "command_reads_sensitive",
    "known_values",
    "not_captured",
    "redact",
    "redact_tree",
    "sensitive_path",
    "strip_private",
]

_PRIVATE, _KNOWN = -2, -1
_PASSES = 8
# Farther than any rule reads.
_AROUND = 65_536
_marker = Regex(MARKER)
_private_tag = Regex(r"<\s{0,8}(/?)\s{0,8}private(?:\s[^<>]{0,100})?>", re.IGNORECASE)


class Found(NamedTuple):
    """One masked span, in offsets of the text that was handed in."""

    rule: str
    start: int
    end: int


Span = tuple[int, int, int]  # start, end, rank


def redact(text: str, known: Sequence[str] = ()) -> tuple[str, list[Found]]:
    """Mask every secret of a text, and say which rule masked what."""
    folded = views(text)
    spans = _merged(_private_spans(text, folded))
    current = _render(text, spans)
    fresh = _find(current, known, None if spans else folded)
    for _ in range(_PASSES):
        if not fresh:
            break
        spans = _merged(spans + _to_origin(fresh, spans))
        current = _render(text, spans)
        # Again until nothing is left: masking may bring two harmless pieces next to each other,
        # and only a text without findings is a fixed point.
        fresh = _find_again(current, known, spans)
    return current, [Found(_name(rank), start, end) for start, end, rank in spans]


def strip_private(text: str) -> str:
    """Replace `<private>` spans; one that is never closed runs to the end of the text."""
    return _render(text, _merged(_private_spans(text, views(text))))


def redact_tree(value: object, known: Sequence[str] = ()) -> object:
    """Mask the secrets of a JSON value by the names of its keys and by its texts."""
    from mkg_hooks.redact_json import mask

    return mask(value, lambda text: redact(text, known)[0])


def _find(text: str, known: Sequence[str], folded: list[View] | None) -> list[Span]:
    folded = views(text) if folded is None else folded
    found = [span for span in scan(text, folded) if span[1] > span[0]]
    if known:
        marked = [match.span() for match in _marker.finditer(text)]
        hits = list(known_spans(text, known))
        for view in folded:
            if view.shadow_at:
                hits += [view.span(*span, len(text)) for span in known_spans(view.text, known)]
        found += [
            (start, end, _KNOWN)
            for start, end in hits
            if not any(start < stop and begin < end for begin, stop in marked)
        ]
    return _merged(found)


def _find_again(text: str, known: Sequence[str], spans: list[Span]) -> list[Span]:
    """What masking has brought together; of a long text, only lines round the marks are read."""
    if len(text) <= 2 * _AROUND:
        return _find(text, known, None)
    windows: list[tuple[int, int]] = []
    shift = 0
    for start, end, rank in spans:
        at, behind = start + shift, start + shift + len(_mark(rank))
        shift += len(_mark(rank)) - (end - start)
        first = text.rfind("\n", 0, max(0, at - _AROUND)) + 1
        last = text.find("\n", behind + _AROUND)
        last = len(text) if last < 0 else last
        if windows and first <= windows[-1][1]:
            windows[-1] = (windows[-1][0], last)
        else:
            windows.append((first, last))
    return [
        (first + start, first + end, rank)
        for first, last in windows
        for start, end, rank in _find(text[first:last], known, None)
    ]


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end, rank in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, best = merged[-1]
            merged[-1] = (first, max(last, end), min(best, rank))
        else:
            merged.append((start, end, rank))
    return merged


def _name(rank: int) -> str:
    if rank < 0:
        return "private" if rank == _PRIVATE else "known-value"
    return table()[rank].id


def _mark(rank: int) -> str:
    return "[PRIVATE]" if rank == _PRIVATE else f"[REDACTED:{_name(rank)}]"


def _render(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, rank in spans:
        pieces += (text[at:start], _mark(rank))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _to_origin(fresh: list[Span], spans: list[Span]) -> list[Span]:
    """Spans of the rendered text in offsets of the original."""
    lefts: list[int] = []
    rights: list[int] = []
    shift = 0
    for start, end, rank in spans:
        lefts.append(start + shift)
        rights.append(start + shift + len(_mark(rank)))
        shift += len(_mark(rank)) - (end - start)

    def origin(at: int, closing: bool) -> int:
        index = (bisect_left(lefts, at) if closing else bisect_right(lefts, at)) - 1
        if index < 0:
            return at
        if at < rights[index]:
            return spans[index][1 if closing else 0]
        return at - rights[index] + spans[index][1]

    return [(origin(start, False), origin(end, True), rank) for start, end, rank in fresh]


def _private_spans(text: str, folded: list[View]) -> list[Span]:
    found: list[Span] = []
    for view in folded:
        if "<" not in view.text:
            continue
        depth, opened = 0, 0
        for tag in _private_tag.finditer(view.text):
            if not tag.group(1):
                opened = tag.start() if depth == 0 else opened
                depth += 1
            elif depth:
                depth -= 1
                if depth == 0:
                    found.append((*view.span(opened, tag.end(), len(text)), _PRIVATE))
        if depth:
            found.append((view.span(opened, len(view.text), len(text))[0], len(text), _PRIVATE))
    return found
