"""Speaking to a client that waits: inside the budget or not at all, and honestly when degraded."""

import queue
import threading
import time
from dataclasses import dataclass
from typing import Any

from mkg.errors import GraphUnavailable
from mkg.worker.foreground import Foreground
from mkg.worker.guard import Done, outcome
from mkg.worker.memory import Memory
from mkg.worker.shape import Dispatch, Limits, Log
from mkg_hooks import clients, notice
from mkg_hooks.payload import HookEvent, HookResult


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer that is under way since `began`; no box where every thread was taken."""

    event: HookEvent
    began: float
    box: "queue.SimpleQueue[HookResult] | None"


class Answers:
    """Runs foreground routes in a few threads of their own, so that a stuck one holds no prompt."""

    def __init__(
        self,
        dispatch: Dispatch,
        memory: Memory,
        spool: str,
        limits: Limits,
        foreground: Foreground,
        log: Log,
    ) -> None:
        self._foreground = foreground
        self._dispatch = dispatch
        self._memory = memory
        self._spool = spool
        self._limits = limits
        self._log = log
        self._slots = threading.BoundedSemaphore(limits.answers)
        self._said = False
        self.counters = {"answered": 0, "late": 0, "busy": 0, "degraded": 0}

    def awaited(self, event_name: str) -> bool:
        """Say whether a client waits for what this event's routes say."""
        route = self._dispatch.routes().get(event_name)
        return route is not None and bool(route.foreground)

    def begin(self, event: HookEvent) -> Pending | None:
        """Start on an answer while the record goes to the disk; None where nobody waits for one.

        Whoever begins one says `over` once the client has it, or will never have it.
        """
        if not self.awaited(event.name):
            return None
        self._foreground.enter()
        began = time.monotonic()
        if not self._slots.acquire(blocking=False):
            return Pending(event, began, None)
        box: queue.SimpleQueue[HookResult] = queue.SimpleQueue()
        threading.Thread(target=self._work, args=(event, box), daemon=True, name="answer").start()
        return Pending(event, began, box)

    def over(self, pending: Pending | None) -> None:
        """Nobody waits for this answer any more."""
        if pending is not None:
            self._foreground.leave()

    def to(self, pending: Pending) -> tuple[bytes, HookResult]:
        """Return the exact stdout for an event, and what it says."""
        event, result = pending.event, self._within_budget(pending)
        if result.context and not clients.fits(event.client, result.context):
            # The envelope drops it whole; whoever composed it has to cut at an item's boundary.
            self._log.error("answer.too_long", event_name=event.name, length=len(result.context))
        text = clients.envelope(
            event.client, event.name, context=result.context, notice=result.notice
        )
        return text, result

    def sent(self, event: HookEvent, result: HookResult) -> None:
        """Remember what a client has taken."""
        if result.context:
            self._dispatch.delivered(event, result, self._memory.deps)

    def _within_budget(self, pending: Pending) -> HookResult:
        event = pending.event
        route = self._dispatch.routes()[event.name]
        budget = min(route.budget_ms / 1000, self._limits.answer_ceiling)
        if pending.box is None:
            self.counters["busy"] += 1
            return self._degraded(event, notice.LATE)
        try:
            result = pending.box.get(timeout=max(0.0, pending.began + budget - time.monotonic()))
        except queue.Empty:
            self.counters["late"] += 1
            self._log.info("answer.late", event_name=event.name, budget_ms=int(budget * 1000))
            # Statements that the server has not planned yet are slow: a start is no outage.
            if not self._memory.warmed.is_set():
                return HookResult()
            return self._degraded(event, notice.LATE)
        self.counters["answered"] += 1
        if self._said and self._memory.graph == "up" and not result.notice:
            notice.clear(self._spool)
            self._said = False
        took = int((time.monotonic() - pending.began) * 1000)
        self._log.info("answer", event_name=event.name, ms=took, characters=len(result.context))
        return result

    def _work(self, event: HookEvent, box: "queue.SimpleQueue[HookResult]") -> None:
        try:
            box.put(self._result(event))
        finally:
            self._slots.release()

    def _result(self, event: HookEvent) -> HookResult:
        ended = outcome(lambda: self._dispatch.answer(event, self._memory.deps))
        if isinstance(ended, Done):
            return ended.value
        if isinstance(ended.error, GraphUnavailable):
            # Just started and still connecting is no outage, and no news for the user.
            if self._memory.graph == "unknown":
                return HookResult()
            self._memory.lost(ended.error)
            return self._degraded(event, notice.KEPT)
        reason = type(ended.error).__name__
        self._log.error("answer.failed", event_name=event.name, reason=reason)
        return self._degraded(event, notice.FAULT)

    def _degraded(self, event: HookEvent, line: str) -> HookResult:
        self.counters["degraded"] += 1
        if not clients.takes_notice(event.client, event.name):
            return HookResult()
        fresh = event.name == "SessionStart" and event.source != "resume"
        if notice.claim(self._spool, event.session_id or "-", fresh):
            self._said = True
            return HookResult(notice=line)
        return HookResult()

    def status(self) -> dict[str, Any]:
        """Return the counters."""
        return dict(self.counters)
