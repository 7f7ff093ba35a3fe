"""A face over streamable HTTP, on this machine only: both protocol eras, no session, a token.

The token is made on the first start and stays: clients keep it in their own settings. It is read
from a private file, so it stands in no argument list and in no environment.
"""

import os
import re
import secrets
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

import uvicorn

from mkg.errors import ConfigError
from mkg.private import write_private
from mkg.server.connection import prepare
from mkg.server.door import PATH, Door, Limits
from mkg.server.memory import MemoryServer

HOST = "127.0.0.1"
PORT = 8004
TOKEN_FILE = "http.token"
GRACE_SECONDS = 3
_CONNECTIONS = 256
_BACKLOG = 64
_HEAD_BYTES = 32 * 1024
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43,128}")


def token(path: Path) -> str:
    """The token of this home, made on first use: 32 random bytes in a file of mode 0600.

    Raises:
        ConfigError: the file is a link, another user's, readable by others, or holds no token.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        made = secrets.token_urlsafe(32)
        write_private(path, made + "\n")
        return made
    except OSError as error:
        raise ConfigError(f"{path} cannot be read safely ({error.strerror}); remove it") from None
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as handle:
        info = os.fstat(handle.fileno())
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
            raise ConfigError(
                f"{path} must be a file of your own that nobody else may read; remove it for a new "
                "token, which your clients then need"
            )
        found = handle.read(1000).strip()
    if not _TOKEN.fullmatch(found):
        raise ConfigError(f"{path} holds no token; remove it for a new one")
    return found


def listen(port: int) -> socket.socket:
    """A socket on loopback that accepts connections; port 0 takes a free one.

    Raises:
        ConfigError: the port is taken or not allowed.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} on {HOST} cannot be used ({error.strerror}): another server may run "
            "there already; end it, or choose another with --port"
        ) from None
    return listener


def serve(
    server: MemoryServer,
    listener: socket.socket,
    secret: str,
    *,
    ready: Callable[[str], None],
    limits: Limits | None = None,
) -> None:
    """Answer until SIGTERM or SIGINT; what is being answered then gets `GRACE_SECONDS` more."""
    port = int(listener.getsockname()[1])
    limits = limits or Limits()
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.body_bytes,
        host=HOST,
    )
    config = uvicorn.Config(
        Door(app, port=port, token=secret, limits=limits),
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEAD_BYTES,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    # The HTTP server raises the signal again once it is down: that ends nothing but this function.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    threading.Thread(target=prepare, daemon=True, name="prepare").start()
    ready(f"http://{HOST}:{port}{PATH}")
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except _Stopped:
        return
    finally:
        server.close()


class _Stopped(BaseException):
    """A signal asked for the end."""


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    # A second signal while the first is obeyed must not be an exception in the middle of it.
    signal.signal(number, signal.SIG_IGN)
    raise _Stopped


def say(address: str, path: Path) -> None:
    """Tell a person where the server is and what a client needs."""
    sys.stdout.write(f"serving at {address} (Authorization: Bearer, token in {path})\n")
    sys.stdout.flush()
