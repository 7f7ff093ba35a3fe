"""A loopback TCP proxy before a database that behaves like a bad network."""

import contextlib
import socket
import threading
import time

# BEGIN, RUN and PULL come before it; the message COMMIT is a chunk of two bytes (Bolt 5).
COMMIT = b"\x00\x02\xb0\x12\x00\x00"
PIECE = 16 * 1024


class Link:
    """One connection through the proxy, with both of its ends."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.near, self.far = near, far
        self.mute = False
        self.cut_at_answer = False
        self.packets = 0

    def close(self) -> None:
        """Let both ends hear that it is over."""
        for end in (self.near, self.far):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Proxy:
    """Listens on one loopback port; each attribute is one ill, and may change at any time."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._lock = threading.Lock()
        self._links: list[Link] = []
        self._muted: list[Link] = []
        self._listener: socket.socket | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.latency = 0.0
        self.bytes_per_second = 0
        self.reset_after = 0  # packets of one connection
        self.black_hole = False  # bytes wait until it ends
        self.commits_to_cut: list[int] = []  # commits to let through before each lost reply
        self.cut = 0

    def open(self) -> None:
        """Let connections through from now on."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen()
        self._listener = listener
        threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def close(self) -> None:
        """Cut every connection and refuse new ones."""
        listener, self._listener = self._listener, None
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for link in [*self._taken(), *self._muted]:
            link.close()
        self._muted.clear()

    def half_open(self) -> None:
        """The server's ends go, and the clients' ends are never told."""
        for link in self._taken():
            link.mute = True
            self._muted.append(link)
            with contextlib.suppress(OSError):
                link.far.shutdown(socket.SHUT_RDWR)

    def open_links(self) -> int:
        """How many connections stand."""
        with self._lock:
            return len(self._links)

    def _taken(self) -> list[Link]:
        with self._lock:
            links, self._links = self._links, []
        return links

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                near = listener.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(self._target, timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            link = Link(near, far)
            with self._lock:
                self._links.append(link)
            for upwards in (True, False):
                threading.Thread(target=self._pump, args=(link, upwards), daemon=True).start()

    def _pump(self, link: Link, upwards: bool) -> None:
        source, sink = (link.near, link.far) if upwards else (link.far, link.near)
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                if not self._passed(link, data, upwards):
                    break
                sink.sendall(data)
        if not link.mute:
            link.close()
            with self._lock, contextlib.suppress(ValueError):
                self._links.remove(link)

    def _passed(self, link: Link, data: bytes, upwards: bool) -> bool:
        """Do to some bytes what the network does; False cuts the connection."""
        if self.latency:
            time.sleep(self.latency)
        if self.bytes_per_second:
            time.sleep(len(data) / self.bytes_per_second)
        while self.black_hole:
            time.sleep(0.02)
        link.packets += 1
        if self.reset_after and link.packets > self.reset_after:
            return False
        if not upwards:
            if link.cut_at_answer:
                # The server has committed: only its word is lost.
                self.cut += 1
            return not link.cut_at_answer
        if COMMIT in data and self.commits_to_cut:
            self.commits_to_cut[0] -= 1
            if self.commits_to_cut[0] < 0:
                self.commits_to_cut.pop(0)
                link.cut_at_answer = True
        return not link.mute
