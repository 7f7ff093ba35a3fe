"""What one new statement does to one old one, by their words alone.

Only four things are said: it replaces the value that it names, it gives another value in the same
frame, it may contradict, or nothing. Nearness alone never decides (D29).
"""

import re
from dataclasses import dataclass
from typing import Literal

from mkg.features.gate.change import FAR, gives_another, replaces_in, takes_over
from mkg.features.gate.correction import NUMBERS, as_state, replaces, standing
from mkg.features.gate.frame import (
    GENERIC,
    Frame,
    Slot,
    digits,
    frame,
    is_value,
    negates,
    slot,
    stem,
)
from mkg.features.gate.statement import Said, idle, key, kind_of_any, said

Kind = Literal["names", "changes", "doubt", "refused", "nothing"]
_SAME = 0.6
_DO = frozenset({"do", "does", "did"})
_WHY = re.compile(r"[,;]?\s+(?:because|weil|parce que|porque)\b.*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a new statement stands to an old one, and in which words that is told."""

    kind: Kind
    reason: str
    apart: tuple[int, int] = (0, 0)
    """Of one that names the old value: how far the old statement is from it, in words that carry
    something, and between two that are as near in all of them."""

    @property
    def sure(self) -> bool:
        """False of one that shares the value and its subject, and says the rest in other words."""
        return self.apart[0] < FAR


NOTHING = Relation("nothing", "")


def compare(new: str, old: str, *, corrects: bool = False) -> Relation:
    """Return what `new` does to the live statement `old`.

    Args:
        corrects: `new` was said in answer to something: 'no, ...', 'actually, ...'.
    """
    left, kept = _WHY.sub("", standing(new)), _WHY.sub("", standing(old))
    mine, theirs = frame(left), frame(kept)
    now, before = said(left), said(kept)
    named = replaces(new)
    if named is not None:
        gone, given = said(named.old_text), said(named.new_text)
        likely = said(named.new_text or named.likely)
        far = replaces_in(now, before, gone, given, likely)
        if far is not None and not _gives_up(old, named.old):
            reason = "the statement names the value that it replaces"
            return Relation("names", reason, (far, _unlike(now, before)))
        if _has_value(before, gone, likely):
            # 'We swapped a for b in the shop' says nothing of what has b already.
            return _denied(mine, theirs)
    over = takes_over(said(new), said(kept))
    if over is not None:
        return Relation(
            "names", "the statement has the old value and one that took its place", (over, 0)
        )
    place = slot(mine, theirs)
    unique, names = mine.unique and theirs.unique, mine.names and theirs.names
    if place is not None and is_value(place, unique=unique, names=names) and not _two_sorts(place):
        return Relation("changes", "the same statement with another value")
    if (state := as_state(new)) is not None:
        held = frame(state)
        since = slot(held, theirs)
        if since is not None and is_value(since, unique=held.unique and theirs.unique, names=names):
            return Relation("changes", "the same statement with the value that was moved to")
    if gives_another(now, before, corrects=corrects or bool(named or replaces(old))):
        return Relation("changes", "another value of the same subject, in other words")
    if (denied := _denied(mine, theirs)) is not NOTHING:
        return denied
    if place is None and _other_number(mine, theirs):
        return Relation("doubt", "another number for what seems to be the same subject")
    return NOTHING


def _denied(mine: Frame, theirs: Frame) -> Relation:
    if _opposes(mine, theirs):
        return Relation("doubt", "one of the two denies what the other says")
    return NOTHING


def _unlike(now: Said, before: Said) -> int:
    """How many words only one has, those that say little included."""
    return len({t.word for t in now.tokens} ^ {t.word for t in before.tokens})


def _has_value(before: Said, gone: Said, given: Said) -> bool:
    """Whether a statement has the value that another one gives, and not the one that goes."""
    there, later = {key(t) for t in before.tokens}, {key(t) for t in given.tokens if not idle(t)}
    return bool(later) and later <= there and not {key(t) for t in gone.tokens} <= there


def _two_sorts(place: Slot) -> bool:
    """Whether what differs is of two sorts: '3 replicas' and 'rack-21'."""
    one, other = (kind_of_any(said(" ".join(part)).tokens) for part in (place.new, place.old))
    return bool(one and other) and one.isdisjoint(other) and not (one & NUMBERS and other & NUMBERS)


def like_refused(new: str, refused: str) -> bool:
    """Tell whether `new` says in nearly the same words what was refused."""
    mine, theirs = frame(new), frame(refused)
    if mine.denies != theirs.denies or _numbers(mine) != _numbers(theirs):
        return False
    return len(mine.content) >= 2 and _overlap(mine.content, theirs.content) >= 0.8


def _gives_up(old: str, value: frozenset[str]) -> bool:
    before = replaces(old)
    return before is not None and value <= before.old


def _opposes(mine: Frame, theirs: Frame) -> bool:
    if mine.denies == theirs.denies or _numbers(mine) != _numbers(theirs):
        return False
    shared = mine.content & theirs.content
    if shared and _affirmed(mine) == _affirmed(theirs):
        return True
    return len(shared) >= 2 and _overlap(mine.content, theirs.content) >= _SAME


def _affirmed(made: Frame) -> tuple[str, ...]:
    """The words without what denies them: 'we do not use npm' and 'we use npm' are one."""
    return tuple(stem(w) for w in made.words if not negates(w) and w not in _DO)


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
