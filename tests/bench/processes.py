"""Starting programs as a client does, and what they and the worker cost in processor time."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Command = tuple[Sequence[str], bytes]


@dataclass(frozen=True, slots=True)
class Fired:
    """What some programs that were started together took until the last had ended."""

    wall_ms: float
    cpu_ms: float
    out: tuple[bytes, ...]


def fire(commands: Sequence[Command], env: Mapping[str, str]) -> Fired:
    """Start all at once, wait for all; the time of what they started and waited for counts.

    Raises:
        RuntimeError: one ended with an error, so its time says nothing.
    """
    started: list[tuple[int, int]] = []
    cpu = 0.0
    began = time.perf_counter()
    for argv, stdin in commands:
        source, feed = os.pipe()
        out, sink = os.pipe()
        os.write(feed, stdin)
        os.close(feed)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_DUP2, sink, 1),
        ]
        started.append((os.posix_spawn(argv[0], argv, env, file_actions=actions), out))
        os.close(source)
        os.close(sink)
    for (pid, _), (argv, _) in zip(started, commands, strict=True):
        _, status, used = os.wait4(pid, 0)
        if status != 0:
            raise RuntimeError(f"{argv[:4]} ended with {os.waitstatus_to_exitcode(status)}")
        cpu += used.ru_utime + used.ru_stime
    wall = time.perf_counter() - began
    said: list[bytes] = []
    for _, out in started:
        said.append(os.read(out, 65536))
        os.close(out)
    return Fired(wall * 1000, cpu * 1000, tuple(said))


def clock(pid: int) -> float:
    """Processor time of another process so far, in milliseconds, its ended threads included."""
    # The kernel's name for the scheduler clock of a process; os.wait4 knows ended children only.
    return time.clock_gettime((~pid << 3) | 2) * 1000
