"""The migration lock: one node, one holder, an expiry by the server's clock (NEO-86)."""

import contextlib
import getpass
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Generator
from dataclasses import dataclass

from mkg import __version__
from mkg.bundle import Runner, cypher
from mkg.errors import ConfigError, GraphConflict, GraphError, MigrationLocked

NAME = "migration"
TOOL = f"mkg {__version__}"
TTL_SECONDS = 15.0
WAIT_SECONDS = 20.0
"""Longer than a lease, so that a runner outwaits a holder that died."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer to a request for the lock: who holds it now, and since when."""

    acquired: bool
    owner: str
    token: int
    by: str | None
    host: str | None
    pid: int | None
    taken_at: str | None
    expires_at: str | None


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock; when `expired`, the next runner will take it."""

    owner: str
    token: int
    by: str | None
    host: str | None
    pid: int | None
    taken_at: str | None
    expires_at: str | None
    expired: bool

    def __str__(self) -> str:
        return _named(self)


@dataclass(frozen=True, slots=True)
class Broken:
    """A lock that was taken away from its holder."""

    token: int


@dataclass(frozen=True, slots=True)
class Renewed:
    """A lease that was extended."""

    expires_at: str


@dataclass(frozen=True, slots=True)
class Released:
    """A lock that was given back."""

    token: int


@cypher("ops.migration_lock")
def migration_lock(
    run: Runner, *, lock: str, owner: str, by: str, host: str, pid: int, ttl_ms: int
) -> Grant: ...


@cypher("ops.migration_renew")
def migration_renew(
    run: Runner, *, lock: str, owner: str, token: int, ttl_ms: int
) -> Renewed | None: ...


@cypher("ops.migration_release")
def migration_release(run: Runner, *, lock: str, owner: str, token: int) -> Released | None: ...


@cypher("ops.migration_holder")
def migration_holder(run: Runner, *, lock: str) -> Holder | None: ...


@cypher("ops.migration_break")
def migration_break(
    run: Runner, *, lock: str, owner: str, token: int, by: str, host: str, tool: str, log: str
) -> Broken | None: ...


class Lease:
    """A held lock, kept alive by a thread until it is released or lost."""

    def __init__(self, run: Runner, owner: str, token: int, *, name: str, ttl: float):
        self.owner = owner
        self.token = token
        self.name = name
        self._run = run
        self._ttl = ttl
        self._renewed = time.monotonic()
        self._stop = threading.Event()
        self._lost = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="migration-lock", daemon=True)
        self._thread.start()

    def check(self, *, now: bool = False) -> None:
        """Make sure that the lock is still ours, and extend it when it is due, or `now`.

        Raises:
            MigrationLocked: another runner has taken it since.
        """
        due = now or time.monotonic() - self._renewed > self._ttl / 3
        if due and not self._renew():
            self._lost.set()
        if self._lost.is_set():
            raise lost()

    def release(self) -> None:
        """Give the lock back; a lock that was lost is left alone."""
        self._stop.set()
        self._thread.join(timeout=5)
        with contextlib.suppress(GraphError):
            migration_release(self._run, lock=self.name, owner=self.owner, token=self.token)

    def _renew(self) -> bool:
        asked = time.monotonic()
        renewed = migration_renew(
            self._run,
            lock=self.name,
            owner=self.owner,
            token=self.token,
            ttl_ms=int(self._ttl * 1000),
        )
        if renewed is not None:
            self._renewed = asked
        return renewed is not None

    def _beat(self) -> None:
        while not self._stop.wait(self._ttl / 3):
            # A database that does not answer now may answer at the next beat; the token decides
            # then, and before every record, whether the lock is still ours.
            with contextlib.suppress(GraphError, ConfigError):
                if not self._renew():
                    self._lost.set()
                    return


def who() -> str:
    """The person's account, for the record."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}"


def lost() -> MigrationLocked:
    """The refusal of a runner whose lease ran out and went to another."""
    return MigrationLocked(
        "the migration lock went to another runner; nothing more was recorded; "
        "run: mkg migrate status"
    )


def holder(run: Runner, name: str = NAME) -> Holder | None:
    """Who holds the lock now."""
    return migration_holder(run, lock=name)


def break_(run: Runner, shown: Holder, name: str = NAME) -> bool:
    """Take the lock away from the holder that was shown; False when it is another's by now."""
    broken = migration_break(
        run,
        lock=name,
        owner=shown.owner,
        token=shown.token,
        by=who(),
        host=socket.gethostname(),
        tool=TOOL,
        log=uuid.uuid4().hex,
    )
    return broken is not None


@contextlib.contextmanager
def hold(
    run: Runner,
    *,
    wait: float = WAIT_SECONDS,
    ttl: float | None = None,
    name: str = NAME,
    progress: Callable[[str], None] | None = None,
) -> Generator[Lease]:
    """Hold the lock for the block, waiting up to `wait` seconds for another holder.

    Raises:
        MigrationLocked: someone else still holds it; the message names who.
    """
    ttl = ttl or TTL_SECONDS
    grant = _acquire(run, wait=wait, ttl=ttl, name=name, progress=progress)
    lease = Lease(run, grant.owner, grant.token, name=name, ttl=ttl)
    try:
        yield lease
    finally:
        lease.release()


def _acquire(
    run: Runner, *, wait: float, ttl: float, name: str, progress: Callable[[str], None] | None
) -> Grant:
    host, pid = socket.gethostname(), os.getpid()
    owner = f"{host}:{pid}:{uuid.uuid4().hex[:12]}"
    deadline = time.monotonic() + wait
    pause, told = 0.05, False
    while True:
        holder = "another runner"
        try:
            grant = migration_lock(
                run, lock=name, owner=owner, by=who(), host=host, pid=pid, ttl_ms=int(ttl * 1000)
            )
            if grant.acquired:
                return grant
            holder = _named(grant)
        except GraphConflict:
            # The node is held by a transaction for longer than the server lets us queue.
            pass
        if time.monotonic() + pause > deadline:
            raise MigrationLocked(
                f"the migration lock is held by {holder}; try again later, or take it away with: "
                "mkg migrate break-lock"
            )
        if progress is not None and not told:
            progress(f"waiting for the migration lock, held by {holder}")
            told = True
        time.sleep(pause)
        pause = min(pause * 1.6, 1.0)


def _named(holder: Grant | Holder) -> str:
    return (
        f"{holder.by} on {holder.host} (process {holder.pid}) since {holder.taken_at}; it expires "
        f"at {holder.expires_at} unless that process goes on"
    )
