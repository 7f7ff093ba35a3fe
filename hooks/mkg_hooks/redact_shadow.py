"""The copy of a text that secret rules are matched on, with the way back to the original offsets.

A credential with a zero-width space in it, in full-width letters or behind a look-alike letter is
still a credential to whoever copies it, so rules see a folded copy; what is masked is the original.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

# One control character stands for a marker that is already there: no token class contains it, so
# a marker can neither be taken for a secret nor be cut in two. Real controls are stripped first.
SENTINEL = "\x1a"
MARKER = r"\[REDACTED:[a-z0-9-]{1,40}\]|\[PRIVATE\]"

# Letters of other alphabets, and punctuation, that read as the ASCII character in front of them.
_ALIKE = {
    "a": "\u0430\u03b1\u0251",
    "c": "\u0441\u03f2\u1d04",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261\u0581",
    "h": "\u04bb\u0570",
    "i": "\u0456\u03b9\u0131",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba",
    "l": "\u04cf",
    "n": "\u0578",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "u": "\u057d\u03c5",
    "v": "\u03bd\u0475",
    "w": "\u051d",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3",
    "A": "\u0410\u0391",
    "B": "\u0412\u0392",
    "C": "\u0421\u03f9",
    "E": "\u0415\u0395",
    "H": "\u041d\u0397",
    "I": "\u0406\u0399\u04c0",
    "J": "\u0408\u037f",
    "K": "\u041a\u039a",
    "M": "\u041c\u039c",
    "N": "\u039d",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "S": "\u0405",
    "T": "\u0422\u03a4",
    "X": "\u0425\u03a7",
    "Y": "\u04ae\u03a5",
    "Z": "\u0396",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "'": "\u2018\u2019\u201a\u201b\u2032",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212",
    "/": "\u2044\u2215",
    ":": "\u02d0\u2236\ua789",
    "\n": "\u2028\u2029\x85",
}
_LOOK_ALIKES = {ord(alike): plain for plain, group in _ALIKE.items() for alike in group}
# Letters without an ink of their own that Unicode does not call format characters.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_ASCII = bytes(range(128))
_PLAIN_CONTROLS = bytes(c for c in range(32) if c not in (9, 10, 13, 27)) + b"\x7f"
# One pattern for each first character: a search for a literal is many times faster than one for
# a choice, and most texts hold none or one of them. The hint says whether to search at all.
_CHANGES = (
    ("[REDACTED:", r"\[REDACTED:[a-z0-9-]{1,40}\]"),
    ("[PRIVATE]", r"\[PRIVATE\]"),
    ("\x1b", r"\x1b(?:\[[0-9;?]{0,24}[ -/]{0,2}[@-~])?"),
    ("&#", r"&#(?:x[0-9a-fA-F]{2,6}|[0-9]{2,7});"),
    (
        "\\u",
        r"\\\\{0,3}u(?:[dD][89abAB][0-9a-fA-F]{2}\\{1,4}u[dD][c-fC-F][0-9a-fA-F]{2}"
        r"|[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})",
    ),
    ("\\U", r"\\\\{0,3}U[0-9a-fA-F]{8}"),
    ("\\x", r"\\\\{0,3}x[0-9a-fA-F]{2}"),
)
_CONTROLS = r"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]"
# Where a token may have been cut: a line break, or the end and the start of two strings.
_CUT = (
    r"[\n\"'`](?:(?<=\n)(?:(?<=[\w/+=.:@~\-]\n)|(?<=[\w/+=.:@~\-][\\\r]\n))[ \t]{0,64}"
    r"|(?<=[\w/+=.:@~\-][\"'`])[ \t]{0,8}(?:[+.&]|\|\|)?[ \t]{0,8}"
    r"(?:\\?\r?\n[ \t]{0,64})?(?:[+.&][ \t]{0,8})?[\"'`])(?=[\w/+=.:@~\-])"
)
CUTS = "\n\"'`"
JOINED = 131_072
_FAR, _REACH = 4_096, 512
_PERCENT = (
    "%(?:[2-7][0-9a-fA-F]|0[aAdD]|[cdCD][0-9a-fA-F]%[89abAB][0-9a-fA-F]"
    "|[eE][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){2}|[fF][0-7](?:%[89abAB][0-9a-fA-F]){3})"
)
Piece = tuple[int, int, bool]  # start, end, whether it is out of reach of this view
_patterns: dict[str, re.Pattern[str]] = {}
_folds: dict[str, str] = {}


class View(NamedTuple):
    """A folded text; the lists hold one entry per piece, empty lists mean nothing was folded."""

    text: str
    shadow_at: list[int]
    origin_at: list[int]
    origin_end: list[int]

    def span(self, start: int, end: int, length: int) -> tuple[int, int]:
        """Map a span of the folded text to the original, with the invisible characters round it."""
        if not self.shadow_at:
            return start, end
        before, first = (self._of(start - 1)[1] if start else 0), self._of(start)[0]
        after = self._of(end)[0] if end < len(self.text) else length
        return min(before, first), max(after, self._of(end - 1)[1])

    def _of(self, index: int) -> tuple[int, int]:
        piece = bisect_right(self.shadow_at, index) - 1
        origin, end = self.origin_at[piece], self.origin_end[piece]
        if end >= 0:
            return origin, end
        at = origin + index - self.shadow_at[piece]
        return at, at + 1


def views(text: str) -> list[View]:
    """The folded readings of a text: the usual one, and others where the text calls for them."""
    found = [_fold(text)]
    if "%" in text and _spans(_PERCENT, text):
        found.append(_fold(text, percent=True))
    if not text.isascii() and any("\U000e0020" <= c <= "\U000e007e" for c in set(text)):
        # A tag letter may be the token or may only be glued to its end: try both readings.
        found.append(_fold(text, tags=False))
    return found


def marked(text: str, mark: str) -> str | None:
    """A short text with a mark for each line break or string concatenation that divides a word."""
    if len(text) > JOINED or not any(cut in text for cut in CUTS):
        return None
    found, times = _compiled(_CUT).subn(mark, text)
    # What continues a line goes with it.
    return found.replace("\\" + mark, mark).replace("\r" + mark, mark) if times else None


def joined(text: str) -> View:
    """A text read across line breaks and string concatenations."""
    return _fold(text, cuts=True)


def fold_char(char: str, *, tags: bool = True) -> str:
    """What one character reads as: nothing for invisible ones, ASCII where it looks like ASCII."""
    if " " <= char <= "~" or char in "\t\n\r":
        return char
    if "\U000e0020" <= char <= "\U000e007e":
        return chr(ord(char) - 0xE0000) if tags else ""
    folded = _folds.get(char)
    if folded is None:
        if len(_folds) > 20_000:
            _folds.clear()
        folded = _folds[char] = _fold_new(char)
    return folded


def _fold_new(char: str) -> str:
    import unicodedata

    alike = char.translate(_LOOK_ALIKES)
    if alike != char:
        return alike
    if char in _BLANK or unicodedata.category(char) in ("Cf", "Cn", "Co", "Cs", "Cc", "Mn", "Me"):
        return ""
    flat = unicodedata.normalize("NFKC", char)
    if not flat.isascii():
        base = unicodedata.normalize("NFKD", flat)[0]
        flat = base if base.isascii() else flat
    return flat.translate(_LOOK_ALIKES)


def _fold(text: str, *, percent: bool = False, tags: bool = True, cuts: bool = False) -> View:
    pieces: list[str] = []
    shadow_at: list[int] = []
    origin_at: list[int] = []
    origin_end: list[int] = []
    at = size = 0
    changes = _changes(text, percent, tags)
    if cuts:
        changes += [
            (start - (text[start - 1 : start] in ("\\", "\r")), end, far)
            for start, end, far in _spans(_CUT, text)
        ]
        changes.sort()
    for start, end, far in changes:
        if start < at:
            continue
        read = "\n" if far else _read(text[start:end], percent, tags)
        if start > at:
            pieces.append(text[at:start])
            shadow_at.append(size)
            origin_at.append(at)
            origin_end.append(-1)
            size += start - at
        if read:
            pieces.append(read)
            shadow_at.append(size)
            origin_at.append(start)
            origin_end.append(end)
            size += len(read)
        at = end
    if at == 0:
        return View(text, [], [], [])
    if at < len(text) or not shadow_at:
        pieces.append(text[at:])
        shadow_at.append(size)
        origin_at.append(at)
        origin_end.append(-1)
    return View("".join(pieces), shadow_at, origin_at, origin_end)


def _changes(text: str, percent: bool, tags: bool) -> list[Piece]:
    spans: list[Piece] = []
    for hint, pattern in _CHANGES:
        if hint in text:
            spans += _spans(pattern, text)
    plain = text.encode("ascii", "replace")
    if len(plain.translate(None, _PLAIN_CONTROLS)) != len(plain):
        spans += _spans(_CONTROLS, text)
    if percent:
        escapes = _spans(_PERCENT, text)
        spans += escapes + (_far(escapes, len(text)) if len(text) > _FAR else [])
    if not text.isascii():
        letters = others = blank = ""
        for char in sorted(beyond_ascii(text)):
            read = fold_char(char, tags=tags)
            if char > "~" and read != char:
                if "\u0370" <= char <= "\u058f":
                    letters += char
                elif not read:
                    blank += re.escape(char)
                else:
                    others += re.escape(char)
        if others:
            spans += _spans(f"[{others}]", text)
        if blank:
            spans += _spans(f"[{blank}]+", text)
        if letters:
            # Whole Greek or Cyrillic words stay as they are: only letters that touch ASCII can
            # be part of a disguised token, and folding a whole language would cost its length.
            touch = r"[!-~\u200b-\u2064\ufeff\u00ad]"
            spans += _spans(
                f"[{letters}](?:(?<={touch}[{letters}])[{letters}]{{0,15}}"
                f"|[{letters}]{{0,15}}+(?={touch}))",
                text,
            )
    spans.sort()
    return spans


def beyond_ascii(text: str) -> set[str]:
    """The characters of a text that are none of ASCII."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
    return set(rest.decode("utf-8", "surrogatepass"))


def _far(escapes: list[Piece], length: int) -> list[Piece]:
    """The stretches of a long text without an escape in reach; another view has read them."""
    spans: list[Piece] = []
    at = 0
    for start, end, _ in [*escapes, (length + _REACH, length, False)]:
        if start - _REACH > at:
            spans.append((at, start - _REACH, True))
        at = max(at, end + _REACH)
    return spans


def _spans(pattern: str, text: str) -> list[Piece]:
    return [(*match.span(), False) for match in _compiled(pattern).finditer(text)]


def _compiled(pattern: str) -> re.Pattern[str]:
    compiled = _patterns.get(pattern)
    if compiled is None:
        if len(_patterns) > 200:
            _patterns.clear()
        compiled = _patterns[pattern] = re.compile(pattern)
    return compiled


def _read(piece: str, percent: bool, tags: bool) -> str:
    if len(piece) == 1 and piece != "\n":
        return fold_char(piece, tags=tags) if piece > "~" else ""
    first = piece[0]
    if first in CUTS or piece[:2] in ("\\\n", "\r\n"):
        return ""
    if first == "[":
        return SENTINEL
    if first == "\x1b":
        return ""
    if first == "%" and percent:
        raw = bytes.fromhex(piece.replace("%", ""))
        return "".join([fold_char(c, tags=tags) for c in raw.decode("utf-8", "replace")])
    if first == "&":
        return _decoded(int(piece[3:-1], 16) if piece[2] == "x" else int(piece[2:-1]), tags)
    if first != "\\":
        return "".join([fold_char(c, tags=tags) for c in piece])
    bare = piece.lstrip("\\")
    if bare.count("u") == 2:
        high, low = bare[1:5], bare[-4:]
        return _decoded(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF), tags)
    return _decoded(int(bare[1:].strip("{}"), 16), tags)


def _decoded(code: int, tags: bool) -> str:
    return fold_char(chr(code), tags=tags) if code <= 0x10FFFF else ""
