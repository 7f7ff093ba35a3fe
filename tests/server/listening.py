"""A real `mkg serve --http` process, plain requests to it, and the real client of either era."""

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"},
    },
}


@dataclass(frozen=True, slots=True)
class Listening:
    """A server process that listens."""

    process: subprocess.Popen[str]
    port: int
    token: str

    def headers(self, **changed: str | None) -> dict[str, str]:
        """Those of a good request, with changes; None leaves one out."""
        good = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **{name.replace("_", "-"): value for name, value in changed.items()},
        }
        return {name: value for name, value in good.items() if value is not None}

    def request(
        self,
        headers: dict[str, str],
        body: Any = HELLO,
        *,
        method: str = "POST",
        path: str = "/mcp/",
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one request."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                link.putheader(name, value)
            link.endheaders(data)
            answer = link.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            link.close()

    @asynccontextmanager
    async def client(self, era: str, token: str | None = None) -> AsyncIterator[Client]:
        """The protocol's own client, connected."""
        bearer = {"Authorization": f"Bearer {token or self.token}"}
        address = f"http://127.0.0.1:{self.port}/mcp/"
        async with create_mcp_http_client(headers=bearer) as link:
            transport = streamable_http_client(address, http_client=link)
            async with Client(transport, mode=era) as client:
                yield client


@contextmanager
def listening(cwd: Path, env: dict[str, str]) -> Iterator[Listening]:
    """Start one on a free port and end it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mkg", "serve", "--http", "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, **env},
    )
    assert process.stdout and process.stderr
    try:
        line = process.stdout.readline()
        told = re.fullmatch(r"serving at http://127\.0\.0\.1:(\d+)/mcp/ .*token in (.+)\)\n", line)
        assert told, line + process.stderr.read()
        yield Listening(process, int(told[1]), Path(told[2]).read_text(encoding="utf-8").strip())
    finally:
        process.kill()
        process.wait(timeout=5)
        process.stdout.close()
        process.stderr.close()
