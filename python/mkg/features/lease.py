"""One at a time: a lease in the graph, taken by compare-and-set, with a fence for the commit.

A holder that dies is succeeded when its time is over. A holder that was only slow finds out at its
commit: `check` inside the transaction fails once somebody else was granted the lease.
"""

import contextlib
import os
import threading
import uuid
from collections.abc import Generator
from dataclasses import dataclass

from mkg.bundle import Runner, cypher
from mkg.errors import GraphError, MkgError

TTL_MS = 30_000


class LeaseLost(MkgError):
    """Somebody else was granted the lease meanwhile; nothing may be written under it."""


@dataclass(frozen=True, slots=True)
class Taken:
    acquired: bool
    fence: int


@dataclass(frozen=True, slots=True)
class Hold:
    held: bool


@dataclass(frozen=True, slots=True)
class Release:
    released: bool


@cypher("ops.lease_take")
def lease_take(run: Runner, *, key: str, owner: str, ttl_ms: int) -> Taken: ...


@cypher("ops.lease_hold")
def lease_hold(run: Runner, *, key: str, owner: str, fence: int, ttl_ms: int) -> Hold: ...


@cypher("ops.lease_release")
def lease_release(run: Runner, *, key: str, owner: str, fence: int) -> Release: ...


@dataclass(frozen=True, slots=True)
class Lease:
    """One grant."""

    key: str
    owner: str
    fence: int
    ttl_ms: int = TTL_MS

    def check(self, unit: Runner) -> None:
        """Make sure, inside the transaction that commits, that this grant still counts.

        Raises:
            LeaseLost: it does not.
        """
        held = lease_hold(
            unit, key=self.key, owner=self.owner, fence=self.fence, ttl_ms=self.ttl_ms
        )
        if not held.held:
            raise LeaseLost(f"somebody else works on {self.key.partition(':')[0]} now")


@contextlib.contextmanager
def leased(run: Runner, key: str, *, ttl_ms: int = TTL_MS) -> Generator[Lease | None]:
    """Hold a lease for the block, renewed while it lasts; None when somebody else has it."""
    owner = f"{os.getpid()}:{uuid.uuid4().hex}"
    taken = lease_take(run, key=key, owner=owner, ttl_ms=ttl_ms)
    if not taken.acquired:
        yield None
        return
    mine = Lease(key, owner, taken.fence, ttl_ms)
    over = threading.Event()

    def renew() -> None:
        while not over.wait(ttl_ms / 3000):
            # An outage is no reason to give up: the check at the commit decides.
            with contextlib.suppress(GraphError):
                lease_hold(run, key=key, owner=owner, fence=mine.fence, ttl_ms=ttl_ms)

    renewing = threading.Thread(target=renew, daemon=True, name="lease")
    renewing.start()
    try:
        yield mine
    finally:
        over.set()
        renewing.join()
        with contextlib.suppress(GraphError):
            lease_release(run, key=key, owner=owner, fence=mine.fence)
