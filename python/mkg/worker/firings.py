"""One event of a client, handed to two hooks of ours, is one event."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field

REMEMBERED = 4096


@dataclass(slots=True)
class Firing:
    """The first registration of an event and how it ended."""

    began: float
    done: threading.Event = field(default_factory=threading.Event)
    stored: bool = False

    def finish(self, stored: bool) -> None:
        """Tell whoever waits whether the record is on disk."""
        self.stored = stored
        self.done.set()


class Firings:
    """Recent events by key; equal ones within `window` seconds are the same firing."""

    def __init__(self, window: float) -> None:
        self._window = window
        self._recent: OrderedDict[str, Firing] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, key: str) -> tuple[Firing, bool]:
        """Return (firing, whether the caller is the first and has to store it)."""
        now = time.monotonic()
        with self._lock:
            known = self._recent.get(key)
            fresh = known is not None and now - known.began < self._window
            if known is not None and fresh and (known.stored or not known.done.is_set()):
                return known, False
            firing = Firing(now)
            self._recent[key] = firing
            self._recent.move_to_end(key)
            while len(self._recent) > REMEMBERED:
                self._recent.popitem(last=False)
            return firing, True
