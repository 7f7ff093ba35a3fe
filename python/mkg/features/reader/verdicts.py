"""Keeps what was decided of a plan, so that an equal query need not be explained again.

A kept verdict counts for the same text, the same parameters, the same lists, the same server of the
same version and exactly the same indexes; a change of any of them is another key. It is forgotten
after five minutes, the time for which the server keeps plans itself.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

MOST = 256
SECONDS = 300.0


def key(
    text: str, params: str, *, policy: str, store: str, server: str, indexes: Sequence[str]
) -> str:
    """The name under which a verdict is kept."""
    parts = (text, params, policy, store, server, *indexes)
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        # With its length before each part, no two lists of parts make the same bytes.
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


class Verdicts:
    """The newest verdicts; thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def get(self, name: str) -> str | None:
        """The objection that was kept (empty: none); None when nothing is known."""
        with self._lock:
            found = self._kept.get(name)
            if found is None or self._clock() - found[0] >= SECONDS:
                return None
            return found[1]

    def keep(self, name: str, objection: str) -> None:
        """Keep one verdict, and no more than `MOST`."""
        with self._lock:
            self._kept[name] = (self._clock(), objection)
            self._kept.move_to_end(name)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
