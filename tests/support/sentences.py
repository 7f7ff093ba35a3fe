"""Families of sentences for the screen and the extractor, each with a held-out half.

The halves are divided by template, not by filled-in word: rules are written looking at `seen`
and measured on `held_out`, so a rate on `held_out` says something about wording nobody tuned for.
"""

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Hostile:
    """One text that must be held up, and the channel it arrives on."""

    family: str
    channel: str
    text: str


def expand(template: str, limit: int = 4) -> list[str]:
    """Return up to `limit` fillings of the {a|b} slots of `template`, spread over all of them."""
    parts = _SLOT.split(template)
    options = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    filled = ["".join(choice) for choice in itertools.product(*options)]
    step = max(1, len(filled) // limit)
    return filled[::step][:limit]


def half(template: str) -> str:
    """Return which half a template belongs to, the same on every machine."""
    return "held_out" if hashlib.sha1(template.encode()).digest()[0] % 2 else "seen"


def hostile(which: str) -> Iterator[Hostile]:
    """Yield every hostile text of one half, once typed (U) and once not, where that applies."""
    for line in (_FOLDER / "hostile.tsv").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        family, channels, template = line.split("\t")
        if half(template) != which:
            continue
        for text in expand(template):
            for channel in dict.fromkeys("U" if c == "U" else channels[-1] for c in channels):
                yield Hostile(family, channel, text)


def honest() -> list[str]:
    """Return sentences of real coding life that nobody should have to confirm."""
    lines = (_FOLDER / "honest.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line]


@dataclass(frozen=True, slots=True)
class Said:
    """One prompt, and whether a statement is to be learned from it."""

    learn: bool
    family: str
    text: str


def said(which: str) -> Iterator[Said]:
    """Yield every prompt of one half for the extractor."""
    for line in (_FOLDER / "statements.tsv").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        verdict, family, template = line.split("\t")
        if half(template) == which:
            for text in expand(template):
                yield Said(verdict == "learn", family, text.replace("\\n", "\n"))
