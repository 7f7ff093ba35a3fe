"""Whether the user typed what an agent wants to record (D10).

A claim takes the origin of a typed prompt when one sentence of it, or two that follow each other,
hold at least four fifths of its words, every word with a digit, and as many negations: 'deploy on
Fridays' was not said by 'do not deploy on Fridays', nor 'port 9090' by 'port 8080'.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mkg.bundle import Runner, cypher
from mkg.features.learnings.extract_text import sentences
from mkg.features.learnings.value_key import normalised

OVERLAP = 0.8
FEWEST_WORDS = 3
PROMPTS = 50
_LONGEST_PROMPT = 50_000
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|avoid|\w+n['\u2019]t"
    r"|nicht|kein\w*|nie|niemals|ohne|ne|pas|jamais|sans|nunca|jam\u00e1s|sin|\u043d\u0435|\u043d\u0435\u0442"
    r"|\u043d\u0438\u043a\u043e\u0433\u0434\u0430)\b|[\u4e0d\u6ca1\u975e\u65e0\u7121\u52ff]|\u306a\u3044",
    re.IGNORECASE,
)
# Scripts that put no spaces between words are compared by pairs of characters.
_UNSPACED = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+|[^\s\u3040-\u30ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


@dataclass(frozen=True, slots=True)
class TypedPrompt:
    """A prompt that the user typed."""

    event_id: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Said:
    """Where the user said it, verbatim."""

    event_id: str
    quote: str
    start: int
    end: int


@cypher("learnings.typed_prompts")
def typed_prompts(run: Runner, *, session_id: str, limit: int) -> list[TypedPrompt]: ...


def said_by_user(claim: str, prompts: Sequence[TypedPrompt]) -> Said | None:
    """The first place in `prompts` where the user says what `claim` says."""
    wanted = _words(claim)
    if len(wanted) < FEWEST_WORDS:
        return None
    numbers = {word for word in wanted if any(c.isdigit() for c in word)}
    negations = len(_NEGATION.findall(claim))
    for typed in prompts:
        text = typed.prompt[:_LONGEST_PROMPT]
        for start, end, visible in _passages(text):
            there = _words(visible)
            if len(wanted & there) < OVERLAP * len(wanted) or not numbers <= there:
                continue
            if len(_NEGATION.findall(visible)) == negations:
                return Said(typed.event_id, text[start:end], start, end)
    return None


def _passages(text: str) -> Iterator[tuple[int, int, str]]:
    """Sentences, then pairs of neighbours; quotations and code in them are not the user's words."""
    found = sentences(text)
    for one in found:
        yield one.start, one.end, one.visible
    for one, two in itertools.pairwise(found):
        if one.paragraph == two.paragraph:
            yield one.start, two.end, f"{one.visible} {two.visible}"


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for piece in _UNSPACED.findall(normalised(text)):
        if "\u3040" <= piece[0] <= "\ud7af":
            words.update(piece[i : i + 2] for i in range(max(1, len(piece) - 1)))
        else:
            words.add(piece)
    return words
