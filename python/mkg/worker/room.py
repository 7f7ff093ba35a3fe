"""How much of what clients send is held in memory at once."""

import threading

SMALL = 1024 * 1024


class Room:
    """Bytes in flight: a large payload waits for nobody, it is refused while there is no room."""

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0
        self._lock = threading.Lock()

    def admit(self, size: int) -> bool:
        """Say whether this many bytes may be read now, and count them if so."""
        with self._lock:
            # Small ones are bounded by the number of connections.
            if size > SMALL and self._used + size > self._most:
                return False
            self._used += size
            return True

    def leave(self, size: int) -> None:
        """Give back what was admitted."""
        with self._lock:
            self._used -= size
