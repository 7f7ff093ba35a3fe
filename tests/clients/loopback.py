"""A network namespace that has loopback alone, for a process and everything it starts from now on.

`python -m tests.clients.loopback COMMAND...` runs one command in it. See namespaces(7) and
netdevice(7) for the calls.
"""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

_NEW_NET, _NEW_USER = 0x40000000, 0x10000000
_SET_FLAGS, _UP = 0x8914, 0x1
# Kept for documentation (RFC 5737). Nothing is sent: a datagram socket only looks for a route.
_ELSEWHERE = ("192.0.2.1", 9)


def enter() -> None:
    """Leave every network but loopback, for good; without root in a user namespace of its own.

    Raises:
        OSError: the system does not allow it. The process may stand in half of it: try `refusal`
            before.
    """
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NET):
        if libc.unshare(_NEW_NET | _NEW_USER):
            raise OSError(ctypes.get_errno(), "no network namespace can be made here")
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny")
        (own / "uid_map").write_text(f"{user} {user} 1")
        (own / "gid_map").write_text(f"{group} {group} 1")
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))


def refusal() -> str:
    """Why `enter` cannot be used here, found out by another process; empty where it can."""
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    command = [sys.executable, "-m", __name__, sys.executable, "-c", ""]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=root, timeout=60
    )
    return done.stderr.strip().rpartition("\n")[2] if done.returncode else ""


def reaches_out() -> bool:
    """Whether this process has a route to anywhere but itself."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(_ELSEWHERE)
        except OSError:
            return False
        return True


if __name__ == "__main__":
    enter()
    os.execvp(sys.argv[1], sys.argv[1:])
