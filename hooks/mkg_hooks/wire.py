"""The frame between launcher and worker, and its bounded reader.

Request: `MKG1 <verb> <client> <event> <payload_len> <env_len>\\n`, the payload, and the
environment block (`NAME\\0value\\0` ...). Names that start with `mkg.` are facts of the launcher,
not variables: `mkg.sent_at` (its clock), and of a payload over 16 MiB `mkg.raw_bytes` and
`mkg.raw_sha256`.

Reply to `hook`: `ACK\\n` once the record is on disk, then `OUT <n>\\n` and the exact stdout (none
for an event nobody waits for). Reply to every other verb: `OUT <n>\\n` and JSON.
"""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

VERBS = frozenset({"hook", "status", "drain", "embed", "session", "forget", "stop", "ping"})
HEADER_BYTES = 256
PAYLOAD_BYTES = 17 * 1024 * 1024
ENV_BYTES = 512 * 1024
REPLY_BYTES = 64 * 1024 * 1024
ACK = b"ACK\n"


class WireError(OSError):
    """The peer sent what is no frame, too much, or too slowly."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One request."""

    verb: str
    client: str
    event: str
    payload: bytes
    env: dict[str, str]


def encode(
    verb: str,
    client: str = "-",
    event: str = "-",
    payload: bytes = b"",
    env: dict[str, str] | None = None,
) -> bytes:
    """Return the bytes of a request."""
    pairs = (f"{name}\0{value}\0" for name, value in (env or {}).items())
    block = "".join(pairs).encode("utf-8", "replace")
    head = f"MKG1 {verb} {client} {event} {len(payload)} {len(block)}\n".encode("ascii")
    return head + payload + block


def reply(data: bytes) -> bytes:
    """Return the bytes of an answer."""
    return b"OUT %d\n%b" % (len(data), data)


def read_frame(
    link: socket.socket, deadline: float, admitted: Callable[[int], bool] | None = None
) -> Frame:
    """Read one request before `deadline` (monotonic); `admitted` says whether its size is.

    Raises WireError.
    """
    head, rest = _line(link, deadline)
    words = head.split(b" ")
    if len(words) != 6 or words[0] != b"MKG1":
        raise WireError("not a frame of this protocol")
    verb, client, event = (word.decode("ascii", "replace") for word in words[1:4])
    if verb not in VERBS or not (words[4].isdigit() and words[5].isdigit()):
        raise WireError("unknown verb or malformed length")
    size, env_size = int(words[4]), int(words[5])
    if size > PAYLOAD_BYTES or env_size > ENV_BYTES:
        raise WireError("the frame is larger than the protocol allows")
    if admitted is not None and not admitted(size + env_size):
        raise WireError("too much is being read at once")
    body = _exactly(link, size + env_size, rest, deadline)
    return Frame(verb, client, event, bytes(body[:size]), _env(bytes(body[size:])))


def read_reply(link: socket.socket, deadline: float) -> bytes:
    """Read `OUT <n>` and its bytes before `deadline` (monotonic). Raises WireError."""
    head, rest = _line(link, deadline)
    if not head.startswith(b"OUT ") or not head[4:].isdigit() or int(head[4:]) > REPLY_BYTES:
        raise WireError("not a reply of this protocol")
    return bytes(_exactly(link, int(head[4:]), rest, deadline))


def ask(path: str, verb: str, payload: bytes = b"", *, timeout: float) -> bytes:
    """Ask the worker behind a socket one thing and return its JSON.

    Raises OSError (WireError among them) when nobody answers in time.
    """
    until = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(timeout)
        link.connect(path)
        link.sendall(encode(verb, payload=payload))
        return read_reply(link, until)


def gone(link: socket.socket) -> bool:
    """Say whether the peer has hung up."""
    timeout = link.gettimeout()
    # With a timeout set, a socket waits for data first, whatever the flags say.
    link.setblocking(False)
    try:
        return link.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        link.settimeout(timeout)


def _receive(link: socket.socket, size: int, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise WireError("the peer is too slow")
    link.settimeout(left)
    try:
        part = link.recv(size)
    except TimeoutError:
        raise WireError("the peer is too slow") from None
    if not part:
        raise WireError("the peer hung up")
    return part


def _line(link: socket.socket, deadline: float) -> tuple[bytes, bytes]:
    got = b""
    while b"\n" not in got:
        if len(got) > HEADER_BYTES:
            raise WireError("the header is too long")
        got += _receive(link, 65536, deadline)
    head, _, rest = got.partition(b"\n")
    if len(head) > HEADER_BYTES:
        raise WireError("the header is too long")
    return head, rest


def _exactly(link: socket.socket, size: int, got: bytes, deadline: float) -> bytearray:
    body = bytearray(got[:size])
    while len(body) < size:
        body += _receive(link, min(size - len(body), 1 << 20), deadline)
    return body


def _env(block: bytes) -> dict[str, str]:
    parts = block.decode("utf-8", "replace").split("\0")
    return dict(zip(parts[0::2], parts[1::2], strict=False))
