"""Who may speak to a listener: checks of a request before any of it reaches the protocol (SEC-50).

In this order: Host (a rebinding page names its own), Origin (a page of another site), token (other
users of this machine reach loopback too), path, method, content type, how many at once, and then
only the body, up to a size and within a time. No header of a proxy counts, and no answer permits
another origin to read it.
"""

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import anyio

from mkg import log

PATH = "/mcp/"
BODY_BYTES = 1024 * 1024
BODY_SECONDS = 10.0
AT_ONCE = 32
_log = log.get(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes and seconds of one body, and requests that are answered at the same time."""

    body_bytes: int = BODY_BYTES
    body_seconds: float = BODY_SECONDS
    at_once: int = AT_ONCE


@dataclass(frozen=True, slots=True)
class Turned:
    """A request that is turned away: status, reason for the log, text for the client."""

    status: int
    reason: str
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Door:
    """Lets requests through to `app` that come from this machine's own clients."""

    def __init__(self, app: App, *, port: int, token: str, limits: Limits | None = None):
        self._app = app
        self._token = token.encode("ascii")
        self._hosts = frozenset(f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost"))
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._limits = limits or Limits()
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and end of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        turned = self.judge(scope)
        if turned is None and self._running >= self._limits.at_once:
            retry = ((b"retry-after", b"1"),)
            turned = Turned(503, "too many", "too many requests at once: try again", retry)
        if turned is not None:
            await _turn_away(turned, send)
            return
        self._running += 1
        try:
            await self._let_in(scope, receive, send)
        finally:
            self._running -= 1

    def judge(self, scope: Scope) -> Turned | None:
        """Why the head of a request is turned away, or None."""
        found: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.lower(), []).append(value)
        hosts = found.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Turned(421, "host", "this server answers to its own address only")
        if not self._origins.issuperset(found.get(b"origin", [])):
            return Turned(403, "origin", "a page of another origin may not ask this server")
        if not self._token_fits(found.get(b"authorization", [])):
            asks = ((b"www-authenticate", b"Bearer"),)
            return Turned(401, "token", "send the header Authorization: Bearer TOKEN", asks)
        if scope["path"] not in (PATH, PATH.rstrip("/")):
            return Turned(404, "path", f"there is nothing here; the server is at {PATH}")
        if scope["method"] != "POST":
            # No stream outlives its request: there is nothing to GET and no session to DELETE.
            return Turned(405, "method", "messages come by POST", ((b"allow", b"POST"),))
        kinds = [kind.split(b";")[0].strip().lower() for kind in found.get(b"content-type", [])]
        if kinds != [b"application/json"]:
            return Turned(415, "content type", "send application/json")
        lengths = found.get(b"content-length", [])
        if any(not n.isdigit() or int(n[:20]) > self._limits.body_bytes for n in lengths):
            return self._too_big()
        return None

    def _token_fits(self, given: list[bytes]) -> bool:
        scheme, _, shown = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        fits = hmac.compare_digest(shown.strip(), self._token)
        return fits and scheme.lower() == b"bearer"

    def _too_big(self) -> Turned:
        return Turned(413, "size", f"a message has at most {self._limits.body_bytes} bytes")

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()
        with anyio.move_on_after(self._limits.body_seconds) as waiting:
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return
                body += message.get("body", b"")
                if len(body) > self._limits.body_bytes:
                    await _turn_away(self._too_big(), send)
                    return
                more = bool(message.get("more_body"))
        if waiting.cancelled_caught:
            await _turn_away(Turned(408, "slow", "the message took too long to come"), send)
            return
        given = False

        async def again() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self._app({**scope, "path": PATH, "raw_path": PATH.encode()}, again, send)


async def _turn_away(turned: Turned, send: Send) -> None:
    _log.info("serve.turned_away", reason=turned.reason, status=turned.status)
    body = json.dumps({"error": turned.text}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *turned.headers,
    ]
    await send({"type": "http.response.start", "status": turned.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
