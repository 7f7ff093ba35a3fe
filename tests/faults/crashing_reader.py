"""Reads a session with a model, killed as by kill -9 at one point of its way.

At "none" it is not killed, and "asked" is left to whoever started it.
"""

import sys
from functools import partial

from mkg.db import Neo4jRunner
from mkg.features import lease
from mkg.features.gate.rules import Rules
from mkg.features.learnings import propose, windows
from mkg.features.learnings.write import Owner
from tests.faults.crashing_worker import dies
from tests.support.learned import SHOP
from tests.support.plain_model import Plain

POINTS = (
    "claimed",
    "asked",
    "answered",
    "before the transaction",
    "in the transaction",
    "after the transaction",
)
# Its exit code is this and the number of events that it read.
READ = 100


def read(uri: str, password: str, base: str, session: str, point: str, ttl_ms: str) -> None:
    """Read a session under a lease of so many milliseconds."""
    windows.leased = partial(lease.leased, ttl_ms=int(ttl_ms))
    if point == "claimed":
        lease.lease_take = dies(lease.lease_take, lambda done, *_: True)
    elif point == "answered":
        propose.propose = dies(propose.propose, lambda done, *_: True)
    elif point == "before the transaction":
        windows._commit = dies()  # pyright: ignore[reportPrivateUsage]
    elif point == "in the transaction":
        # Everything is written, nothing is committed.
        windows._record = dies(windows._record, lambda done, *_: True)  # pyright: ignore[reportPrivateUsage]
    elif point == "after the transaction":
        windows._commit = dies(windows._commit, lambda done, *_: True)  # pyright: ignore[reportPrivateUsage]
    with Neo4jRunner(uri, ("neo4j", password), "neo4j") as run:
        owner = Owner(SHOP, "ann")
        found = windows.learn(
            run, None, session_id=session, owner=owner, rules=Rules(model=Plain(base))
        )
    sys.exit(READ + found.events)
