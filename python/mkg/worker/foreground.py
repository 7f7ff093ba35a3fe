"""Who waits for an answer: whatever can wait lets them go first."""

import threading
import time


class Foreground:
    """Counts the clients that wait; background work asks before it takes the database."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting = 0

    def enter(self) -> None:
        """A client waits from now on."""
        with self._changed:
            self._waiting += 1

    def leave(self) -> None:
        """That client has its answer, or will get none."""
        with self._changed:
            self._waiting -= 1
            self._changed.notify_all()

    def clear(self, timeout: float) -> bool:
        """Return whether nobody waits, after at most `timeout` seconds."""
        until = time.monotonic() + timeout
        with self._changed:
            while self._waiting:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return True
