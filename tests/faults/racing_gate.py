"""Judges what waits again and again, without the turn that lets one do so at a time.

python racing_gate.py URI PASSWORD OWNER ROUNDS POINT; "none" is not killed.
"""

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from mkg.db import Neo4jRunner
from mkg.errors import GraphTimeout
from mkg.features import gate, learnings
from mkg.features.gate import sweep as sweeping
from mkg.features.gate.rules import Rules
from tests.faults.crashing_worker import dies

POINTS = ("before the decisions", "with the decisions written", "after the transaction")
NEAR = 3
SLOW_S = 0.2


def third(call: Any) -> Any:
    """Die of `call` the third time, when others are at work too."""
    seen: list[int] = []

    def after(done: Any, *_: Any) -> bool:
        seen.append(1)
        return len(seen) == NEAR

    return dies(call, after)


def slowly(call: Any) -> Any:
    def after(*words: Any, **more: Any) -> Any:
        found = call(*words, **more)
        time.sleep(random.uniform(0, SLOW_S))
        return found

    return after


if __name__ == "__main__":
    uri, password, owner, rounds, point = sys.argv[1:]
    # Decisions have to be right without it: it only spares work.
    turn = gate.sweep_turn
    gate.sweep_turn = lambda *words, **more: gate.Turn(taken=turn(*words, **more).taken or True)
    # Between reading what waits and deciding lies the time in which a person decides.
    gate.oldest = slowly(gate.oldest)
    if point == "before the decisions":
        sweeping.weigh = third(sweeping.weigh)
    elif point == "with the decisions written":
        gate.settle = third(gate.settle)
    elif point == "after the transaction":
        sweeping._regate = third(sweeping._regate)  # pyright: ignore[reportPrivateUsage]
    with Neo4jRunner(uri, ("neo4j", password), "neo4j") as run:
        moved = 0
        for n in range(int(rounds)):
            at = datetime.now(UTC) + timedelta(days=2) + n * 2 * sweeping.AGAIN
            try:
                found = sweeping.sweep(
                    run, None, learnings.embed, owner_keys=[owner], rules=Rules(sweep=10), now=at
                )
            except GraphTimeout:
                # Others held the owner for too long: as for a worker, a reason to come again.
                continue
            moved += found.moved
        print(moved)
