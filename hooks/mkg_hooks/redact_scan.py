"""Finding secrets in one text: rules on the folded views, then tokens that were cut or encoded."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from mkg_hooks.redact_gate import CUT, Key, Places, Words, divided, enlist, find_all
from mkg_hooks.redact_regex import Regex
from mkg_hooks.redact_rules import Rule
from mkg_hooks.redact_shadow import JOINED, SENTINEL, View, beyond_ascii, joined, marked, views
from mkg_hooks.redact_told import told
from mkg_hooks.redact_values import JUDGES, random_looking, tail_start

Hit = tuple[int, int, int]  # start, end, rank of the rule in the table
Match = tuple[int, int, int, int]  # and where its key stands

_table: list[Rule] = []
_foreign_keys: list[tuple[int, str, tuple[bytes, ...]]] = []
_compiled: dict[int, re.Pattern[str]] = {}
_runs: dict[str, re.Pattern[str]] = {}

_BLOCK = 8_192
_KEY_BODY = Regex(r"[A-Za-z0-9+/]{32}")
_KEY_END = (
    r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}"
    r"|Private-MAC: \w+"
)
# The end of a key block read backwards: a short last line, then full lines.
_KEY_TAIL = (
    r"(?:\s|[nr]\\{1,4}){0,4}[A-Za-z0-9+/=]{1,100}"
    r"(?:(?:\s|[nr]\\{1,4}){1,4}[ \t>|]{0,8}[A-Za-z0-9+/=]{40,100}){0,120}"
)
_RUN = r"[A-Za-z0-9+/_\-]{24,}={0,2}"
_RUN_LEAST = 24
_TAIL_LEAST = 20
# Six quartets of base64, or twelve pairs of hexadecimal digits, that stand for readable text.
_READABLE = (
    r".{0,3}?(?:[CDI-Za-f][ACDEFGHQSTUVWXgijklmnwyz0123][ABEFIJMNQRUVYZcdghklopstwx014589]"
    r"[A-Za-z0-9+/_\-]){6}|(?:[2-7][0-9a-fA-F]|0[9aAdD]){12}"
)
_WRAPPED = (
    r"[A-Za-z0-9+/_\-]{24,200}"
    r"(?:(?:\r?\n|\\n)[ \t]{0,16}[A-Za-z0-9+/_\-]{4,200}){1,400}={0,2}"
)
_KUBE_KIND = r"""(?i:kind\\{0,3}["']? ?: ?\\{0,3}["']?secret(?![a-z]))"""
_KUBE_DATA = (
    r"""(?:data|stringData)\\{0,3}["']?:\s{0,2}"""
    r"""(?P<b>\{[^{}]{0,8192}\}|(?:(?:\n|\\n)[ \t]{1,16}[^\n\\]{0,4096}){1,100})"""
)
_KUBE_PAIR = (
    r"""[\w.\-/]{1,80}\\{0,3}["']?:\s{0,2}\\{0,3}["']?(?P<s>[^\s"'\\,{}\[\]|>&*:]{4,4096}={0,2})"""
)
_BLOCKS = ("private-key", "private-key-end")
_FOLDABLE = 4
_REFUSALS = 4
_JUDGED = 256
_ASCII_LOWER = {c: c + 32 for c in range(65, 91)}


def table() -> list[Rule]:
    """The rules, the most specific first."""
    if not _table:
        from mkg_hooks.redact_rules_cloud import CLOUD
        from mkg_hooks.redact_rules_context import CONTEXT
        from mkg_hooks.redact_rules_named import NAMED
        from mkg_hooks.redact_rules_places import PLACES
        from mkg_hooks.redact_rules_services import SERVICES
        from mkg_hooks.redact_rules_vendors import VENDORS
        from mkg_hooks.redact_rules_words import WORDS

        _table.extend(SERVICES + CLOUD + CONTEXT + PLACES + NAMED + WORDS + VENDORS)
        for rank, rule in enumerate(_table):
            for key in dict.fromkeys(map(str.lower, rule.keys)):
                if key.isascii():
                    enlist(key.encode(), rank, rule.least)
                else:
                    forms = (key.encode(), key.upper().encode(), key.title().encode())
                    _foreign_keys.append((rank, key, tuple(dict.fromkeys(forms))))
    return _table


def scan(text: str, folded: list[View] | None = None, depth: int = 0) -> list[Hit]:
    """Every secret of a text, in offsets of that text, overlapping hits not yet merged."""
    table()
    hits: list[Hit] = []
    folded = views(text) if folded is None else folded
    first = words = Words(folded[0].text)
    keys = first.keys()
    for view in folded:
        words = first if view is folded[0] else Words(view.text)
        found = search(view.text, words, keys if words is first else words.keys())
        found += _foreign(view.text)
        hits.extend((*view.span(start, end, len(text)), rank) for start, end, rank, _ in found)
    hits.extend(_across(text, folded[0], keys, hits))
    if depth < 2 and len(text) >= _RUN_LEAST:
        own = first if folded[0].text is text or len(text) > JOINED else Words(text)
        hits.extend(_encoded(text, own, hits, depth))
    return hits


def search(text: str, words: Words, keys: list[Key]) -> list[Match]:
    """Try the rules of these keys, those of tokens on the long words first."""
    if not keys:
        return []
    hits: list[Match] = []
    done: set[int] = set()
    places = Places(words.low)
    beside = Places(words.tokens.lower())
    shown = words.tokens.decode("ascii")
    for key, rank in keys:
        rule = _table[rank]
        if rule.id in _OWN_SEARCH:
            if rank not in done:
                done.add(rank)
                hits += _OWN_SEARCH[rule.id](text, words, rank, rule)
            continue
        # A token stands in one word, and words repeat: most often nothing of the text is read.
        if rule.least and not _try(
            shown, rank, rule, beside.of(key, words.end(rule.least)), len(key)
        ):
            continue
        hits += _try(text, rank, rule, places.of(key), len(key))
    return hits


def _foreign(text: str) -> Iterator[Match]:
    """Rules whose keys are words of other scripts."""
    if text.isascii():
        return
    there = set("".join(beyond_ascii(text)).lower())
    data = b""
    for rank, key, forms in _foreign_keys:
        if not there.issuperset(c for c in key if c > "~"):
            continue
        data = data or text.encode("utf-8", "replace")
        if any(form in data for form in forms):
            low = text.lower()
            low = text.translate(_ASCII_LOWER) if len(low) != len(text) else low
            yield from _try(text, rank, _table[rank], list(find_all(low, key)), len(key))


def _across(text: str, folded: View, keys: list[Key], hits: list[Hit]) -> list[Hit]:
    """What only the reading across cuts shows: the match must hold a cut and a random value."""
    cut = marked(folded.text, CUT)
    if cut is None or len(text) > JOINED:
        return []
    flat = cut.replace(CUT, "")
    fresh = Words(flat, divided(cut))
    # A token stands in a word that a cut had divided, other keys may stand before the cut.
    left = _told_across({*fresh.keys(), *[key for key in keys if not _table[key[1]].least]})
    matches = search(flat, fresh, left)
    if not matches:
        return []
    view = joined(text)
    if view.text != flat:
        whole = Words(view.text)
        matches = search(view.text, whole, _told_across(whole.keys()))
    found: list[Hit] = []
    covered = sorted(hits)
    for start, end, rank, at in matches:
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


def _told_across(keys: Iterable[Key]) -> list[Key]:
    """Leave out the rules of values beside a name: those are found without their end."""
    return [(k, rank) for k, rank in keys if not _table[rank].fold or _table[rank].judge == "prose"]


def _try(text: str, rank: int, rule: Rule, places: list[int], size: int) -> list[Match]:
    """Try a rule wherever one of its keys stands."""
    hits: list[Match] = []
    after = refused_to = refused = 0
    for at in places:
        if at < after:
            continue
        hit, end = _match(text, at, rank, rule, size)
        if hit:
            hits.append((*hit, at))
            after = hit[1]
        elif end:
            # Keys repeated inside one long refused value would make the work quadratic.
            refused = refused + 1 if at < refused_to else 1
            refused_to = max(refused_to, end)
            after = refused_to if refused > _REFUSALS else 0
    return hits


def _match(text: str, at: int, rank: int, rule: Rule, size: int) -> tuple[Hit | None, int]:
    """The secret at a key, or else where the value ends that the judge refused."""
    other = not rule.fold and text[at : at + size] not in rule.keys
    # In another case than its vendor writes it, a key must at least begin a word.
    if other and (size < _FOLDABLE or text[at - 1 : at].isalnum()):
        return None, 0
    pattern = _pattern(rank, rule, other)
    refused = 0
    for back in rule.back:
        match = pattern.match(text, at - back) if at >= back else None
        if match is None:
            continue
        start, end = match.span("s")
        if start < 0:
            start, end = next(
                match.span(f"s{n}") for n in (2, 3, 4, 5) if match.start(f"s{n}") >= 0
            )
        if rule.id.startswith("private-key") and rule.id in _BLOCKS:
            return _key_block(text, start, end, rank, rule.id), 0
        value = match.group("v") if "v" in pattern.groupindex else text[start:end]
        value = value[:_JUDGED]
        judge = JUDGES["cased" if other else rule.judge]
        if value.strip(SENTINEL) and judge(value):
            return (start, end, rank), end
        refused = max(refused, end)
    return None, refused


def _pattern(rank: int, rule: Rule, fold: bool) -> re.Pattern[str]:
    # Compiled on first use: a hook process sees a handful of the rules, most often none.
    at = ~rank if fold else rank
    pattern = _compiled.get(at)
    if pattern is None:
        flags = re.ASCII | (re.IGNORECASE if rule.fold or fold else 0)
        pattern = _compiled[at] = re.compile(rule.pattern, flags)
    return pattern


def _tails(text: str, words: Words, rank: int, rule: Rule) -> Iterator[Match]:
    """Tokens of a vendor nobody knows: words, a separator, then a long random part."""
    pattern = _pattern(rank, rule, False)
    shown = words.tokens[: words.end(_TAIL_LEAST)].decode("ascii")
    tails: dict[str, int] = {}
    for match in pattern.finditer(shown):
        before = shown[max(0, match.start("s") - 64) : match.start("s")]
        start = tail_start(match.group("s")[:_JUDGED], before)
        if start is not None:
            # The same end may stand behind other words elsewhere: the fewest hold in any case.
            back = len(before) - start
            tails[match.group()] = min(back, tails.get(match.group(), back))
    if tails:
        # One more pass, not one for each tail: a hostile text has as many as it likes.
        for match in pattern.finditer(text):
            back = tails.get(match.group())
            if back is None:
                continue
            at = match.start("s")
            before = text[max(0, at - 64) : at]
            start = tail_start(match.group("s")[:_JUDGED], before)
            first = at - min(back, len(before)) if start is None else at - len(before) + start
            yield first, match.end(), rank, match.start()


def _kubernetes(text: str, words: Words, rank: int, rule: Rule) -> Iterator[Match]:
    """Every value under `data` and `stringData` of a Secret, whatever its name."""
    done = 0
    for at in find_all(words.low, b"kind"):
        if at < done or not _cached(_KUBE_KIND).match(text, at):
            continue
        first, last = max(done, at - _BLOCK), min(len(text), at + _BLOCK)
        for block in _cached(_KUBE_DATA).finditer(text, first, last):
            for pair in _cached(_KUBE_PAIR).finditer(text, block.start("b"), block.end("b")):
                if JUDGES[rule.judge](pair.group("s")[:_JUDGED]):
                    yield *pair.span("s"), rank, pair.start()
        done = last


_OWN_SEARCH = {"prefixed-token": _tails, "kubernetes-secret": _kubernetes, "told-secret": told}


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


def _encoded(text: str, words: Words, hits: list[Hit], depth: int) -> Iterator[Hit]:
    """Base64 or hexadecimal runs whose plain text holds a secret."""
    runs, readable = _cached(_RUN), _cached(_READABLE).match
    shown = words.tokens[: words.end(_RUN_LEAST)].decode("ascii")
    heads = {
        run
        for run in set(filter(readable, runs.findall(shown)))
        if any(True for _ in _plain_texts(run))
    }
    covered = sorted(hits) if heads else []
    after = index = 0
    for head in runs.finditer(text) if heads else ():
        at = head.start()
        if at < after or head.group() not in heads:
            continue
        while index < len(covered) and covered[index][1] <= at:
            index += 1
        if index < len(covered) and covered[index][0] <= at:
            continue
        for pattern in (_WRAPPED, _RUN):
            run = _cached(pattern).match(text, at)
            rank = _decoded_rank(run.group(), depth) if run else -1
            if run and rank >= 0:
                after = run.end()
                yield at, after, rank
                break


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
