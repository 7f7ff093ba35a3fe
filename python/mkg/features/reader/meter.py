"""How often a raw query may run: two at once, thirty a minute, and not beside two that hang.

One meter lives as long as the process: a new connection does not forget what ran before (SEC-45,
SEC-46). A call that the watchdog cut is only a suspect: the server may have ended it together with
its connection. Who wants to run the next one looks first (`suspects`, `settle`).
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator

from mkg.errors import Refused

AT_ONCE = 2
A_MINUTE = 30
MOST_STUCK = 2


class Meter:
    """Counts calls; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._suspects: set[str] = set()
        self._begun: deque[float] = deque()

    @contextlib.contextmanager
    def slot(self) -> Generator[None]:
        """Room for one query.

        Raises:
            Refused: too many run or ran (`busy`).
        """
        with self._lock:
            now = self._clock()
            while self._begun and now - self._begun[0] >= 60:
                self._begun.popleft()
            if self._running >= AT_ONCE:
                raise Refused(f"busy: {AT_ONCE} queries run already; try again", code="busy")
            if len(self._begun) >= A_MINUTE:
                wait = int(60 - (now - self._begun[0])) + 1
                raise Refused(
                    f"busy: {A_MINUTE} queries a minute are the limit; try again in {wait} s",
                    code="busy",
                )
            self._begun.append(now)
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def suspect(self, call: str) -> None:
        """Note a call that was cut off because the server did not end it in time."""
        with self._lock:
            self._suspects.add(call)

    def suspects(self) -> frozenset[str]:
        """The calls that were cut off and of which nobody knows that they ended."""
        with self._lock:
            return frozenset(self._suspects)

    def settle(self, asked: Collection[str], running: Collection[str]) -> None:
        """Forget each of the `asked` calls that is not among the `running` ones.

        Raises:
            Refused: two of them still hold a thread of the server.
        """
        with self._lock:
            self._suspects -= set(asked) - set(running)
        if len(running) >= MOST_STUCK:
            raise Refused(
                f"switched off: {len(running)} earlier queries still run in the database, past its "
                "own time limit; wait until they end, or restart it (`mkg db down`, `mkg db up`)",
                code="refused",
            )
