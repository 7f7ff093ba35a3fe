"""How long things are kept, and how what nobody uses fades: a batch at a time, in idle time.

Source: MEM-W25, MEM-W32. What is unused is archived and told no more; it is never deleted, it
comes back when it is said again, and what a person has reviewed stays.
"""

import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from mkg.bundle import Runner
from mkg.features import forget
from mkg.features.forget.act import Store
from mkg.features.lease import leased

BATCH = 200
KINDS = ("outputs", "events", "episodes", "deliveries", "unused")


class _Undone(Exception):
    """Ends a transaction without keeping it."""


def cutoffs(retain: str, now: datetime) -> dict[str, datetime]:
    """Per kind the moment before which it goes; a kind that is not named, or 0, is kept."""
    days = {kind: int(n) for kind, _, n in (p.partition("=") for p in retain.split(",") if p)}
    return {k: now - timedelta(days=days[k]) for k in KINDS if days.get(k)}


def batch(run: Runner, before: Mapping[str, datetime], *, limit: int = BATCH) -> dict[str, int]:
    """One batch of each kind; how many went."""
    done: dict[str, int] = {}
    for kind, at in before.items():
        match kind:
            case "outputs" | "events":
                only = kind == "outputs"
                count = forget.empty_events(run, before=at, outputs=only, limit=limit).emptied
            case "episodes":
                ids = [row.id for row in forget.old_episodes(run, before=at, limit=limit)]
                count = forget.drop_episodes(run, ids=ids, session_id=None, composed=False).dropped
            case "deliveries":
                count = forget.old_deliveries(run, before=at, limit=limit).dropped
            case _:
                count = forget.fade(run, before=at, limit=limit).archived
        if count:
            done[kind] = count
    return done


def counted(run: Store, before: Mapping[str, datetime]) -> dict[str, int]:
    """How many would go: everything in one transaction that is not kept."""
    found: dict[str, int] = {}

    def work(unit: Any) -> None:
        found.update(batch(unit, before, limit=1_000_000))
        raise _Undone

    with contextlib.suppress(_Undone):
        run.in_one(work, name="forget.counted")
    return found


def step(run: Runner, retain: str) -> bool:
    """One batch by the worker, when no other one is at it; whether there may be more."""
    before = cutoffs(retain, datetime.now(UTC))
    if not before:
        return False
    with leased(run, "keeping") as lease:
        return bool(lease is not None and batch(run, before))
