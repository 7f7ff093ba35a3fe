"""The worker's socket: bounded readers, peers of this user only, one reply per connection."""

import contextlib
import json
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkg.errors import MkgError
from mkg.worker.answers import Answers, Pending
from mkg.worker.drain import Drain
from mkg.worker.firings import Firings
from mkg.worker.guard import Failed, outcome
from mkg.worker.jobs import Jobs
from mkg.worker.memory import Memory
from mkg.worker.room import Room
from mkg.worker.shape import Limits, Log, Makers, Places
from mkg_hooks import consent, intake, wire
from mkg_hooks.payload import from_record
from mkg_hooks.spool import Spool

EMPTY = wire.reply(b"")
GUARD = "MKG_IN_EXTRACTION"


def peer_uid(link: socket.socket) -> int | None:
    """Return the user behind a connection, or None where the system does not tell."""
    if sys.platform == "linux":
        data = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("3i", data)[1]
    if sys.platform == "darwin":
        # struct xucred: version, uid, number of groups, groups; SOL_LOCAL and LOCAL_PEERCRED.
        data = link.getsockopt(0, 1, 76)
        return struct.unpack("=Ii", data[:8])[1]
    return None


def listen(path: Path, backlog: int) -> socket.socket:
    """Bind the socket 0600 in its 0700 folder; the caller holds the worker's lock."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        link.bind(str(path))
    finally:
        os.umask(before)
    link.listen(backlog)
    link.setblocking(False)
    return link


class Server:
    """Takes frames until told to stop."""

    def __init__(
        self,
        places: Places,
        makers: Makers,
        memory: Memory,
        spool: Spool,
        drain: Drain,
        answers: Answers,
        limits: Limits,
        log: Log,
    ) -> None:
        self._places = places
        self._makers = makers
        self._memory = memory
        self._spool = spool
        self._drain = drain
        self._answers = answers
        self._limits = limits
        self._log = log
        self._firings = Firings(limits.same_firing)
        self._slots = threading.BoundedSemaphore(limits.connections)
        self._room = Room(limits.in_flight)
        self._home = os.fsencode(places.hmac_key.parent)
        self._key = intake.load_key(str(places.hmac_key))
        self._wake_read, self._wake_write = os.pipe()
        self._counting = threading.Lock()
        self.started = time.time()
        self.last_event = time.monotonic()
        self.stopping = False
        self.told_to_stop = False
        self.jobs = Jobs(log)
        self.more: Callable[[], dict[str, object]] = dict
        self.counters = {
            "hooks": 0,
            "acknowledged": 0,
            "duplicates": 0,
            "empty": 0,
            "unreadable": 0,
            "unspooled": 0,
            "rejected": 0,
        }
        self._verbs: dict[str, Callable[[wire.Frame], dict[str, Any]]] = {
            "ping": lambda frame: {"pid": os.getpid()},
            "status": lambda frame: self.status(),
            "drain": self._drained,
            "embed": self._embedded,
            "session": self._session,
            "forget": self._forgotten,
            "stop": self._stopped,
        }

    def serve(self, idle_over: Callable[[], bool]) -> None:
        """Accept until stopped, or until `idle_over` says that nobody needs this worker."""
        listener = listen(self._places.socket, 64)
        # Only now: a hook that finds neither the note nor the socket would start a rival.
        with contextlib.suppress(FileNotFoundError):
            (self._places.spool / "starting").unlink()
        try:
            while not self.stopping and not idle_over():
                ready, _, _ = select.select([listener, self._wake_read], [], [], 1.0)
                if listener in ready:
                    self._accept(listener)
        finally:
            with contextlib.suppress(FileNotFoundError):
                self._places.socket.unlink()
            listener.close()

    def stop(self) -> None:
        """End `serve`; safe in a signal handler."""
        self.stopping = True
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b".")

    def close(self) -> None:
        """Wait for the connections at hand, then release the descriptors."""
        for _ in range(self._limits.connections):
            self._slots.acquire(timeout=self._limits.frame)
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _accept(self, listener: socket.socket) -> None:
        try:
            link, _ = listener.accept()
        except OSError:
            return
        # Too many at once or somebody else: hang up, and the launcher spools by itself.
        if peer_uid(link) not in (os.geteuid(), None) or not self._slots.acquire(blocking=False):
            self._count("rejected")
            link.close()
            return
        threading.Thread(target=self._connection, args=(link,), daemon=True, name="hook").start()

    def _connection(self, link: socket.socket) -> None:
        ended = outcome(lambda: self._converse(link))
        if isinstance(ended, Failed):
            # A peer that is slow or gone is daily business; anything else is a bug.
            tell = self._log.info if isinstance(ended.error, OSError) else self._log.error
            tell("connection.ended", reason=type(ended.error).__name__)
        link.close()
        self._slots.release()

    def _converse(self, link: socket.socket) -> None:
        held = 0

        def admitted(size: int) -> bool:
            nonlocal held
            if self._room.admit(size):
                held = size
                return True
            # The launcher is hung up on, and redacts and spools in its own memory.
            self._count("rejected")
            return False

        try:
            frame = wire.read_frame(link, time.monotonic() + self._limits.frame, admitted)
            link.settimeout(self._limits.frame)
            if frame.verb == "hook":
                self._hook(link, frame)
            else:
                answer = self._verbs[frame.verb](frame)
                link.sendall(wire.reply(json.dumps(answer).encode()))
        finally:
            self._room.leave(held)

    def _hook(self, link: socket.socket, frame: wire.Frame) -> None:
        self._count("hooks")
        self.last_event = time.monotonic()
        received = intake.stamp(frame.env.get("mkg.sent_at"), time.time())
        # The launcher asks first; a launcher of before asks nothing. A session that a model's own
        # call opened is nobody's: stored, it would be read by the next call, and so on.
        record = (
            None
            if (paused := bool(consent.paused(self._home, [])) or GUARD in frame.env)
            else intake.read(
                frame.client,
                frame.event,
                frame.payload,
                {**frame.env, **self._makers.secrets()},
                hmac_key=self._key,
                received_at=received,
            )
        )
        if record is None:
            self._count("empty" if paused else "unreadable")
            if not paused:
                size = len(frame.payload)
                self._log.info("event.unreadable", event_name=frame.event, bytes=size)
            link.sendall(wire.ACK + EMPTY)
            return
        firing, first = self._firings.begin(str(record["event_key"]))
        if not first:
            firing.done.wait(self._limits.frame)
            if firing.stored:
                self._count("duplicates")
                link.sendall(wire.ACK + EMPTY)
                return
        event = from_record(record)
        pending = self._answers.begin(event)
        try:
            if self._store(link, record, firing):
                # The launcher's patience for the first is shorter than for the second.
                link.sendall(wire.ACK)
                self._answer(link, pending)
        finally:
            self._answers.over(pending)
            self._drain.poke()

    def _store(self, link: socket.socket, record: dict[str, Any], firing: Any) -> bool:
        """Spool the record; False when the launcher has given up or the disk refuses."""
        stored = False
        try:
            # A launcher that waited too long has hung up and keeps the event itself.
            if not wire.gone(link):
                self._spool.append(record)
                stored = True
        except OSError as error:
            self._count("unspooled")
            self._log.error("spool.refused", reason=type(error).__name__)
        finally:
            firing.finish(stored)
        if stored:
            self._count("acknowledged")
        return stored

    def _answer(self, link: socket.socket, pending: Pending | None) -> None:
        if pending is None:
            link.sendall(EMPTY)
            return
        event = pending.event
        try:
            text, result = self._answers.to(pending)
        except MkgError as error:
            self._log.error("answer.failed", event_name=event.name, reason=type(error).__name__)
            link.sendall(EMPTY)
            return
        # A launcher whose time was up has hung up: what it never saw was not told.
        if not wire.gone(link):
            link.sendall(wire.reply(text))
            self._answers.sent(event, result)

    def _drained(self, frame: wire.Frame) -> dict[str, Any]:
        asked = json.loads(frame.payload or b"{}")
        until = time.monotonic() + min(float(asked.get("timeout", 30.0)), 3600.0)
        done = self._drain.wait_empty(until - time.monotonic())
        done = done and self.jobs.wait(max(0.0, until - time.monotonic()))
        # Who waits for the spool asks next: only planned statements answer within a budget.
        self._memory.warmed.wait(max(0.0, until - time.monotonic()))
        if done and time.monotonic() < until:
            self._memory.refresh()
        return {"drained": done, "graph": self._memory.graph, **self._drain.status()}

    def _embedded(self, frame: wire.Frame) -> dict[str, Any]:
        texts: list[Any] = json.loads(frame.payload).get("texts") or []
        if not all(isinstance(text, str) for text in texts) or isinstance(texts, str):
            return {"error": 'embed wants {"texts": [...]}'}
        return self._memory.vectors(texts)

    def _session(self, frame: wire.Frame) -> dict[str, Any]:
        asked: dict[str, Any] = json.loads(frame.payload or b"{}")
        return self._memory.counts(str(asked.get("session_id") or ""))

    def _forgotten(self, frame: wire.Frame) -> dict[str, Any]:
        self._memory.forget()
        return {"forgotten": True, "pid": os.getpid()}

    def _stopped(self, frame: wire.Frame) -> dict[str, Any]:
        self.told_to_stop = True
        self.stop()
        return {"stopping": True, "pid": os.getpid()}

    def _count(self, name: str) -> None:
        with self._counting:
            self.counters[name] += 1

    def status(self) -> dict[str, Any]:
        """Return everything a person or `doctor` wants to know of this worker."""
        return {
            "pid": os.getpid(),
            "started_at": intake.stamp(str(self.started), self.started),
            "idle_s": round(time.monotonic() - self.last_event, 1),
            "graph": self._memory.graph,
            "graph_error": self._memory.graph_error,
            "embedder": self._memory.embedder,
            **self._drain.status(),
            **self.counters,
            **self._answers.status(),
            **self.jobs.status(),
            **self.more(),
        }
