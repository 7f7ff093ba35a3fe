"""A worker's life: one winner among many starters, idle exit, quiet stop, a successor's code."""

import contextlib
import fcntl
import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Literal

from mkg.worker.answers import Answers
from mkg.worker.code import Watch
from mkg.worker.drain import Drain
from mkg.worker.foreground import Foreground
from mkg.worker.jobs import Jobs
from mkg.worker.memory import Memory
from mkg.worker.server import Server
from mkg.worker.shape import Dispatch, Limits, Log, Makers, Places
from mkg_hooks import intake, notice, starting, wire
from mkg_hooks.spool import Spool

LOSER_PATIENCE = 3.0
Ending = Literal["taken", "over", "replaced"]
REHEARSAL = b'{"session_id":"-","prompt":"x","tool_name":"Bash","tool_input":{"command":"ls"}}'


class Worker:
    """The parts of one worker; `run` is its whole life in one process."""

    def __init__(
        self,
        places: Places,
        makers: Makers,
        dispatch: Dispatch,
        *,
        log: Log,
        limits: Limits | None = None,
        watch: Watch | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        self.jobs = jobs or Jobs(log)
        self.limits = limits or Limits()
        self.places = places
        self.log = log
        self.spool = Spool(places.spool, cap_bytes=self.limits.spool_bytes)
        self.watch = watch
        self.memory = Memory(makers, dispatch, log, on_up=lambda: notice.clear(str(places.spool)))
        waiting = Foreground()
        self.drain = Drain(self.spool, dispatch, self.memory, self.limits, waiting, log)
        answers = Answers(dispatch, self.memory, str(places.spool), self.limits, waiting, log)
        self.server = Server(
            places, makers, self.memory, self.spool, self.drain, answers, self.limits, log
        )
        self.server.jobs = self.jobs
        if watch is not None:
            self.server.more = watch.status

    def stop(self) -> None:
        """End `serve` after the batch at hand; safe in a signal handler."""
        self.server.told_to_stop = True
        self.server.stop()

    def make_room(self) -> None:
        """End `serve` after the batch at hand, for the process that takes this one's place."""
        # Hooks that find no socket meanwhile spool, and need start nobody.
        starting.due(os.fsencode(self.places.spool))
        self.server.stop()

    def serve(self) -> None:
        """Work until stopped or idle; the caller holds the lock."""
        # The redactor compiles its rules at the first text: not while a client waits for it.
        intake.read("claude", "UserPromptSubmit", REHEARSAL, {}, hmac_key=None, received_at="")
        warming = threading.Thread(target=self.memory.warm_up, daemon=True, name="warm")
        draining = threading.Thread(target=self.drain.run, daemon=True, name="drain")
        warming.start()
        draining.start()
        if self.watch is not None:
            looking = (self.make_room,)
            threading.Thread(target=self.watch.run, args=looking, daemon=True, name="watch").start()
        self.log.info("worker.started", pid=os.getpid())
        try:
            while True:
                self.server.serve(self._idle)
                # An event may have been spooled by a launcher that no longer found the socket.
                if self.server.stopping or self.spool.oldest() is None:
                    break
        finally:
            if self.watch is not None:
                self.watch.stop()
            self.drain.stop()
            self.jobs.stop()
            draining.join()
            self.server.close()
            self.memory.close()
            self.log.info("worker.stopped", pid=os.getpid())

    def _idle(self) -> bool:
        quiet = time.monotonic() - self.server.last_event
        idle = quiet > self.limits.idle and self.spool.oldest() is None
        return idle and self.jobs.wait(0.0)


@contextmanager
def sole(places: Places) -> Generator[bool]:
    """Hold the store's worker lock; yields False when another worker is there and answers.

    Two locks: one beside the socket, and one in the spool, because the runtime folder may differ
    between a terminal and a client while the spool of a store is one.
    """
    until = time.monotonic() + LOSER_PATIENCE
    private(places.lock.parent)
    private(places.spool)
    with contextlib.ExitStack() as files:
        locks = (places.lock, places.spool / "worker.lock")
        held = [files.enter_context(path.open("a")) for path in locks]
        while True:
            try:
                for file in held:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # A worker that is just leaving holds the lock but answers nobody: take its place.
                if answers(places.socket) or time.monotonic() > until:
                    yield False
                    return
                time.sleep(0.05)
        yield True


def private(folder: Path) -> None:
    """Make a 0700 folder; the lock and the socket in it are for this user alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user; set MKG_HOME or XDG_RUNTIME_DIR")
    if found.st_mode & 0o077:
        folder.chmod(0o700)


def answers(path: Path, timeout: float = 0.5) -> bool:
    """Say whether a worker answers a ping."""
    try:
        wire.ask(str(path), "ping", timeout=timeout)
    except OSError:
        return False
    return True


def run(
    places: Places,
    makers: Makers,
    dispatch: Dispatch,
    *,
    log: Log,
    limits: Limits | None = None,
    watch: Watch | None = None,
    jobs: Jobs | None = None,
) -> Ending:
    """Be the worker of this store until stopped, idle or replaced.

    Returns "taken" when there already is one, and "replaced" when the caller should become
    `watch.successor`: the lock and the socket are free then.
    """
    os.umask(0o077)
    # A thread that computes hands over after a millisecond, not five: a prompt may wait for it.
    sys.setswitchinterval(0.001)
    with sole(places) as mine:
        if not mine:
            return "taken"
        worker = Worker(places, makers, dispatch, log=log, limits=limits, watch=watch, jobs=jobs)

        def leave(number: int, frame: FrameType | None) -> None:
            worker.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        worker.serve()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        # Whoever stopped it meant the successor too.
        follows = watch is not None and watch.successor and not worker.server.told_to_stop
        return "replaced" if follows else "over"
