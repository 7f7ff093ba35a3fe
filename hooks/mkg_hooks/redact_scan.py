"""Finding secrets in one text: rules on the folded views, then tokens that were cut or encoded."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_rules import Rule
from mkg_hooks.redact_shadow import SENTINEL, View, joined, views
from mkg_hooks.redact_values import JUDGES, random_looking

Hit = tuple[int, int, int]  # start, end, rank of the rule in the table
Match = tuple[int, int, int, int]  # and where its key stands

_table: list[Rule] = []
_gates: list[list[tuple[str, str]]] = []
_anchors: dict[str, str] = {}
_compiled: dict[int, re.Pattern[str]] = {}
_runs: dict[str, re.Pattern[str]] = {}

_BLOCK = 8_192
_KEY_BODY = Regex(r"[A-Za-z0-9+/]{32}")
_KEY_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: \w+"
# The end of a key block read backwards: a short last line, then full lines.
_KEY_TAIL = (
    r"(?:\s|[nr]\\{1,4}){0,4}[A-Za-z0-9+/=]{1,100}"
    r"(?:(?:\s|[nr]\\{1,4}){1,4}[ \t>|]{0,8}[A-Za-z0-9+/=]{40,100}){0,120}"
)
_RUN = r"[A-Za-z0-9+/_\-]+={0,2}"
_WRAPPED = (
    r"[A-Za-z0-9+/_\-]{24,200}"
    r"(?:(?:\r?\n|\\n)[ \t]{0,16}[A-Za-z0-9+/_\-]{4,200}){1,400}={0,2}"
)
_RUN_NEEDLE = b"a" * 24
_RUN_CLASS = bytes(97 if c < 128 and (chr(c).isalnum() or c in b"+/_-") else 32 for c in range(256))
_DENSE_NEEDLE = b"a" * 14
_DENSE_CLASS = bytes(
    97 if c < 128 and (chr(c).isalnum() or c in b"+/_-~%") else 32 for c in range(256)
)
_ANCHORS = ("secret", "token", "pass", "auth", "key", "PASS", "SECRET", "TOKEN", "_KEY")
_LEFT_OF_RUN = 16
_REFUSALS = 4
_JUDGED = 256
_ASCII_LOWER = {c: c + 32 for c in range(65, 91)}
_LONG = 4_096


def table() -> list[Rule]:
    """The rules, the most specific first."""
    if not _table:
        from mkg_hooks.redact_rules_cloud import CLOUD
        from mkg_hooks.redact_rules_context import CONTEXT
        from mkg_hooks.redact_rules_named import NAMED
        from mkg_hooks.redact_rules_services import SERVICES

        _table.extend(SERVICES + CLOUD + CONTEXT + NAMED)
        _gates.extend([[(key, _gate(key)) for key in rule.keys] for rule in _table])
    return _table


def scan(text: str, folded: list[View] | None = None, depth: int = 0) -> list[Hit]:
    """Every secret of a text, in offsets of that text, overlapping hits not yet merged."""
    hits: list[Hit] = []
    for view in views(text) if folded is None else folded:
        found = _search(view.text)
        hits.extend((*view.span(start, end, len(text)), rank) for start, end, rank, _ in found)
    across = joined(text)
    if across is not None:
        hits.extend(_across(text, across, hits))
    if depth < 2 and len(text) >= len(_RUN_NEEDLE):
        hits.extend(_encoded(text, hits, depth))
    return hits


def _search(text: str) -> list[Match]:
    low = text.lower()
    if len(low) != len(text):
        low = text.translate(_ASCII_LOWER)
    dense = _dense(text) if len(text) > _LONG else text
    endings = _endings(dense) if len(dense) > _LONG else None
    exact: dict[str, list[int]] = {}
    folded: dict[str, list[int]] = {}
    hits: list[Match] = []
    for rank, rule in enumerate(table()):
        for key, gate in _gates[rank]:
            if rule.fold:
                places = _places(low, key, folded)
            elif rule.dense and ((endings and gate and gate not in endings) or key not in dense):
                continue
            else:
                places = _places(text, key, exact)
            hits += _try(text, rank, rule, places)
    return hits


def _across(text: str, view: View, hits: list[Hit]) -> list[Hit]:
    """What only the reading across cuts shows: the match must hold a cut and a random value."""
    found: list[Hit] = []
    covered = sorted(hits)
    for start, end, rank, at in _search(view.text):
        if not random_looking(view.text[start:end]):
            continue
        first, last = view.span(start, end, len(text))
        origin = min(first, view.span(at, at + 1, len(text))[0])
        index = bisect_right(covered, (last, 0, 0)) - 1
        if index >= 0 and covered[index][1] > first:
            continue
        if any(mark in text[origin:last] for mark in "\n\"'`"):
            found.append((first, last, rank))
    return found


def _try(text: str, rank: int, rule: Rule, places: list[int]) -> list[Match]:
    """Try a rule wherever one of its keys stands."""
    hits: list[Match] = []
    after = refused_to = refused = 0
    for at in places:
        if at < after:
            continue
        hit, end = _match(text, at, rank, rule)
        if hit:
            hits.append((*hit, at))
            after = hit[1]
        elif end:
            # Keys repeated inside one long refused value would make the work quadratic.
            refused = refused + 1 if at < refused_to else 1
            refused_to = max(refused_to, end)
            after = refused_to if refused > _REFUSALS else 0
    return hits


def _gate(key: str) -> str:
    """The first separator of a key with the two characters before it."""
    for at, char in enumerate(key):
        if char in "_-." and at >= 2:
            return key[at - 2 : at + 1]
    return ""


def _endings(text: str) -> set[str]:
    """Every separator of a text with the two characters before it."""
    found: set[str] = set()
    for mark in "_-.":
        found.update([piece[-2:] + mark for piece in text.split(mark)])
    return found


def _places(text: str, key: str, seen: dict[str, list[int]]) -> list[int]:
    places = seen.get(key)
    if places is None:
        places = seen[key] = []
        anchor = _anchors.get(key)
        if anchor is None:
            anchor = next((word for word in _ANCHORS if word in key and word != key), "")
            _anchors[key] = anchor
        if anchor:
            # Most names of secrets share a few words: one search for each word serves them all.
            offset = key.index(anchor)
            places += [
                at - offset
                for at in _places(text, anchor, seen)
                if text.startswith(key, at - offset) and at >= offset
            ]
            return places
        at = text.find(key)
        while at >= 0:
            places.append(at)
            at = text.find(key, at + len(key))
    return places


def _dense(text: str) -> str:
    """The long words of a text: a token is one, so most keys need no search of the whole.

    Reading all characters of tokens as one letter lets a plain substring search find the runs.
    """
    plain = text.encode("ascii", "replace").translate(_DENSE_CLASS)
    pieces: list[str] = []
    at = plain.find(_DENSE_NEEDLE)
    while at >= 0:
        end = plain.find(b" ", at + len(_DENSE_NEEDLE))
        end = len(text) if end < 0 else end
        pieces.append(text[max(0, at - _LEFT_OF_RUN) : end])
        at = plain.find(_DENSE_NEEDLE, end)
    return " ".join(pieces)


def _match(text: str, at: int, rank: int, rule: Rule) -> tuple[Hit | None, int]:
    """The secret at a key, or else where the value ends that the judge refused."""
    pattern = _pattern(rank, rule)
    refused = 0
    for back in rule.back:
        match = pattern.match(text, at - back) if at >= back else None
        if match is None:
            continue
        start, end = match.span("s")
        if start < 0:
            start, end = next(match.span(f"s{n}") for n in (2, 3, 4) if match.start(f"s{n}") >= 0)
        if rule.id.startswith("private-key"):
            return _key_block(text, start, end, rank, rule.id), 0
        value = match.group("v") if "v" in pattern.groupindex else text[start:end]
        value = value[:_JUDGED]
        if value.strip(SENTINEL) and JUDGES[rule.judge](value):
            return (start, end, rank), end
        refused = max(refused, end)
    return None, refused


def _pattern(rank: int, rule: Rule) -> re.Pattern[str]:
    # Compiled on first use: a hook process sees a handful of the rules, most often none.
    pattern = _compiled.get(rank)
    if pattern is None:
        flags = re.ASCII | (re.IGNORECASE if rule.fold else 0)
        pattern = _compiled[rank] = re.compile(rule.pattern, flags)
    return pattern


def _key_block(text: str, start: int, end: int, rank: int, name: str) -> Hit | None:
    """The extent of a private key from its first or its last line."""
    if name == "private-key-end":
        backwards = text[max(0, start - _BLOCK) : start][::-1]
        tail = _cached(_KEY_TAIL).match(backwards)
        if tail is None or not _KEY_BODY.search(tail.group()):
            return None
        return start - tail.end(), end, rank
    body = _KEY_BODY.search(text, end, end + 400)
    if body is None:
        return None
    close = _cached(_KEY_END).search(text, end, end + 4 * _BLOCK)
    if close is None:
        return start, min(len(text), end + _BLOCK), rank
    return (start, close.end(), rank) if body.start() < close.start() else None


def _cached(pattern: str) -> re.Pattern[str]:
    found = _runs.get(pattern)
    if found is None:
        found = _runs[pattern] = re.compile(pattern)
    return found


def _encoded(text: str, hits: list[Hit], depth: int) -> Iterator[Hit]:
    """Base64 or hexadecimal runs whose plain text holds a secret."""
    plain = text.encode("ascii", "replace").translate(_RUN_CLASS)
    covered = sorted(hits)
    at, index = plain.find(_RUN_NEEDLE), 0
    while at >= 0:
        run = _cached(_RUN).match(text, at)
        end = run.end() if run else at + 1
        while index < len(covered) and covered[index][1] <= at:
            index += 1
        if index == len(covered) or covered[index][0] > at:
            wrapped = _cached(_WRAPPED).match(text, at)
            for candidate in (wrapped, run):
                rank = _decoded_rank(candidate.group(), depth) if candidate else -1
                if candidate and rank >= 0:
                    end = max(end, candidate.end())
                    yield at, candidate.end(), rank
                    break
        at = plain.find(_RUN_NEEDLE, end)


def _decoded_rank(run: str, depth: int) -> int:
    for plain in _plain_texts(run):
        inner = scan(plain, None, depth + 1)
        if inner:
            return min(rank for _, _, rank in inner)
    return -1


def _plain_texts(run: str) -> Iterator[str]:
    import binascii

    compact = re.sub(r"\s|\\n", "", run) if "\n" in run or "\\" in run else run
    compact = compact.rstrip("=").replace("-", "+").replace("_", "/")
    for skip in range(4):
        try:
            if not _readable(binascii.a2b_base64(compact[skip : skip + 24])):
                continue
            body = compact[skip:]
            body = body[: len(body) - 1] if len(body) % 4 == 1 else body
            yield binascii.a2b_base64(body + "=" * (-len(body) % 4)).decode("utf-8", "replace")
        except binascii.Error:
            continue
    head = compact[:24]
    if all(c in "0123456789abcdefABCDEF" for c in head):
        digits = _cached(r"[0-9a-fA-F]+").match(compact)
        if digits and _readable(bytes.fromhex(head)):
            yield bytes.fromhex(digits.group()[: len(digits.group()) // 2 * 2]).decode(
                "utf-8", "replace"
            )


def _readable(sample: bytes) -> bool:
    return sample.isascii() and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in sample)
