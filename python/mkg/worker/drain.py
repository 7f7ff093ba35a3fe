"""Bringing the spool into the graph: in order, once, nothing skipped, nothing blocked for ever."""

import threading
import time
from functools import partial
from typing import Any, Literal

from mkg.worker.foreground import Foreground
from mkg.worker.guard import Done, Failed, outcome
from mkg.worker.memory import WAITING, Memory
from mkg.worker.shape import Dispatch, Limits, Log
from mkg_hooks.spool import Cursor, Spool

REFRESH_GAP = 15.0
# Rows without a vector of the model in use are looked for at a start and this often, in seconds.
MEND_GAP = 600.0
Entry = tuple[Cursor, dict[str, Any]]
Step = Literal["applied", "empty", "waiting"]


class Drain:
    """The one reader of a spool."""

    def __init__(
        self,
        spool: Spool,
        dispatch: Dispatch,
        memory: Memory,
        limits: Limits,
        foreground: Foreground,
        log: Log,
    ) -> None:
        self._foreground = foreground
        self._spool = spool
        self._dispatch = dispatch
        self._memory = memory
        self._limits = limits
        self._log = log
        self._changed = threading.Condition()
        self._asked = 0
        self._answered = 0
        self._poked = False
        self._stale = False
        self._stopping = False
        self._pause = 0.0
        self._marks: dict[str, str] = {}
        self._mended: float | None = None
        self.last_error: str | None = None
        self.counters = {"applied": 0, "refused": 0, "batches": 0, "waits": 0}

    def poke(self) -> None:
        """Say that a record was appended."""
        with self._changed:
            self._poked = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Finish the batch at hand and end `run`."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()

    def wait_empty(self, timeout: float) -> bool:
        """Return whether everything spooled before this call was applied within `timeout`."""
        until = time.monotonic() + timeout
        with self._changed:
            self._asked += 1
            mine, self._poked = self._asked, True
            self._changed.notify_all()
            while self._answered < mine and not self._stopping:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return self._answered >= mine

    def run(self) -> None:
        """Drain until stopped."""
        while not self._stopping:
            asked = self._asked
            match outcome(self.step):
                case Done(value=did):
                    pass
                case Failed(error=error):
                    # Disk full or a folder taken away: the records stay where they are.
                    self._failed(error)
                    self._pause, did = self._limits.poll, "waiting"
            if did == "empty" and self._stale:
                self._stale = False
                refresh = partial(self._memory.refresh, gap=REFRESH_GAP)
                threading.Thread(target=refresh, daemon=True, name="refresh").start()
            if did != "empty" or not self._mend():
                self._rest(asked, did)

    def step(self) -> Step:
        """Apply and commit one batch, if there is one and the graph is there."""
        # Storing asks the same database, on the same cores, as an answer somebody waits for.
        self._foreground.clear(self._limits.give_way)
        batch = self._spool.read(self._spool.cursor(), self._limits.batch)
        if not batch:
            self._look_for_graph()
            return "empty"
        match self._apply([record for _, record in batch]):
            case None:
                self._commit(batch)
                return "applied"
            case error if isinstance(error, WAITING):
                self._wait_for_graph(error)
                return "waiting"
            case error:
                # One of them cannot be applied: find it.
                self._failed(error)
                return self._one_by_one(batch)

    def _apply(self, records: list[dict[str, Any]]) -> Exception | None:
        """Hand records to the features; returns what went wrong."""
        ended = outcome(lambda: self._dispatch.apply(records, self._memory.connected()))
        if isinstance(ended, Failed):
            return ended.error
        if self._pause:
            self._log.info("drain.resumed", waits=self.counters["waits"])
        self._pause, self.last_error = 0.0, None
        return None

    def _one_by_one(self, batch: list[Entry]) -> Step:
        for entry in batch:
            if self._stopping or not self._settle(entry):
                return "waiting"
        return "applied"

    def _settle(self, entry: Entry) -> bool:
        """Apply one record, or put it aside after its last try; False when the graph is away."""
        cursor, record = entry
        reason = ""
        for attempt in range(self._limits.tries):
            error = self._apply([record])
            if error is None:
                self._commit([entry])
                return True
            if isinstance(error, WAITING):
                self._wait_for_graph(error)
                return False
            reason = f"{type(error).__name__}: {error}"
            self._failed(error)
            self._sleep(min(self._limits.backoff_first * 2**attempt, 1.0))
            if self._stopping:
                return False
        self._spool.refuse(cursor, record, reason[:400])
        self._spool.commit(cursor)
        self.counters["refused"] += 1
        self._log.error(
            "drain.refused", event_key=str(record.get("event_key"))[:120], reason=reason[:120]
        )
        return True

    def _mend(self) -> bool:
        """With nothing to apply, embed a few rows that need it; whether there are more."""
        due = self._mended is None or time.monotonic() - self._mended > MEND_GAP
        if not due or self._memory.graph != "up" or self._memory.embedder == "unknown":
            return False
        if self._asked > self._answered:
            return False
        match outcome(lambda: self._dispatch.mend(self._memory.deps, self._marks)):
            case Done(value=True):
                return True
            case Done():
                pass
            case Failed(error=error):
                self._failed(error)
        self._marks, self._mended = {}, time.monotonic()
        return False

    def _commit(self, batch: list[Entry]) -> None:
        self._spool.commit(batch[-1][0])
        self._stale = True
        self.counters["applied"] += len(batch)
        self.counters["batches"] += 1

    def _look_for_graph(self) -> None:
        """With nothing to apply, still notice that an outage is over."""
        if self._memory.graph == "down":
            try:
                self._memory.connected()
            except WAITING as error:
                self._wait_for_graph(error)
                return
        if self._memory.graph == "up":
            self._pause, self.last_error = 0.0, None

    def _wait_for_graph(self, error: Exception) -> None:
        self._memory.lost(error)
        self._failed(error)
        self.counters["waits"] += 1
        first, most = self._limits.backoff_first, self._limits.backoff_most
        self._pause = min(self._pause * 2, most) if self._pause else first

    def _failed(self, error: BaseException) -> None:
        self.last_error = f"{type(error).__name__}: {error}"[:300]
        self._log.degraded(
            "drain",
            type(error).__name__,
            query=getattr(error, "query", None),
            status=getattr(error, "status", None),
        )

    def _rest(self, asked: int, did: Step) -> None:
        """Tell who waits that the spool was empty, then wait for work or for the graph."""
        with self._changed:
            if did == "empty" and asked > self._answered:
                self._answered = asked
                self._changed.notify_all()
            if did == "applied" or self._stopping:
                return
            if did == "waiting":
                # New records do not shorten the pause: the graph is not back because of them.
                self._changed.wait_for(lambda: self._stopping, self._pause)
            else:
                pause = self._pause or self._limits.poll
                self._changed.wait_for(lambda: self._stopping or self._poked, pause)
                # What comes together goes into one transaction.
                self._settled(asked)
            self._poked = False

    def _settled(self, asked: int) -> None:
        """Wait a moment for more; not where somebody waits for an empty spool."""
        if self._poked:
            hurry = lambda: self._stopping or self._asked > asked  # noqa: E731
            self._changed.wait_for(hurry, self._limits.settle)

    def _sleep(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping, seconds)

    def status(self) -> dict[str, Any]:
        """Return the queue: its length, its oldest item, the last error, bytes used and allowed."""
        oldest = self._spool.oldest() or {}
        return {
            "queue": self._spool.pending(),
            "oldest_received_at": oldest.get("received_at"),
            "last_error": self.last_error,
            "quarantined": self._spool.quarantined(),
            "spool": self._spool.counters(),
            "spool_bytes": list(self._spool.room()),
            **self.counters,
        }
