"""Writes to a spool until it is killed, and tells a ledger what was acknowledged.

    python spool_writer.py HOOKS SPOOL LEDGER NAME [BYTES]

With BYTES it kills itself in the middle of a write: after that many bytes of a record.
"""

import os
import signal
import sys
import time

sys.path.insert(0, sys.argv[1])
from mkg_hooks import spool as spool_module

spool = spool_module.Spool(sys.argv[2])
ledger = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
real_write = os.write


def write(fd: int, data: bytes) -> int:
    """Write only the beginning of the tenth record, then die as by kill -9."""
    if fd != ledger and b'-9"' in data:
        real_write(fd, data[: int(sys.argv[5])])
        os.kill(os.getpid(), signal.SIGKILL)
    return real_write(fd, data)


if len(sys.argv) > 5:
    os.write = write
number = 0
until = time.monotonic() + 30  # nobody's child for ever
while time.monotonic() < until:
    key = f"{sys.argv[4]}-{number}"
    spool.append({"event_key": key, "prompt": "p" * (number * 37 % 900)})
    real_write(ledger, key.encode() + b"\n")
    number += 1
