"""Work that may take minutes, such as asking a model: behind everything that somebody waits for.

One thread, one job at a time; a job that is asked for again while it waits is one job. What is cut
off by the worker's end is found again at the next start: a job leaves nothing half done.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from mkg.worker.guard import Failed, outcome
from mkg.worker.shape import Log


class Jobs:
    """The queue and its thread, which starts with the first job."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, Callable[[], object]] = OrderedDict()
        self._running: str | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False
        self.counters = {"jobs_done": 0, "jobs_failed": 0}

    def submit(self, key: str, work: Callable[[], object]) -> None:
        """Have a job done some time; the newest work counts for a key that waits already."""
        with self._changed:
            if self._stopping:
                return
            self._waiting[key] = work
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True, name="jobs")
                self._thread.start()
            self._changed.notify_all()

    def wait(self, timeout: float) -> bool:
        """Return whether nothing waits or runs any more within `timeout`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._idle(), timeout)

    def stop(self) -> None:
        """Begin no other job; the one at hand may go on until the process ends."""
        with self._changed:
            self._stopping = True
            self._waiting.clear()
            self._changed.notify_all()

    def status(self) -> dict[str, object]:
        """How much there is to do."""
        with self._changed:
            left = len(self._waiting) + (self._running is not None)
        return {"jobs": left, **self.counters}

    def _idle(self) -> bool:
        return not self._waiting and self._running is None

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or bool(self._waiting))
                if self._stopping:
                    return
                key, work = self._waiting.popitem(last=False)
                self._running = key
            began = time.monotonic()
            ended = outcome(work)
            if isinstance(ended, Failed):
                self._log.degraded("job", type(ended.error).__name__, kind=key.partition(":")[0])
            else:
                took = round(time.monotonic() - began, 1)
                self._log.info("job.done", kind=key.partition(":")[0], seconds=took)
            with self._changed:
                self._running = None
                self.counters["jobs_failed" if isinstance(ended, Failed) else "jobs_done"] += 1
                self._changed.notify_all()
