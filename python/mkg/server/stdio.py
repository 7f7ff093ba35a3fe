"""The protocol's own stdin and stdout, taken away from everybody else (SEC-55, CL-44).

What a library or a child prints to descriptor 1 reaches stderr, and what reads descriptor 0 finds
an end: only the two private duplicates carry JSON-RPC.
"""

import fcntl
import io
import os
import signal
import threading
from dataclasses import dataclass

GRACE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Pipes:
    """The private ends."""

    stdin: "io.TextIOWrapper"
    stdout: "io.TextIOWrapper"


class _UntilClosed(io.TextIOWrapper):
    """The client's messages; once they end, so does the process, whatever a tool waits for."""

    def readline(self, size: int = -1, /) -> str:
        line = super().readline(size)
        if not line:
            _end_soon()
        return line

    def __next__(self) -> str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


def claim() -> Pipes:
    """Move the protocol to private descriptors, and lead 1 to stderr and 0 to nothing."""
    # The thread that waits for the client cannot be interrupted: an interrupt ends the process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    incoming = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, 3)
    outgoing = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Pipes(
        _UntilClosed(os.fdopen(incoming, "rb", closefd=False), encoding="utf-8", errors="replace"),
        io.TextIOWrapper(
            os.fdopen(outgoing, "wb", closefd=False), encoding="utf-8", errors="replace"
        ),
    )


def _end_soon() -> None:
    timer = threading.Timer(GRACE_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
