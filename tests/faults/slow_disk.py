"""The launcher on a disk that is busy: a flush takes seconds and no signal reaches it.

python slow_disk.py LAUNCH SECONDS CLIENT EVENT
"""

import os
import runpy
import signal
import sys
import time


def flush(fd: int) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
    time.sleep(seconds)
    real(fd)


launch, seconds = sys.argv[1], float(sys.argv[2])
name = "fdatasync" if hasattr(os, "fdatasync") else "fsync"
real = getattr(os, name)
setattr(os, name, flush)
sys.argv = [launch, *sys.argv[3:]]
runpy.run_path(launch, run_name="__main__")
