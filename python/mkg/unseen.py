"""Characters that a reader does not see: they may hide a text, or change what stands beside it."""

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs", "Co", "Cn"})
# Of other categories, and yet drawn as nothing: fillers, joiners of marks, selectors of a form.
_BLANK = frozenset(
    [
        *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
        *map(chr, range(0x180B, 0x1810)),
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
    ]
)


def unseen(c: str) -> bool:
    """Tell whether a character is not seen as itself."""
    return not c.isascii() and (c in _BLANK or unicodedata.category(c) in _UNSEEN)
