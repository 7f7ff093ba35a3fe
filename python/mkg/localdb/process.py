"""Starts, recognises and ends the server's process. Standard library only.

Run as a script (`python -I -S process.py PIDFILE LOG COMMAND...`) it is the launcher: it leaves the
caller's session and terminal, writes down who it is, and becomes the server. The note is there
before the server is, so a caller that is killed in between leaves no unknown process.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process, and when it began: a later process may get the same number."""

    pid: int
    began: str


def began(pid: int) -> str | None:
    """When a process began, in a form that is only compared; None when it has ended."""
    if not Path("/proc/self/stat").exists():
        return _began_by_ps(pid)
    rest = _fields(pid)
    if len(rest) < 20 or rest[0] in "ZX":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}:{rest[19]}"


def _fields(pid: int) -> list[str]:
    """What Linux tells of a process, from its state on; [] when it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    # The name, in brackets, may hold anything; state is the first field after it.
    return text.rpartition(")")[2].split()


def wake(process: Process) -> bool:
    """Let a suspended process go on; False when it was not suspended."""
    if Path("/proc/self/stat").exists():
        suspended = _fields(process.pid)[:1] == ["T"]
    else:
        suspended = _by_ps(process.pid).startswith("T")
    return suspended and alive(process) and _signal(process, signal.SIGCONT)


def _began_by_ps(pid: int) -> str | None:
    state, _, when = _by_ps(pid).partition(" ")
    return when.strip() or None if state and not state.startswith("Z") else None


def _by_ps(pid: int) -> str:
    try:
        done = subprocess.run(
            ["/bin/ps", "-o", "state=,lstart=", "-p", str(pid)],
            check=False,
            capture_output=True,
            text=True,
            timeout=5,
            env={"LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def alive(process: Process) -> bool:
    """Whether it still is the process that was written down."""
    return began(process.pid) == process.began


def read(path: Path) -> Process | None:
    """The process of a note; None when there is no note or a broken one."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
        return Process(int(note["pid"]), str(note["began"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def start(command: list[str], *, note: Path, log: Path, env: dict[str, str]) -> Process | None:
    """Start a process that outlives us; None when it ended at once."""
    launcher = [sys.executable, "-I", "-S", str(Path(__file__)), str(note), str(log)]
    note.unlink(missing_ok=True)
    subprocess.run(
        [*launcher, *command],
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=True,
        env=env,
        cwd=note.parent,
        timeout=20,
    )
    return read(note)


def stop(process: Process, *, patience: float, grace: float = 10.0) -> bool:
    """End a process: ask, wait, kill; True when asking was enough.

    Raises:
        TimeoutError: it survives even being killed.
    """
    asked = _signal(process, signal.SIGTERM)
    # A suspended process hears nothing until it goes on.
    asked = asked and _signal(process, signal.SIGCONT) and _ended(process, patience)
    if not asked and alive(process):
        _signal(process, signal.SIGKILL)
        if not _ended(process, grace):
            raise TimeoutError(f"process {process.pid} does not end")
    return asked


def _signal(process: Process, number: signal.Signals) -> bool:
    if not alive(process):
        return True
    try:
        os.kill(process.pid, number)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def _ended(process: Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _launch(note: str, log: str, command: list[str]) -> None:
    os.umask(0o077)
    # Closes in the child when it becomes the server, or fails to: until then we wait.
    ours, theirs = os.pipe()
    if os.fork():
        os.close(theirs)
        os.read(ours, 1)
        return
    me = Process(os.getpid(), began(os.getpid()) or "")
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    temporary = f"{note}.{me.pid}"
    descriptor = os.open(temporary, flags | os.O_EXCL, 0o600)
    os.write(descriptor, json.dumps(asdict(me)).encode())
    os.fsync(descriptor)
    os.close(descriptor)
    out = os.open(log, flags | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    Path(temporary).replace(note)
    os.execv(command[0], command)


if __name__ == "__main__":
    _launch(sys.argv[1], sys.argv[2], sys.argv[3:])
