"""Sentences a person wrote, with their offsets; code, quotes and logs are left out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HIDDEN = "\ufffc"

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})", re.MULTILINE)
_BLOCK_OPEN = re.compile(r"<([a-zA-Z][\w-]*)(?:\s[^<>\n]{0,400})?>")
_OUR_BLOCK = "<mkg-memory"
_QUOTES = re.compile(
    r"\"[^\"\n]{1,2000}\"|\u201c[^\u201d\n]{1,2000}\u201d"
    r"|\u201e[^\u201c\u201d\n]{1,2000}[\u201c\u201d]"
    r"|\u00ab[^\u00bb\n]{1,2000}\u00bb"
    r"|(?<![\w\u2019'])['\u2018](?=\S)[^'\u2018\n]{1,600}['\u2019](?!\w)"
    r"|\u300c[^\u300d\n]{1,2000}\u300d|\u300e[^\u300f\n]{1,2000}\u300f"
)
_LOG_LINE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|(?:\[?(?:ERROR|WARN(?:ING)?|INFO"
    r"|DEBUG|TRACE"
    r"|FATAL|CRITICAL)\]?[:\s])|Traceback \(most|File \"[^\"]+\", line|\s+at [\w$.<>]+\s?\(|npm "
    r"ERR!"
    r"|error\[\w+\]|\w+(?:Error|Exception): |\$ |>>> |@@ |diff --git|\+\+\+ |--- a/|[+-]\s{2,}\S"
    r"|[{\[]\"|"
    r"Exit code \d+|={5,}|-{5,}|\|.*\|\s*$|#include|import \w+;?$|from \w[\w.]* import )"
)
_QUOTED_LINE = re.compile(r"^\s{0,3}>")
_CODE_LINE = re.compile(r"^(?: {4,}|\t)\S")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+\u2022]|\d{1,3}[.)])\s+|^\s*#{1,6}\s+")
_STOP = re.compile(
    r"[.!?\u2026]+(?=[\"'\u201d\u2019)\]]*(?:\s|$))[\"'\u201d\u2019)\]]*|[\u3002\uff01\uff1f]+"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|resp|cf|dr|mr|mrs|ms|nr|fig|sec|st|z\.\s?b|d\.\s?h|bzw|usw"
    r"|ca|p\.\s?ex"
    r"|p\.\s?ej|sr|sra)|(?<!\w)\w)$",
    re.IGNORECASE,
)
_ENDS = ".!?:;\u2026\u3002\uff01\uff1f\uff1a"


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `source` verbatim, `visible` the same length with quotes hidden."""

    start: int
    end: int
    source: str
    visible: str
    paragraph: int


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of `text` that are neither code, quotation, log nor injected markup."""
    shown = _hide_quotes(_hide_lines(_hide_blocks(text)))
    return [
        Sentence(start, end, text[start:end], shown[start:end], paragraph)
        for paragraph, (left, right) in enumerate(_paragraphs(shown))
        for start, end in _split(shown, left, right)
    ]


def injected_texts(text: str) -> list[str]:
    """Return the lines inside every block this product injected into `text`."""
    found: list[str] = []
    position = text.find(_OUR_BLOCK)
    while position != -1:
        opened = text.find(">", position)
        if opened == -1:
            break
        closed = text.find("</mkg-memory", opened)
        body = text[opened + 1 : closed if closed != -1 else len(text)]
        found.extend(line.strip() for line in body.splitlines() if line.strip())
        position = text.find(_OUR_BLOCK, closed) if closed != -1 else -1
    return found


def has_code_or_log(text: str) -> bool:
    """Tell whether `text` holds a code block, a quotation of lines, a log or injected markup."""
    if _FENCE.search(text) or _hide_blocks(text) != text:
        return True
    lines = text.splitlines()
    logs = sum(1 for line in lines if _LOG_LINE.match(line))
    quoted = sum(1 for line in lines if _QUOTED_LINE.match(line))
    code = sum(1 for line in lines if _CODE_LINE.match(line))
    return logs >= 1 or quoted >= 1 or code >= 2 or _long_quote(text)


def _long_quote(text: str) -> bool:
    return any(len(match.group()) > 200 for match in _QUOTES.finditer(text))


def _hide_blocks(text: str) -> str:
    """Hide fenced code, our own injected block and any other element that is closed again."""
    spans = [*_fences(text), *_elements(text)]
    if not spans:
        return text
    letters = list(text)
    for start, end in spans:
        for i in range(start, end):
            if letters[i] != "\n":
                letters[i] = HIDDEN
    return "".join(letters)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
        elif match.group(1)[0] == opened.group(1)[0] and len(match.group(1)) >= len(
            opened.group(1)
        ):
            yield opened.start(), match.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _elements(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    unclosed: set[str] = set()
    while (match := _BLOCK_OPEN.search(text, position)) is not None:
        name = match.group(1)
        position = match.end()
        if name in unclosed:
            continue
        closed = text.find(f"</{name}", match.end())
        if closed == -1:
            # Remembered, so that thousands of open tags do not each scan to the end.
            unclosed.add(name)
            if name.startswith("mkg-memory"):
                yield match.start(), len(text)
                return
            continue
        end = text.find(">", closed)
        position = len(text) if end == -1 else end + 1
        yield match.start(), position


def _hide_lines(text: str) -> str:
    """Hide block quotes, indented code and log lines."""
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        body = line.rstrip("\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
        indented = _CODE_LINE.match(body) and not _LIST_ITEM.match(body)
        if body and (_QUOTED_LINE.match(body) or indented or _LOG_LINE.match(body)):
            kept.append(HIDDEN * len(body) + line[len(body) :])
        else:
            kept.append(line)
    return "".join(kept)


def _hide_quotes(text: str) -> str:
    def hide(match: re.Match[str]) -> str:
        body = match.group()
        return body[0] + HIDDEN * (len(body) - 2) + body[-1]

    return _QUOTES.sub(hide, text)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans of lines that belong together; a soft-wrapped line joins the one before it."""
    start: int | None = None
    end = 0
    previous = ""
    offset = 0
    for line in text.splitlines(keepends=True):
        body = line.strip()
        hidden = not body.strip(HIDDEN)
        wraps = (
            len(previous) >= 60
            and previous[-1] not in _ENDS
            and bool(body)
            and body[0].islower()
            and not _LIST_ITEM.match(line)
        )
        if start is not None and (hidden or not wraps):
            yield start, end
            start = None
        if not hidden:
            if start is None:
                marker = _LIST_ITEM.match(line)
                start = offset + (marker.end() if marker else 0)
            end = offset + len(line)
        previous = "" if hidden else body
        offset += len(line)
    if start is not None:
        yield start, end


def _split(text: str, left: int, right: int) -> Iterator[tuple[int, int]]:
    """Yield sentence spans inside `left:right`, trimmed of white space."""
    start = left
    for stop in _STOP.finditer(text, left, right):
        if stop.group()[0] == "." and _ABBREVIATION.search(
            text, max(start, stop.start() - 8), stop.start()
        ):
            continue
        yield from _trimmed(text, start, stop.end())
        start = stop.end()
    yield from _trimmed(text, start, right)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and (text[start].isspace() or text[start] == HIDDEN):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] == HIDDEN):
        end -= 1
    if end > start:
        yield start, end
