"""Deterministic extraction: what people state, and what failed calls teach, without a model.

Dialogue and failed calls are read, never the output of a successful call. Every candidate carries
its origin and the verbatim span it comes from; what may become of it is the gate's decision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from mkg.features.learnings import extract_cues as cue
from mkg.features.learnings import extract_errors as errors
from mkg.features.learnings import extract_phrases as say
from mkg.features.learnings import extract_rules as rules
from mkg.features.learnings.extract_origin import assistant_origin, prompt_origin
from mkg.features.learnings.extract_text import Sentence, injected_texts, sentences
from mkg.features.learnings.value_key import normalised, value_key

__all__ = [
    "Candidate",
    "Turn",
    "assistant_origin",
    "extract",
    "prompt_origin",
    "task_pattern",
]

TEXT = 500
CHUNK = 12_000
PER_CHUNK = 3
_PATTERN_WORDS, _PATTERN_LENGTH = 6, 60
_LONGEST_STATEMENT = 2_000
# Words that begin a sentence in any register; names and commands keep the case they have.
_OPENERS = frozenset(
    {
        "we",
        "our",
        "the",
        "this",
        "these",
        "that",
        "those",
        "all",
        "every",
        "each",
        "it",
        "there",
        "i",
        "my",
        "in",
        "on",
        "for",
        "from",
        "always",
        "never",
        "use",
        "do",
        "don't",
        "tests",
        "test",
        "when",
        "whenever",
        "before",
        "after",
        "if",
        "no",
        "not",
        "only",
        "please",
        "most",
        "both",
        "some",
        "any",
        "they",
        "you",
        "your",
        "a",
        "an",
        "as",
        "at",
        "by",
        "to",
        "with",
        "without",
        "integration",
        "migrations",
        "releases",
        "nobody",
        "nothing",
        "everyone",
        "write",
        "keep",
        "ask",
        "answer",
        "wir",
        "unser",
        "unsere",
        "die",
        "der",
        "das",
        "ein",
        "eine",
        "nous",
        "notre",
        "nos",
        "les",
        "le",
        "la",
        "el",
        "los",
        "las",
        "un",
        "una",
    }
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said or done in a session, with the origin of its words."""

    event_id: str
    seq: int
    role: Literal["user", "assistant", "tool_failure", "tool_success"]
    text: str
    origin: str
    tool_name: str | None = None
    tool_input: str | None = None
    tool_use_id: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement worth keeping; `quote` is the source text at `start:end`, verbatim."""

    text: str
    scope: Literal["project", "user"]
    kind: Literal["fact", "error"]
    origin: str
    event_id: str
    quote: str
    start: int
    end: int
    explicit: bool
    confidence: float
    reason: str
    tool_key: str | None = None
    error_signature: str | None = None
    resolved: bool | None = None
    replaces: str | None = None
    """The old value in words, where the statement says that it takes the place of one."""
    task_pattern: str | None = None


@dataclass(frozen=True, slots=True)
class _Placed:
    """A candidate and where in the corpus of the window it stands."""

    candidate: Candidate
    position: int


def extract(window: Sequence[Turn], *, recalled: Sequence[str] = ()) -> list[Candidate]:
    """Return the candidates of a window in order, at most three for each 12,000 characters.

    `recalled` holds texts that were injected into this session: an assistant that repeats one of
    them states nothing new. Blocks of ours that stand in the window itself are recognised as well.
    """
    known = [*recalled, *(text for turn in window for text in injected_texts(turn.text))]
    echoes = [normalised(text) for text in known]
    placed: list[_Placed] = []
    position = 0
    for index, turn in enumerate(window):
        if turn.role == "user":
            placed.extend(_Placed(c, position + c.start) for c in _from_user(turn))
        elif turn.role == "assistant":
            placed.extend(_Placed(c, position + c.start) for c in _from_assistant(turn, echoes))
        elif turn.role == "tool_failure" and (found := _from_failure(window, index)) is not None:
            placed.append(_Placed(found, position + found.start))
        if turn.role != "tool_success":
            position += len(turn.text)
    return _capped(_distinct(placed))


def task_pattern(text: str) -> str | None:
    """Return `text` as a task pattern, or None when it is over six words or 60 characters."""
    flat = " ".join(text.split()).casefold()
    if not flat or len(flat) > _PATTERN_LENGTH or len(flat.split(" ")) > _PATTERN_WORDS:
        return None
    return flat


def _from_user(turn: Turn) -> Iterator[Candidate]:
    parts = [part for part in sentences(turn.text) if len(part.source) <= _LONGEST_STATEMENT]
    if any(cue.FORGET_ALL.search(part.visible) for part in parts):
        return
    aloud = any(say.THINKING_ALOUD.search(part.visible) for part in parts)
    listed = False
    for index, part in enumerate(parts):
        following = parts[index + 1] if index + 1 < len(parts) else None
        if rules.hides_something(part.visible):
            listed = False
            continue
        if _announces(part):
            listed = True
            continue
        if (
            listed
            and index
            and "\n\n" in turn.text[parts[index - 1].end : part.start].replace("\r", "")
        ):
            listed = False
        found = _judged(part, listed=listed, aloud=aloud)
        if found is None:
            continue
        if not found.explicit and following is not None and _refers_back(part, following):
            found = rules.Found(found.start, found.end, rules.ASKED, True, 0.9)
        end = _reason_after(turn, part, following) if found.reason == rules.DECIDED else part.end
        candidate = _candidate(turn, part, found, end)
        if candidate is not None:
            yield candidate


def _judged(part: Sentence, *, listed: bool, aloud: bool) -> rules.Found | None:
    """Return what one sentence of the user is, if it is anything."""
    found = rules.asked(part.visible)
    if found is None and listed and not say.QUESTION.search(part.visible):
        return rules.Found(0, len(part.visible), rules.ASKED, True, 0.85)
    if found is None and not aloud:
        found = rules.stated(part.visible)
    return found


def _announces(part: Sentence) -> bool:
    """Tell whether a sentence only announces what to remember: 'Please remember:'."""
    if not part.visible.rstrip().endswith((":", "\uff1a")):
        return False
    for pattern in (cue.REFERENCE, cue.REMEMBER, cue.NOTE, cue.FOREIGN_REMEMBER):
        match = pattern.match(part.visible)
        if match is not None and not part.visible[match.end() :].strip():
            return True
    return False


def _refers_back(part: Sentence, following: Sentence) -> bool:
    return (
        bool(cue.BACK_REFERENCE.match(following.visible))
        and following.paragraph - part.paragraph <= 1
    )


def _reason_after(turn: Turn, part: Sentence, following: Sentence | None) -> int:
    """Return where a decision ends, its reason in the next sentence included."""
    if (
        following is not None
        and say.CONTINUES.match(following.visible)
        and not say.QUESTION.search(following.visible)
        and not rules.hides_something(following.visible)
        and not turn.text[part.end : following.start].strip()
    ):
        return following.end
    return part.end


def _candidate(turn: Turn, part: Sentence, found: rules.Found, end: int) -> Candidate | None:
    stop = part.start + found.end if end == part.end else end
    statement = turn.text[part.start + found.start : stop]
    if (task := cue.NEXT_TASK.search(statement)) is not None and task.start() > 8:
        statement = statement[: task.start()]
    text = _tidy(statement)
    if not _says_something(text):
        return None
    return Candidate(
        text=text,
        scope="user" if rules.is_preference(text) else "project",
        kind="fact",
        origin=turn.origin,
        event_id=turn.event_id,
        quote=turn.text[part.start : end],
        start=part.start,
        end=end,
        explicit=found.explicit and turn.role == "user",
        confidence=found.confidence,
        reason=found.reason,
    )


def _tidy(statement: str) -> str:
    """Return a statement on one line, begun like a sentence, at most 500 characters."""
    flat = " ".join(statement.split()).strip(" ,;:-\u2013\u2014\u3001\uff0c\uff1a")
    flat = flat.rstrip("?\uff1f ")
    first = flat.split(" ", 1)[0]
    if first.casefold() in _OPENERS and first[:1].islower():
        flat = flat[:1].upper() + flat[1:]
    return flat if len(flat) <= TEXT else flat[: TEXT - 3].rstrip() + "..."


def _says_something(text: str) -> bool:
    words = normalised(text)
    return len(words.split(" ")) >= 2 or sum(1 for c in words if ord(c) > 0x2E80) >= 4


def _from_assistant(turn: Turn, echoes: Sequence[str]) -> Iterator[Candidate]:
    for part in sentences(turn.text):
        if len(part.source) > TEXT or rules.hides_something(part.visible):
            continue
        found = rules.reports_decision(part.visible)
        if found is None or _echoes(part.source, echoes):
            continue
        candidate = _candidate(turn, part, found, part.end)
        if candidate is not None:
            yield candidate


def _echoes(text: str, echoes: Sequence[str]) -> bool:
    """Tell whether most of the words of `text` stand in one recalled text."""
    words = set(normalised(text).split(" "))
    return any(len(words & set(echo.split(" "))) >= 0.7 * len(words) for echo in echoes)


def _from_failure(window: Sequence[Turn], index: int) -> Candidate | None:
    """Return what a failed call teaches once a changed form of it has worked, else None."""
    failure = window[index]
    span = errors.signature_span(failure.text)
    if span is None or not failure.tool_name or errors.transient(failure.text):
        return None
    failed = errors.leaves(failure.tool_input or "")
    key = errors.tool_key(failure.tool_name)
    fixed = fix_of(window, index)
    if fixed is None:
        return None
    start, end = span
    signature = " ".join(failure.text[start:end].split())[: errors.SIGNATURE]
    text = _tidy(errors.lesson(key, signature, failed, fixed))
    return Candidate(
        text=text,
        scope="project",
        kind="error",
        origin="tool",
        event_id=failure.event_id,
        quote=failure.text[start:end],
        start=start,
        end=end,
        explicit=False,
        confidence=0.6,
        reason="error then fix",
        tool_key=key,
        error_signature=signature,
        resolved=True,
    )


def fix_of(window: Sequence[Turn], index: int) -> str | None:
    """Return the input of the first later call that resembles a failed one and worked."""
    failure = window[index]
    key, failed = errors.tool_key(failure.tool_name or ""), errors.leaves(failure.tool_input or "")
    for later in window[index + 1 :]:
        if later.role not in ("tool_success", "tool_failure") or not later.tool_name:
            continue
        if errors.tool_key(later.tool_name) != key:
            continue
        tried = errors.leaves(later.tool_input or "")
        if later.role == "tool_failure":
            if tried == failed:
                # The same call failed again: that later failure is the one to explain.
                return None
            continue
        if errors.resembles(failed, tried):
            # The same call working later means something else was mended meanwhile.
            return tried if tried != failed else None
    return None


def _distinct(placed: Sequence[_Placed]) -> list[_Placed]:
    """Return one candidate for each value: the explicit or more certain one, at its own place."""
    best: dict[str, _Placed] = {}
    for item in placed:
        key = value_key(item.candidate.scope, item.candidate.text)
        held = best.get(key)
        if held is None or _weight(item) > _weight(held):
            best[key] = item
    return sorted(best.values(), key=lambda item: item.position)


def _weight(item: _Placed) -> tuple[bool, float]:
    return item.candidate.explicit, item.candidate.confidence


def _capped(placed: Sequence[_Placed]) -> list[Candidate]:
    """Return at most three candidates for each chunk of the corpus, the weightiest ones."""
    chunks: dict[int, list[_Placed]] = {}
    for item in placed:
        chunks.setdefault(item.position // CHUNK, []).append(item)
    kept: list[Candidate] = []
    for _, items in sorted(chunks.items()):
        chosen = sorted(items, key=_weight, reverse=True)[:PER_CHUNK]
        kept.extend(item.candidate for item in items if item in chosen)
    return kept
