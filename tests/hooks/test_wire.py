"""The frame between launcher and worker."""

import socket
import threading
import time

import pytest

from mkg_hooks import launcher, wire


def read(data: bytes, *, close: bool = True, seconds: float = 0.3) -> wire.Frame:
    ours, theirs = socket.socketpair()
    sender = threading.Thread(target=lambda: (theirs.sendall(data), close and theirs.close()))
    sender.start()
    try:
        return wire.read_frame(ours, time.monotonic() + seconds)
    finally:
        ours.close()
        sender.join(5)
        theirs.close()


def test_a_frame_reads_back_as_it_was_written_by_either_side():
    payload = bytes(range(256)) * 300
    frame = read(wire.encode("hook", "claude", "Stop", payload, {"A_TOKEN": "é\n=", "B": ""}))
    assert frame == wire.Frame("hook", "claude", "Stop", payload, {"A_TOKEN": "é\n=", "B": ""})
    sent = launcher.frame_of("claude", "Stop", payload, {b"A_TOKEN": "é\n=".encode(), b"B": b""})
    assert read(sent) == frame


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\n",
        b"MKG2 hook a b 0 0\n",
        b"MKG1 shout a b 0 0\n",
        b"MKG1 hook a b -1 0\n",
        b"MKG1 hook a b x 0\n",
        b"MKG1 hook a b 0\n",
        b"MKG1 hook a b 99999999999 0\n",
        b"MKG1 hook a b 0 99999999\n",
        b"MKG1 hook a b 10 0\nshort",
        b"x" * 5000,
        b"",
    ],
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(wire.WireError):
        read(data)


def test_a_peer_that_never_finishes_is_given_up_at_the_deadline():
    began = time.monotonic()
    with pytest.raises(wire.WireError):
        read(b"MKG1 hook a b 10 0\nhalf", close=False)
    assert 0.2 < time.monotonic() - began < 2.0


def test_a_peer_that_hung_up_is_noticed_without_waiting():
    ours, theirs = socket.socketpair()
    ours.settimeout(5)
    began = time.monotonic()
    assert not wire.gone(ours)
    theirs.close()
    assert wire.gone(ours) and ours.gettimeout() == 5
    assert time.monotonic() - began < 1.0
    ours.close()


def test_an_answer_comes_back_whole(tmp_path):
    path = str(tmp_path / "s")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    seen = []

    def serve() -> None:
        link, _ = server.accept()
        seen.append(wire.read_frame(link, time.monotonic() + 5))
        link.sendall(wire.reply(b"y" * 300_000))
        link.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert wire.ask(path, "embed", b'{"texts":[]}', timeout=5) == b"y" * 300_000
    thread.join(5)
    server.close()
    assert (seen[0].verb, seen[0].payload) == ("embed", b'{"texts":[]}')
    with pytest.raises(OSError):
        wire.ask(path, "ping", timeout=1)
