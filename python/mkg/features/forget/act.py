"""Forgetting in batches: marked first, then each step again and again until it finds nothing.

A kill anywhere leaves marks in the graph; `resume` goes on from them without the text. Every step
locks what it changes, so hooks and the worker go on meanwhile.
"""

import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from mkg.bundle import Store
from mkg.embed import Embedder
from mkg.features import forget
from mkg.features.forget.select import Selector, Targets, check
from mkg.features.timeline import episode

BATCH = 500
FILLING = "·"
Progress = Callable[[str], None]


def begin(
    run: Store, selector: Selector, targets: Targets, *, refuse: str, keep_words: bool = False
) -> str:
    """Mark everything a wish is about; from its end on the wish survives a kill.

    Args:
        refuse: "person" keeps the refusals of a person, "all" refuses every value that goes.
        keep_words: one learning goes, but not its words out of the events it rests on.
    """
    id, at = uuid.uuid4().hex, _now()
    checks = [check(selector.value), *(check(i) for i in _named(targets))]
    forget.begin(run, id=id, kind=selector.kind, refuse=refuse, checks=sorted(set(checks)), at=at)
    parts = [{"id": part.session_id, "upto": part.upto} for part in targets.sessions]
    lists: dict[str, Sequence[Any]] = {
        "sessions": parts,
        "events": targets.events,
        "learnings": targets.learnings,
        "episodes": targets.episodes,
    }
    for name, whole in lists.items():
        for start in range(0, len(whole), BATCH):
            one: dict[str, Any] = {key: [] for key in lists}
            one[name] = list(whole[start : start + BATCH])
            forget.mark(run, id=id, **one)
    if not keep_words:
        # Before the marks are whole: after a kill nobody would know the words.
        for learning_id, words in targets.words.items():
            forget.mask(run, id=id, learning_id=learning_id, words=_filled(words))
    forget.state(run, id=id, state="open", at=at)
    return id


def _named(targets: Targets) -> list[str]:
    """What a receipt can be asked about: not each event, they are too many."""
    return [*(part.session_id for part in targets.sessions), *targets.learnings]


def _filled(words: Sequence[str]) -> list[dict[str, Any]]:
    return [{"text": w, "instead": FILLING * len(w)} for w in words if len(w.strip()) > 1]


def resume(
    run: Store, embedder: Embedder | None, id: str, *, progress: Progress = lambda step: None
) -> forget.State | None:
    """Carry out what is marked, batch by batch, from wherever it stands."""
    at = _now()
    # While there is a row, there may be more.
    while forget.erase_session(run, id=id, limit=BATCH, at=at):
        progress("events")
    while forget.erase_events(run, id=id, limit=BATCH, at=at).erased:
        progress("events")
    while forget.recheck(run, id=id, limit=BATCH).checked:
        progress("learnings")
    while forget.weaken(run, id=id, limit=BATCH, at=at).checked:
        progress("learnings")
    while _remove(run, id, at):
        progress("learnings")
    while _episodes(run, embedder, id):
        progress("episodes")
    while forget.trim(run, id=id, limit=BATCH):
        progress("sessions")
    return forget.state(run, id=id, state="done", at=_now())


def _remove(run: Store, id: str, at: str) -> int:
    def work(unit: Any) -> int:
        forget.unlink(unit, id=id, limit=BATCH)
        return forget.remove(unit, id=id, limit=BATCH, at=at).removed

    return run.in_one(work, name="forget.remove")


def _episodes(run: Store, embedder: Embedder | None, id: str) -> int:
    """Tell sessions again from what is left of them; returns how many were looked at."""
    left = forget.episodes(run, id=id, limit=BATCH)
    gone = [row.episode_id for row in left if row.episode_id is not None]
    sessions = [row.session_id for row in left if row.session_id is not None]
    changed = _drop(run, gone, None) if gone else 0
    for session_id in sessions:
        # What a model told of it cannot be told again without asking the model.
        changed += _drop(run, [], session_id, composed=False)
        if episode.record(run, embedder, session_id=session_id) is None:
            changed += _drop(run, [], session_id)
        else:
            changed += 1
    if left:
        forget.told_again(run, id=id, sessions=sessions, episodes=changed)
    return len(left)


def _drop(run: Store, ids: list[str], session_id: str | None, *, composed: bool = True) -> int:
    return forget.drop_episodes(run, ids=ids, session_id=session_id, composed=composed).dropped


def leave(run: Store, selector: Selector) -> None:
    """What hangs on a project or a user itself, once the rest is gone."""
    if selector.kind == "project":
        forget.leave(run, project_id=selector.value, user_id=None)
    elif selector.kind == "user":
        forget.leave(run, project_id=None, user_id=selector.value)


def unfinished(run: Store) -> list[str]:
    """Wishes that a kill interrupted; marks that are not whole are dropped."""
    left = forget.unfinished(run)
    for one in left:
        if one.state == "marking":
            forget.drop(run, id=one.id)
    return [one.id for one in left if one.state == "open"]


def _now() -> str:
    return datetime.now(UTC).isoformat()
