"""What a wish to forget is about: ids and counts, before anything is changed."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from mkg.bundle import Runner
from mkg.errors import Refused
from mkg.features import forget
from mkg.features.learnings.value_key import normalised

Kind = Literal["learning", "session", "project", "user", "text", "taint"]
SHORTEST = 4
"""A shorter text stands in too much that nobody meant."""


@dataclass(frozen=True, slots=True)
class Selector:
    """Which of the ways to name it, and the name."""

    kind: Kind
    value: str


@dataclass(slots=True)
class Targets:
    """What goes by itself; what rests on it is found again batch by batch."""

    sessions: list[forget.SessionPart] = field(default_factory=list[forget.SessionPart])
    events: list[str] = field(default_factory=list[str])
    learnings: list[str] = field(default_factory=list[str])
    episodes: list[str] = field(default_factory=list[str])
    words: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """For one learning: the words of it that also stand in the events it rests on."""

    def __bool__(self) -> bool:
        return bool(self.sessions or self.events or self.learnings or self.episodes)


def select(run: Runner, selector: Selector) -> Targets:
    """Find what a selector names at this moment.

    Raises:
        Refused: it is too short to mean one thing.
    """
    value = selector.value
    match selector.kind:
        case "learning":
            return _learning(run, value)
        case "session":
            found = forget.sessions(run, session_id=value, project_id=None, user_id=None)
            return Targets(sessions=found)
        case "project" | "user":
            return _owner(run, selector.kind, value)
        case "text":
            if len(value.strip()) < SHORTEST:
                raise Refused(f"name at least {SHORTEST} characters of the text")
            return _kinds(forget.holding(run, forms=forms(value)))
        case "taint":
            return Targets(events=_taint(run, value))


def _learning(run: Runner, value: str) -> Targets:
    found = forget.learning(run, id=value)
    made = Targets(learnings=[same.id for same in found])
    made.words = {
        same.id: sorted({same.text, *same.quotes}, key=lambda w: (-len(w), w)) for same in found
    }
    return made


def _owner(run: Runner, kind: str, value: str) -> Targets:
    project, user = (value, None) if kind == "project" else (None, value)
    made = _kinds(forget.owned(run, owner_key=f"{kind}:{value}", project_id=project))
    made.sessions = forget.sessions(run, session_id=None, project_id=project, user_id=user)
    return made


def _kinds(found: Sequence[forget.Found]) -> Targets:
    made = Targets()
    lists = {"event": made.events, "learning": made.learnings, "episode": made.episodes}
    for one in found:
        lists[one.kind].append(one.id)
    return made


def _taint(run: Runner, event_id: str) -> list[str]:
    """An event and all that it led to: told learnings taint what others said after them."""
    known, new = [event_id], [event_id]
    while new:
        new = [row.id for row in forget.tainted(run, events=known)]
        known += new
    return known


def planned(run: Runner, targets: Targets) -> forget.Plan:
    """The counts by kind."""
    return forget.plan(
        run,
        sessions=[part.session_id for part in targets.sessions],
        events=targets.events,
        learnings=targets.learnings,
        episodes=targets.episodes,
    )


def forms(text: str) -> list[str]:
    """A text in small letters as it is stored: as typed, and inside JSON."""
    plain = text.strip().lower()
    inside = [json.dumps(plain, ensure_ascii=keep)[1:-1] for keep in (False, True)]
    return list(dict.fromkeys([plain, *inside]))


def check(value: str) -> str:
    """A hash by which a receipt knows an id or a text again."""
    return hashlib.sha256(b"mkg forget\n" + normalised(value).encode()).hexdigest()[:32]
