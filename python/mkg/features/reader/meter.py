"""How often a raw query may run: two at once, thirty a minute, and not after two that did not end.

One meter lives as long as the process: a new connection does not forget what ran before (SEC-45,
SEC-46).
"""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

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
        self._stuck = 0
        self._begun: deque[float] = deque()

    @contextlib.contextmanager
    def slot(self) -> Iterator[None]:
        """Room for one query.

        Raises:
            Refused: too many run or ran (`busy`), or two never ended (`refused`).
        """
        with self._lock:
            now = self._clock()
            while self._begun and now - self._begun[0] >= 60:
                self._begun.popleft()
            if self._stuck >= MOST_STUCK:
                raise Refused(
                    f"switched off: {self._stuck} queries ran past the server's own time limit; "
                    "restart the database (`mkg db down`, `mkg db up`) and this server",
                    code="refused",
                )
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

    def stuck(self) -> None:
        """Note a query that the server did not end in time."""
        with self._lock:
            self._stuck += 1
