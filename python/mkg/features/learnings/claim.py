"""Whether the user typed what an agent wants to record (D10).

A claim takes the origin of a typed prompt when one sentence of it, or two that follow each other,
hold at least four fifths of its words, every word that carries meaning, and as many negations:
'deploy on Fridays' was not said by 'do not deploy on Fridays', nor 'port 9090' by 'port 8080'.
Nor is something said by who asks it, supposes it or reports it of others, and where the order of
words tells who gives way to whom, it is the same order.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mkg import lexical
from mkg.bundle import Runner, cypher
from mkg.features.learnings import extract_phrases as say
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
# Who speaks so does not state it; a claim without the word would.
_DISTANCE = re.compile(
    r"\b(?:if|unless|suppos\w*|imagine|pretend\w*|for (?:example|instance)|e\.g\.|would|could"
    r"|might|maybe|perhaps|whether|wonder\w*|consider\w*|propos\w+|suggest\w*|thinks?|thought|believes?"
    r"|claims?|claimed|says?|said|wants?|wanted|wrong|false|untrue|myth|rumou?rs?|used to|formerly"
    r"|previously|until|allegedly|supposedly|wenn|falls|vielleicht|angeblich|k\u00f6nnten?|w\u00fcrden?"
    r"|behauptet|peut-\u00eatre|quiz\u00e1s|tal vez)\b",
    re.IGNORECASE,
)
# Words whose place decides who gives way to whom.
_ORDER = frozenset(
    re.findall(
        r"\w+",
        "instead than over from to into before after replace replaces replaced not unless without"
        " by statt vor nach",
    )
)
_STEM, _ENDING = 4, 3
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
    for typed in prompts:
        text = typed.prompt[:_LONGEST_PROMPT]
        for start, end, visible in _passages(text):
            if _says(visible, claim, wanted):
                return Said(typed.event_id, text[start:end], start, end)
    return None


def _says(passage: str, claim: str, wanted: set[str]) -> bool:
    there = _words(passage)
    if len(wanted & there) < OVERLAP * len(wanted):
        return False
    if not all(word in lexical.STOP or _stands(word, there) for word in wanted - there):
        return False
    if len(_NEGATION.findall(passage)) != len(_NEGATION.findall(claim)):
        return False
    if say.QUESTION.search(passage) or say.THINKING_ALOUD.search(passage):
        return False
    distant = {word.casefold() for word in _DISTANCE.findall(passage)}
    if distant - {word.casefold() for word in _DISTANCE.findall(claim)}:
        return False
    return not (wanted & _ORDER) or _in_order(claim, passage)


def _stands(word: str, there: set[str]) -> bool:
    """Whether another form of a word stands there; a word with a digit has no other form."""
    if any(c.isdigit() for c in word):
        return False
    return any(
        word[:_STEM] == other[:_STEM] and len(word) > _STEM <= len(other)
        and _same_start(word, other) >= max(len(word), len(other)) - _ENDING
        for other in there
    )  # fmt: skip


def _same_start(one: str, two: str) -> int:
    pairs = zip(one, two, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_order(claim: str, passage: str) -> bool:
    """Whether the telling words of a claim come in the passage in the same order."""
    telling = [w for w in _listed(claim) if w not in lexical.STOP or w in _ORDER]
    left = iter(_listed(passage))
    known = set(_listed(passage))
    return all(any(word == other for other in left) for word in telling if word in known)


def _passages(text: str) -> Iterator[tuple[int, int, str]]:
    """Sentences, then pairs of neighbours; quotations and code in them are not the user's words."""
    found = sentences(text)
    for one in found:
        yield one.start, one.end, one.visible
    for one, two in itertools.pairwise(found):
        if one.paragraph == two.paragraph:
            yield one.start, two.end, f"{one.visible} {two.visible}"


def _words(text: str) -> set[str]:
    return set(_listed(text))


def _listed(text: str) -> list[str]:
    words: list[str] = []
    for piece in _UNSPACED.findall(normalised(text)):
        if "\u3040" <= piece[0] <= "\ud7af":
            words.extend(piece[i : i + 2] for i in range(max(1, len(piece) - 1)))
        else:
            words.append(piece)
    return words
