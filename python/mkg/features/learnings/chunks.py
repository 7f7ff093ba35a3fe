"""A window as a model reads it: dialogue and failed calls, in pieces it can take in at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mkg.features.learnings import extract_errors as errors
from mkg.features.learnings.extract import CHUNK, Turn, fix_of
from mkg.features.learnings.extract_origin import worst

ERROR, FIX = 600, 600
SMALLEST = 400
WordsOf = Callable[[str], set[str]]
GLUE = 0.4
PASSING = "(a failure that passes by itself)"


@dataclass(frozen=True, slots=True)
class Shown:
    """One turn on a sheet; `text` is a verbatim part of the turn's, from `offset` on."""

    id: str
    turn: Turn
    text: str
    offset: int
    fix: str | None = None

    def row(self) -> dict[str, object]:
        """What the model is given of it."""
        who = "failed call" if self.turn.role == "tool_failure" else self.turn.role
        told: dict[str, object] = {"id": self.id, "who": who, "text": self.text}
        if self.turn.role == "tool_failure":
            told["tool"] = errors.tool_key(self.turn.tool_name or "")
            if errors.transient(self.turn.text):
                told["text"] = PASSING
            if self.fix is not None:
                told["fix"] = self.fix
        return told


@dataclass(frozen=True, slots=True)
class Chunk:
    """Events that are marked as read together, and the sheets that show all of them."""

    first: int
    end: int
    sheets: tuple[tuple[Shown, ...], ...]


def plan(turns: Sequence[Turn], places: Sequence[int], events: int) -> list[Chunk]:
    """Cut a window into chunks of at most CHUNK characters; nothing is left out of the sheets.

    `places` holds the event of each turn, as its number in the window of `events` events. A turn
    that is longer than a sheet stands on several, in one chunk.
    """
    chunks: list[Chunk] = []
    start, sheet, size = 0, list[tuple[Turn, int]](), 0
    for no, turn in enumerate(turns):
        length = _length(turn)
        if sheet and size + length > CHUNK:
            chunks.append(Chunk(start, places[no], _sheets(sheet, turns)))
            start, sheet, size = places[no], [], 0
        sheet.append((turn, no))
        size += length
    chunks.append(Chunk(start, events, _sheets(sheet, turns)))
    return chunks


def _length(turn: Turn) -> int:
    if turn.role == "tool_success":
        return 0
    return min(len(turn.text), ERROR) + FIX if turn.role == "tool_failure" else len(turn.text)


def _sheets(
    part: Sequence[tuple[Turn, int]], window: Sequence[Turn]
) -> tuple[tuple[Shown, ...], ...]:
    sheets: list[list[Shown]] = [[]]
    size = 0
    for turn, no in part:
        if turn.role == "tool_success":
            continue
        text = turn.text[:ERROR] if turn.role == "tool_failure" else turn.text
        fix = fix_of(window, no) if turn.role == "tool_failure" else None
        for offset in range(0, max(1, len(text)), CHUNK):
            piece = text[offset : offset + CHUNK]
            if sheets[-1] and size + len(piece) > CHUNK:
                sheets.append([])
                size = 0
            name = f"t{len(sheets[-1]) + 1}"
            sheets[-1].append(Shown(name, turn, piece, offset, fix[:FIX] if fix else None))
            size += len(piece)
    return tuple(tuple(sheet) for sheet in sheets if sheet)


def halved(sheet: Sequence[Shown]) -> tuple[Sequence[Shown], ...]:
    """A sheet in two that together show all of it; nothing for one too small to cut."""
    if len(sheet) > 1:
        return sheet[: len(sheet) // 2], sheet[len(sheet) // 2 :]
    if not sheet or len(sheet[0].text) < SMALLEST:
        return ()
    one = sheet[0]
    # Between words, where there is a gap: a quote has to stand in one half.
    middle = one.text.rfind(" ", 1, len(one.text) // 2 + 1)
    middle = middle if middle > 0 else len(one.text) // 2
    rest = replace(one, text=one.text[middle:], offset=one.offset + middle)
    return (replace(one, text=one.text[:middle]),), (rest,)


def origin_of(text_words: set[str], shown: Shown, sheet: Sequence[Shown], words: WordsOf) -> str:
    """The worst origin of everything that a text takes its words from (SEC-20).

    A model that cites a typed turn for what another turn says gives it no better origin: words
    that the cited turn lacks are looked for in the others. A few words that stand nowhere are a
    model's way to put it; many of them, or a number, are its own invention.
    """
    missing = text_words - words(shown.turn.text)
    sources = [shown.turn.origin]
    sources += [other.turn.origin for other in sheet if missing & words(other.text)]
    invented = any(c.isdigit() for word in missing for c in word)
    if invented or len(missing) > GLUE * len(text_words):
        sources.append("assistant_clean")
    return worst(sources)


def in_typed_words(text_words: set[str], sheet: Sequence[Shown], words: WordsOf) -> bool:
    """Whether a text of a model's says what the user typed, whoever else said it too.

    A model may put it its own way, with a few words that stand nowhere. A word that only another
    turn has, or a number of its own, makes it something else.
    """
    typed: set[str] = set()
    others: set[str] = set()
    for shown in sheet:
        mine = shown.turn.role == "user" and shown.turn.origin == "user_typed"
        (typed if mine else others).update(words(f"{shown.text} {shown.fix or ''}"))
    missing = text_words - typed
    invented = any(c.isdigit() for word in missing for c in word)
    return not (missing & others) and not invented and len(missing) <= GLUE * len(text_words)
