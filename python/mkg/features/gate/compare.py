"""What one new statement does to one old one, by their words alone.

Only four things are said: it replaces the value that it names, it gives another value in the same
frame, it may contradict, or nothing. Nearness alone never decides (D29).
"""

from dataclasses import dataclass
from typing import Literal

from mkg.features.gate.correction import Replaces, as_state, replaces
from mkg.features.gate.frame import (
    GENERIC,
    NEGATIONS,
    VERBS,
    Frame,
    digits,
    frame,
    is_value,
    slot,
    stem,
    words,
)

Kind = Literal["names", "changes", "doubt", "refused", "nothing"]
_CHOICE = frozenset({"use", "prefer", "run", "pin", "deploy", "call", "take"})
# Verbs that are as often the subject itself.
_NOUNS = frozenset(
    {"cache", "caches", "log", "test", "tests", "build", "host", "back", "call", "store", "limit"}
)
_IDLE = frozenset(stem(w) for w in (GENERIC | NEGATIONS | VERBS) - _NOUNS) | {
    *("the", "a", "an", "now", "no", "longer", "instead", "mov", "switch", "replac", "renam"),
    *("chang", "migrat", "correction", "actually", "please", "anymore", "rather"),
}
_SAME = 0.6
_MOST_UNSAID = 2


@dataclass(frozen=True, slots=True)
class Relation:
    """How a new statement stands to an old one, and in which words that is told."""

    kind: Kind
    reason: str
    apart: int = 0
    """Of one that names the old value: how many words of the old statement it does not have."""


NOTHING = Relation("nothing", "")


def compare(new: str, old: str) -> Relation:
    """Return what `new` does to the live statement `old`."""
    mine, theirs = frame(new), frame(old)
    named = replaces(new)
    if named is not None and (apart := _apart(named, theirs, old)) is not None:
        return Relation("names", "the statement names the value that it replaces", apart)
    place = slot(mine, theirs)
    unique, names = mine.unique and theirs.unique, mine.names and theirs.names
    if place is not None and is_value(place, unique=unique, names=names):
        return Relation("changes", "the same statement with another value")
    if (state := as_state(new)) is not None:
        held = frame(state)
        since = slot(held, theirs)
        if since is not None and is_value(since, unique=held.unique and theirs.unique, names=names):
            return Relation("changes", "the same statement with the value that was moved to")
    if _opposes(mine, theirs):
        return Relation("doubt", "one of the two denies what the other says")
    if place is None and _other_number(mine, theirs):
        return Relation("doubt", "another number for what seems to be the same subject")
    return NOTHING


def like_refused(new: str, refused: str) -> bool:
    """Tell whether `new` says in nearly the same words what was refused."""
    mine, theirs = frame(new), frame(refused)
    if mine.denies != theirs.denies or _numbers(mine) != _numbers(theirs):
        return False
    return len(mine.content) >= 2 and _overlap(mine.content, theirs.content) >= 0.8


def _apart(named: Replaces, theirs: Frame, old: str) -> int | None:
    """How far `old` is from what a sentence replaces; None where it speaks of something else."""
    there = {stem(w) for w in words(old)}
    if not named.old <= there:
        return None
    if named.new <= there or _gives_up(old, named.old):
        # It says the new value already, or has given up the old one itself.
        return None
    about = named.about | named.new
    shared = (about & theirs.content) - named.old
    unsaid = theirs.content - named.old - about
    # What the new statement has beyond the old one, its own value left out where it is known.
    known = named.new != named.about or digits(tuple(named.old))
    own = {w for w in named.about if w not in _IDLE and not digits((w,))} - there
    if unsaid and len(own) > (0 if known else 1):
        # Each has words of its own: two subjects that share a value.
        return None
    if shared:
        return len(unsaid) if len(unsaid) <= _MOST_UNSAID + len(shared) else None
    if known and not unsaid and there & _CHOICE:
        # 'We moved from pnpm to bun' against 'we use pnpm', which says nothing else.
        return 0
    return len(unsaid) if about & there & _CHOICE and len(unsaid) <= _MOST_UNSAID else None


def _gives_up(old: str, value: frozenset[str]) -> bool:
    before = replaces(old)
    return before is not None and value <= before.old


def _opposes(mine: Frame, theirs: Frame) -> bool:
    if mine.denies == theirs.denies or _numbers(mine) != _numbers(theirs):
        return False
    shared = mine.content & theirs.content
    return len(shared) >= 2 and _overlap(mine.content, theirs.content) >= _SAME


def _other_number(mine: Frame, theirs: Frame) -> bool:
    """Whether a number beside the same word differs while one subject is part of the other."""
    if not (mine.unique and theirs.unique) or mine.denies != theirs.denies:
        return False
    a, b = _labelled(mine), _labelled(theirs)
    labels = a.keys() & b.keys()
    if not any(a[label] != b[label] for label in labels):
        return False
    one = {w for w in mine.content if not digits((w,))}
    two = {w for w in theirs.content if not digits((w,))}
    return len(one & two) >= 2 and (one <= two or two <= one) and abs(len(one) - len(two)) <= 1


def _labelled(made: Frame) -> dict[str, str]:
    found: dict[str, str] = {}
    for before, word in zip(("", *made.words), made.words, strict=False):
        if digits((word,)) and before and before not in GENERIC:
            found[stem(before)] = word
    return found


def _numbers(made: Frame) -> frozenset[str]:
    return frozenset(w for w in made.words if digits((w,)))


def _overlap(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(1, len(one | two))
