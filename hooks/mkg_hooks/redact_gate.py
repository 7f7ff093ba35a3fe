"""Which keys of the rules stand in a text, and where: the part of the search that reads all of it.

Words repeat, so the distinct words of a text stand for the whole of it; and four bytes in a row,
read as one number, tell by one look-up in a small set that a key is in none of them.
"""

import sys
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import AnyStr, NamedTuple

# Brackets, commas and blanks end a word.
_WORD_ENDS = bytes(32 if c < 33 or c in b"(){}[],;<>|`" else c for c in range(256))
CUT = "\1"
_CUT_WORD_ENDS = _WORD_ENDS[:1] + b"\1" + _WORD_ENDS[2:]
# The shortest word with a token in it: no pattern of a dense rule matches less.
LONG = 14
# Most names of secrets share a few words: one search for each word serves them all.
# A checksum at the end of a word holds no key, and letters of a long base64 text spell short keys
# by chance only: most of their characters are left out of the search for keys.
_SUM, _SUM_LEAST, _KEPT = b"0123456789abcdefABCDEF-", 24, 8
_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_BLOB, _BLOB_END = 4_096, 1_024
_ANCHORS = (b"secret", b"token", b"pass", b"auth", b"key")

Key = tuple[bytes, int]  # a key in lower case, the rank of its rule
Dense = tuple[bytes, int, int]  # and the least length of its word


class _Piece(NamedTuple):
    """The longest part of some keys that stands in one word, with those keys."""

    text: bytes
    grams: tuple[int, ...]
    dense: list[Dense]  # of rules whose match stands in one word
    open: list[Key]


_pieces: dict[bytes, _Piece] = {}
_by_gram: dict[int, list[_Piece]] = {}
_short: list[_Piece] = []
_anchors: dict[bytes, bytes] = {}


def enlist(key: bytes, rank: int, least: int) -> None:
    """Take a key of a rule into the tables."""
    text = key.translate(_WORD_ENDS)
    if b" " in text:
        bare = max(text.split(), key=len)
        at = text.index(bare)
        # With the blank before or after it: a word that only begins so is another one.
        before = b" " if at and text[at - 1 : at] == b" " else b""
        text = before + bare + text[at + len(bare) : at + len(bare) + 1]
    piece = _pieces.get(text)
    if piece is None:
        grams = _grams_of(text)
        piece = _pieces[text] = _Piece(text, grams, [], [])
        (_by_gram.setdefault(grams[0], []) if grams else _short).append(piece)
        for gram in grams[1:]:
            _by_gram.setdefault(gram, [])
    if least:
        piece.dense.append((key, rank, least))
    else:
        piece.open.append((key, rank))


def _grams_of(piece: bytes) -> tuple[int, ...]:
    """The numbers of its first and its last four bytes."""
    if len(piece) < 4:
        return ()
    ends = (piece[:4], piece[-4:]) if len(piece) > 4 else (piece,)
    return tuple([int.from_bytes(four, sys.byteorder) for four in ends])


class Words:
    """The distinct words of a text, the longest first, with the text in lower case."""

    __slots__ = ("_ends", "_lengths", "_long", "_short", "low", "tokens")

    def __init__(self, text: str, distinct: set[bytes] | None = None) -> None:
        # Bytes of the same length: a search in them is many times faster than one in a text with
        # a single character outside ASCII, and offsets stay.
        data = text.encode("ascii", "replace")
        self.low = data.lower()
        if distinct is None:
            distinct = set(data.translate(_WORD_ENDS).split())
        self._short = [word for word in distinct if len(word) < LONG]
        self._long = [word for word in distinct if len(word) >= LONG]
        self._long.sort(key=len, reverse=True)
        self._lengths = [-len(word) for word in self._long]
        self._ends = [0, *accumulate([len(word) + 1 for word in self._long])]
        self.tokens = b" ".join(self._long)

    def end(self, least: int) -> int:
        """Where in `tokens` the words of at least this length end."""
        return self._ends[bisect_right(self._lengths, -least)]

    def keys(self) -> list[Key]:
        """The keys that may stand in these words."""
        worth = bisect_right(self._lengths, -_SUM_LEAST - _KEPT)
        shown = [*map(_without_sum, self._long[:worth]), *self._long[worth:]]
        ends = [0, *accumulate([len(word) + 1 for word in shown])]
        long = b" ".join([*shown, b""]).lower()
        gate = b" ".join([b"", *self._short, b""]).lower() + long
        found: list[Key] = []
        there = _grams(gate)
        pieces = [p for gram in there for p in _by_gram[gram] if there.issuperset(p.grams)]
        for piece in _short + pieces:
            if piece.open and piece.text in gate:
                found += piece.open
            for key, rank, least in piece.dense:
                if long.find(piece.text, 0, ends[bisect_right(self._lengths, -least)]) >= 0:
                    found.append((key, rank))
        return found


def every_key() -> list[Key]:
    """All keys, as for words that hold each of them."""
    open_keys = [key for piece in _pieces.values() for key in piece.open]
    return open_keys + [key[:2] for piece in _pieces.values() for key in piece.dense]


def divided(text: str) -> set[bytes]:
    """The words of a text in which marks (`CUT`) stand, without the marks."""
    first, *rest = text.encode("ascii", "replace").translate(_CUT_WORD_ENDS).split(b"\1")
    found: set[bytes] = set()
    word = [first.rpartition(b" ")[2]]
    for part in rest:
        head, blank, tail = part.partition(b" ")
        word.append(head)
        if blank:
            found.add(b"".join(word))
            word = [tail.rpartition(b" ")[2]]
    if len(word) > 1:
        found.add(b"".join(word))
    return found


def _without_sum(word: bytes) -> bytes:
    """A word without most of the characters that cannot be part of a key."""
    if len(word) >= _BLOB and not word.strip(_BASE64):
        return word[:_BLOB_END] + word[-_BLOB_END:]
    left = len(word.rstrip(_SUM)) + _KEPT
    return word if len(word) - left < _SUM_LEAST else word[:left]


def _grams(gate: bytes) -> set[int]:
    """The numbers of keys among every four bytes of the words."""
    known = _by_gram.keys()
    found: set[int] = set()
    for shift in range(4):
        end = len(gate) - (len(gate) - shift) % 4
        found.update(known & memoryview(gate)[shift:end].cast("I"))
    return found


class Places:
    """Where keys stand in a text, each looked for once."""

    __slots__ = ("_seen", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._seen: dict[tuple[bytes, int | None], list[int]] = {}

    def of(self, key: bytes, end: int | None = None) -> list[int]:
        """The places of a key that ends at or before `end`."""
        places = self._seen.get((key, end))
        if places is None:
            places = self._seen[key, end] = []
            anchor = _anchors.get(key)
            if anchor is None:
                # Blanks are everywhere: a search for what stands between them is faster.
                bare = key.strip(b" (")
                anchor = next((word for word in _ANCHORS if word in key and word != key), bare)
                anchor = _anchors[key] = b"" if anchor == key else anchor
            if anchor:
                offset = key.index(anchor)
                places += [
                    at - offset
                    for at in self.of(anchor, end)
                    if self._text.startswith(key, at - offset) and at >= offset
                ]
            else:
                places += find_all(self._text, key, end)
        return places


def find_all(text: AnyStr, key: AnyStr, end: int | None = None) -> Iterator[int]:
    """Every place of a key in a text."""
    at = text.find(key, 0, end)
    while at >= 0:
        yield at
        at = text.find(key, at + len(key), end)
