"""Work in a child of the hook's own: a disk or a lock that does not answer holds no prompt.

A call into a busy disk cannot be interrupted, not even by the launcher's alarm, and a client waits
for whoever holds its pipes. So the child lets go of them, and goes on when the hook has left.
"""

# pyright: basic

import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LIFE = 30  # seconds after which a child that waits for a lock gives up


def run(work: "Callable[[], bytes]", seconds: float) -> bytes:
    """Return what `work` says, or nothing when it is not done in time; it goes on then."""
    from select import select

    source, sink = posix.pipe()
    try:
        child = posix.fork()
    except OSError:
        return work()
    if child == 0:
        try:
            import _signal  # pyright: ignore[reportMissingImports]

            posix.setsid()
            null = posix.open(b"/dev/null", posix.O_RDWR)
            for fd in (0, 1, 2):
                posix.dup2(null, fd)
            posix.close(source)
            _signal.setitimer(_signal.ITIMER_REAL, LIFE)
            posix.write(sink, work())
        finally:
            posix._exit(0)
    posix.close(sink)
    told, until = b"", time.monotonic() + seconds
    while select([source], [], [], max(until - time.monotonic(), 0.0))[0]:
        part = posix.read(source, 65536)
        if not part:
            posix.waitpid(child, 0)
            break
        told += part
    return told
