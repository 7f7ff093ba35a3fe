"""The readings of a text that the screen matches on: what a model sees, not what is stored."""

import base64
import binascii
import html
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote

# Written as escapes so that the source itself stays readable and plain.
_FORMAT = (
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e01ef"
)
_STRIP = re.compile(f"[{_FORMAT}]+")
_JOINERS = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]+")
_HIDDEN_IN_WORD = re.compile("[a-zA-Z][\u200b-\u200f\u2060-\u2064\u00ad\ufeff][a-zA-Z]")
# A selector changes the look of an emoji or of an ideograph before it, one of each at a time.
_SELECTOR = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SELECTORS = re.compile(f'{_SELECTOR}{{2,}}|(?:[ -"$-)+-/:-~]|^){_SELECTOR}')
# Letters that are drawn as nothing, where no word of their script is.
_BLANKS = re.compile("[\u115f\u1160\u3164\uffa0\u17b4\u17b5\u2800\u034f]")
_HANGUL = re.compile("[\u1100-\u115e\u1161-\u11ff\u3130-\u3163\u3165-\u318f\uac00-\ud7af]")
_KIN = "\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\uab70-\uabbf\u2c80-\u2cff\ua4d0-\ua4ff"
# Two changes of script within a word are no word of any language.
_MIXED = re.compile(f"[A-Za-z][{_KIN}]+[A-Za-z]|[{_KIN}][A-Za-z]+[{_KIN}]")
# Scripts whose letters look like capitals, and phonetic letters, in the midst of Latin words.
_STRANGE = re.compile(
    "[\u13a0-\u13ff\uab70-\uabbf\u2c80-\u2cff\ua4d0-\ua4ff\U00010400-\U0001044f]{3,}"
)
_PHONETIC = re.compile(
    "(?<![\\w/\\[])(?:[\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]){3,}(?![\\w/\\]])"
)
_LATIN_WORDS = re.compile(r"\b[A-Za-z]{3,}\b.*\b[A-Za-z]{3,}\b", re.DOTALL)
# Badges and flags of letters, which compatibility forms leave alone.
_BADGES = {first + n: chr(ord("A") + n) for first in (0x1F150, 0x1F170, 0x1F1E6) for n in range(26)}
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
# A subdivision flag is the one honest use of tag characters: black flag, up to six tags, cancel.
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_OVERRIDE = re.compile("[\u202d\u202e]")
_REVERSED = re.compile("\u202e([^\u202c\n]*)[\u202c\n]?")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MARK_FLOOD = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{5,}")
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")
_SPACED = re.compile(r"(?<!\S)[^\W\d_](?:[ ._*|\n\t\-][^\W\d_]){3,}(?!\S)")
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/=_\-])[A-Za-z0-9+/_\-]{24,4000}={0,2}(?![A-Za-z0-9+/=_\-])")
_SPACES = re.compile(r"\s+")
_CODE_WORD = re.compile(r"`{1,3}(\w+)`{1,3}")
_EMPHASIS = re.compile(r"\*+|(?<=\w)`+(?=\w)|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|~~")
_FOREIGN = re.compile(
    "[\u0131\u0250-\u02af\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1d00-\u1d7f\ua730-\ua7ff]"
)
_LATIN = re.compile("[a-z]")
_LEET_WORD = re.compile(
    r"(?<![\w./:-])(?=\w*[a-z])(?=\w*[013457@$])[a-z013457@$]{4,24}(?![\w./:-])"
)

_LOOKS_LIKE = {
    # Cyrillic
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445": "abekmhopctyx",
    "\u0456\u0458\u0455\u0501\u051b\u051d\u04bb\u04cf\u0475\u0433\u043f": "ijsdqwhlvrn",
    # Greek
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7": "abenikvoptux",
    "\u03c9\u03b3": "wy",
    # Armenian and Latin letters that compatibility forms leave alone
    "\u0585\u057d\u0578\u0581\u0570\u0131\u0251\u0261\u0269": "ounghiagi",
    # Small capitals
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f": "abcdefghijkl",
    "\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22": "mnoprstuvwyz",
}
_CONFUSABLES = {
    ord(odd): plain
    for odds, plains in _LOOKS_LIKE.items()
    for odd, plain in zip(odds, plains, strict=True)
}
_LEET = str.maketrans("013457@$", "oieastas")


@dataclass(frozen=True, slots=True)
class Shadow:
    """Every reading of one text, with the tricks that were found on the way."""

    plain: str
    readings: tuple[str, ...]
    squashed: str
    smuggled: bool
    hidden: bool
    reordered: bool
    flooded: bool
    controls: bool
    spaced: bool


def shadow(text: str) -> Shadow:
    """Return all readings of `text` a reader could be shown, folded for matching."""
    shades = [_one_shadow(form) for form in (text, *_decoded_forms(text))]
    first = shades[0]
    return Shadow(
        plain=first.plain,
        readings=tuple(dict.fromkeys(r for shade in shades for r in shade.readings)),
        squashed=" ".join(shade.squashed for shade in shades).strip(),
        smuggled=any(shade.smuggled for shade in shades),
        hidden=any(shade.hidden for shade in shades),
        reordered=any(shade.reordered for shade in shades),
        flooded=any(shade.flooded for shade in shades),
        controls=first.controls,
        spaced=any(shade.spaced for shade in shades),
    )


def _one_shadow(text: str) -> Shadow:
    """Return the readings of a text whose escapes are taken as they stand."""
    decoded, smuggled = _decode_tags(text)
    decoded = decoded.translate(_BADGES)
    reordered = bool(_OVERRIDE.search(decoded))
    plain = fold(_STRIP.sub("", decoded))
    joined, spaced = _join_spaced(_STRIP.sub("", decoded))
    candidates = [joined]
    if reordered:
        candidates.append(_REVERSED.sub(lambda m: m.group(1)[::-1], decoded))
    if _JOINERS.search(decoded):
        candidates.append(_JOINERS.sub(" ", decoded))
    readings: dict[str, None] = {plain: None}
    for form in (plain, *(fold(_STRIP.sub("", candidate)) for candidate in candidates)):
        readings[form] = None
        for further in _folded_forms(form):
            readings[further] = None
    return Shadow(
        plain=plain,
        readings=tuple(readings),
        squashed=re.sub(r"[\W_]+", "", fold(joined)) if spaced else "",
        smuggled=smuggled or bool(_SELECTORS.search(text)),
        hidden=bool(_HIDDEN_IN_WORD.search(text)) or _odd_letters(text),
        reordered=reordered,
        flooded=bool(_MARK_FLOOD.search(text)),
        controls=bool(_CONTROLS.search(text)),
        spaced=spaced,
    )


def _odd_letters(text: str) -> bool:
    """Tell whether letters stand where they are only looked at: blanks, mixed or strange ones."""
    if text.isascii():
        return False
    if _BLANKS.search(text) and not _HANGUL.search(text):
        return True
    if _MIXED.search(text) or _PHONETIC.search(text):
        return True
    return bool(_STRANGE.search(text)) and bool(_LATIN_WORDS.search(text))


def fold(text: str) -> str:
    """Return `text` in compatibility form, without accents, case and runs of white space."""
    shaped = text
    if not text.isascii():
        shaped = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
        # Composed again, or the marks inside Japanese letters would stand alone.
        shaped = unicodedata.normalize("NFC", shaped)
    shaped = shaped.casefold().replace("\u2019", "'").replace("\u2018", "'")
    shaped = _CONTROLS.sub("", shaped)
    return _SPACES.sub(" ", shaped).strip()


def _decode_tags(text: str) -> tuple[str, bool]:
    """Return `text` with tag characters spelled out, and whether it had any outside a flag."""
    if not _TAGS.search(text):
        return text, False
    without_flags = _FLAG.sub("", text)
    if not _TAGS.search(without_flags):
        return without_flags, False

    def spell(match: re.Match[str]) -> str:
        letters = (chr(ord(c) - 0xE0000) for c in match.group())
        return " " + "".join(c if c.isprintable() else " " for c in letters) + " "

    return _TAGS.sub(spell, without_flags), True


def _join_spaced(text: str) -> tuple[str, bool]:
    """Return `text` with s p a c e d letters joined, and whether a long run of them was there."""
    longest = 0

    def join(match: re.Match[str]) -> str:
        nonlocal longest
        letters = match.group()[::2]
        longest = max(longest, len(letters))
        return letters

    return _SPACED.sub(join, text), longest >= 6


def _decoded_forms(text: str) -> list[str]:
    """Return what the text says once escapes, entities and base64 in it are read."""
    forms: list[str] = []
    if "&" in text and ";" in text:
        forms.append(html.unescape(text))
    if "%" in text and (read := unquote(text, errors="replace")) != text:
        forms.append(read)
    if "\\" in text and _ESCAPES.search(text):
        units = _ESCAPES.sub(lambda m: chr(int(m.group(1) or m.group(2), 16)), text)
        # Two escapes may be the halves of one character.
        forms.append(units.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    for match in list(_BASE64.finditer(text))[:20]:
        blob = match.group().rstrip("=").replace("-", "+").replace("_", "/")
        try:
            read = base64.b64decode(blob + "=" * (-len(blob) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if " " in read and sum(c.isprintable() for c in read) > 0.95 * len(read):
            forms.append(read)
    return [form for form in forms if form != text]


def _folded_forms(folded: str) -> list[str]:
    """Return look-alike, emphasis-free and digit-for-letter readings that differ from `folded`."""
    forms: list[str] = []
    current = folded
    if _FOREIGN.search(current) and _LATIN.search(current):
        current = current.translate(_CONFUSABLES)
        forms.append(current)
    bare = _SPACES.sub(" ", _EMPHASIS.sub("", _CODE_WORD.sub(r"\1", current))).strip()
    if bare != current:
        forms.append(bare)
    letters = _LEET_WORD.sub(lambda m: m.group().translate(_LEET), bare)
    if letters != bare:
        forms.append(letters)
    return forms
