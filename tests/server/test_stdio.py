"""The real process over real pipes: nothing but JSON-RPC on stdout, and a quick end."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from mkg.server.memory import TOOLS
from tests.conftest import Server
from tests.server.asking import ERAS
from tests.support.requirement import requirement

COMMAND = [sys.executable, "-m", "mkg", "serve", "--face", "memory", "--from-client"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.332"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"},
}


class Talk:
    """A process and the lines it writes."""

    def __init__(self, home: Path, **env: str):
        self.process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env={**os.environ, "CLAUDE_PROJECT_DIR": str(home), **env},
        )
        self.lines: list[bytes] = []

    def write(self, method: str, params: dict[str, Any], id: int) -> None:
        """Send a request without waiting."""
        assert self.process.stdin
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any], id: int) -> Any:
        """Send a request and wait for its answer."""
        assert self.process.stdout
        self.write(method, params, id)
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read() if self.process.stderr else b""
            self.lines.append(line)
            answer = json.loads(line)
            if answer.get("id") == id:
                return answer

    def end(self) -> float:
        """Close stdin; the seconds until the process is gone."""
        assert self.process.stdin and self.process.stdout
        began = time.monotonic()
        self.process.stdin.close()
        self.process.wait(timeout=5)
        took = time.monotonic() - began
        self.lines += self.process.stdout.readlines()
        return took


@pytest.fixture
def talk(tmp_path: Path, own_home: Path) -> Iterator[Any]:
    begun: list[Talk] = []

    def begin(**env: str) -> Talk:
        begun.append(Talk(own_home, **env))
        return begun[-1]

    yield begin
    for each in begun:
        each.process.kill()
        each.process.wait(timeout=5)
        for pipe in (each.process.stdin, each.process.stdout, each.process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()


def point_at(home: Path, uri: str) -> None:
    folder = home / ".config" / "meta-knowledge-graph"
    folder.mkdir(parents=True, mode=0o700)
    path = folder / ".env"
    path.touch(mode=0o600)
    path.write_text(f"NEO4J_URI={uri}\nNEO4J_PASSWORD=not-a-default-1\n", encoding="utf-8")


NOISE = """\
import builtins, os, sys
real = builtins.__import__
def noisy(name, *rest, **more):
    if name.startswith('mkg.features') and 'mkg.server' in sys.modules:
        print('a library prints')
        os.write(1, b'a native library prints\\n')
    return real(name, *rest, **more)
builtins.__import__ = noisy
"""


@requirement("B21", "SEC-55", "CL-44", "CL-30")
def test_with_the_database_down_every_line_is_json_rpc(talk, own_home, tmp_path):
    point_at(own_home, "bolt://127.0.0.1:1")
    (tmp_path / "sitecustomize.py").write_text(NOISE, encoding="utf-8")
    spoken = talk(MKG_LOG_LEVEL="info", PYTHONWARNINGS="always", PYTHONPATH=str(tmp_path))
    found = spoken.send("server/discover", {"_meta": MODERN}, id=1)
    told = found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert told["name"] == "meta-knowledge-graph"
    # A client whose server starts slowly sends the old greeting too, and goes on in the new era.
    assert "error" in spoken.send("initialize", HELLO, id=2)
    listed = spoken.send("tools/list", {"_meta": MODERN}, id=3)
    assert len(listed["result"]["tools"]) == len(TOOLS)
    for number, arguments in enumerate(({}, None, "missing"), start=10):
        params: dict[str, Any] = {"name": "neo4j_get_schema", "_meta": MODERN}
        if arguments != "missing":
            params["arguments"] = arguments
        result = spoken.send("tools/call", params, id=number)["result"]
        assert result["isError"] is True
        assert result["structuredContent"]["error"] == "memory is unreachable: run `mkg db up`"
    spoken.send("no/such/method", {}, id=20)
    assert spoken.process.stdin
    spoken.process.stdin.write(b"this is no JSON\n[1,2\n\n")
    spoken.process.stdin.flush()
    spoken.send("tools/list", {"_meta": MODERN}, id=21)
    assert spoken.end() < 2
    assert [line for line in spoken.lines if json.loads(line)["jsonrpc"] != "2.0"] == []
    assert spoken.process.returncode == 0
    # What libraries print is not lost, it is only not the client's.
    assert spoken.process.stderr
    assert b"a native library prints" in spoken.process.stderr.read()


def test_the_end_of_stdin_ends_the_process_though_a_call_still_waits(talk, own_home):
    with socket.socket() as silent:
        # Accepts connections and never says a word: a call into this store hangs.
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        point_at(own_home, f"bolt://127.0.0.1:{silent.getsockname()[1]}")
        spoken = talk()
        spoken.send("tools/list", {"_meta": MODERN}, id=1)
        spoken.write("tools/call", {"name": "neo4j_get_schema", "_meta": MODERN}, id=2)
        silent.settimeout(30)
        link, _ = silent.accept()
        with link:
            assert spoken.end() < 2


def test_a_signal_ends_it(talk):
    both = {number: talk() for number in (signal.SIGTERM, signal.SIGINT)}
    for number, spoken in both.items():
        spoken.send("tools/list", {"_meta": MODERN}, id=1)
        spoken.process.send_signal(number)
        spoken.process.wait(timeout=5)
        assert spoken.process.returncode == -number


def test_a_face_or_transport_that_is_not_there_is_named(own_home):
    for option, value in (("--face", "kitchen"), ("--transport", "pigeon")):
        done = subprocess.run(
            [sys.executable, "-m", "mkg", "serve", option, value],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
        assert done.returncode == 2
        assert value in done.stderr and "known are" in done.stderr and done.stdout == ""


@requirement("ENC-W123")
def test_the_settings_are_shown_at_start_and_wrong_ones_named_there_and_in_answers(talk, own_home):
    spoken = talk(EMBEDDING_MODEL="none")
    spoken.send("initialize", HELLO, id=1)
    assert spoken.end() < 2 and spoken.process.stderr
    first = spoken.process.stderr.read().decode().splitlines()[0]
    assert "serves memory over stdio" in first and "embeddings none" in first
    spoken = talk(MKG_RECALL_LIMIT="many", NEO4J_PASSWORD="hunter2hunter2")
    spoken.send("initialize", HELLO, id=1)
    spoken.end()
    assert spoken.process.stderr
    said = spoken.process.stderr.read().decode()
    assert "the settings cannot be used" in said and "MKG_RECALL_LIMIT" in said
    assert "hunter2" not in said


@requirement("CL-31")
@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_either_era_is_served_from_a_real_store(server: Server, own_home, era):
    server.write_user_file(own_home)

    async def go() -> tuple[int, Any]:
        parameters = StdioServerParameters(
            command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ), cwd=own_home
        )
        async with Client(parameters, mode=era) as client:
            tools = (await client.list_tools()).tools
            return len(tools), await client.call_tool("neo4j_get_schema", {})

    count, result = anyio.run(go)
    assert (count, result.is_error) == (len(TOOLS), False)
    assert {row["label"] for row in result.structured_content["labels"]} > {"Learning", "Episode"}
