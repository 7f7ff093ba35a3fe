"""`launch.py mcp FACE`: the real server, or a small one that says what is missing."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from mkg_hooks import launcher, not_ready
from tests.hooks.launching import LAUNCH, Home, make_home

MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
LINE = launcher.LINES["missing"]


def talk(*messages: Any) -> list[dict[str, Any]]:
    lines = [m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages]
    sink = io.BytesIO()
    not_ready.serve("memory", LINE, io.BytesIO(b"\n".join(lines) + b"\n"), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def request(method: str, ident: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def test_the_newer_era_is_answered_without_a_handshake():
    found, listed, called = talk(
        request("server/discover", "probe-1", **MODERN),
        request("tools/list", 2, **MODERN),
        request("tools/call", 3, name="mkg_not_ready", arguments={}, **MODERN),
    )
    assert found["id"] == "probe-1" and found["result"]["supportedVersions"] == ["2026-07-28"]
    assert found["result"]["instructions"] == LINE
    for answer in (found, listed):
        assert (answer["result"]["resultType"], answer["result"]["ttlMs"]) == ("complete", 0)
        assert (
            answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"]
            == "meta-knowledge-graph"
        )
    (tool,) = listed["result"]["tools"]
    assert tool["name"] == "mkg_not_ready" and LINE in tool["description"]
    assert tool["inputSchema"] == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert called["result"]["isError"] and called["result"]["content"] == [
        {"type": "text", "text": LINE}
    ]


@pytest.mark.parametrize(
    ("asked", "given"),
    [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1999-01-01", "2025-11-25")],
)
def test_the_older_era_is_answered_after_a_handshake(asked, given):
    hello, listed, called = talk(
        request(
            "initialize",
            0,
            protocolVersion=asked,
            capabilities={},
            clientInfo={"name": "c", "version": "1"},
        ),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("tools/list"),
        request("tools/call", 2, name="mkg_not_ready"),
    )
    assert hello["result"]["protocolVersion"] == given
    assert listed["result"].keys() == {"tools"} and called["result"].keys() == {
        "content",
        "isError",
    }


def test_bad_lines_are_answered_and_end_nothing():
    answers = talk(
        b"not json",
        b"[" * 100_000,
        b"[]",
        b"",
        request("nope", 4),
        request("tools/call", 5, name="other"),
        request("tools/list", 6, x=["y"]),
        {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": None},
    )
    assert [(a["id"], a.get("error", {}).get("code")) for a in answers] == [
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (4, -32601),
        (5, -32602),
        (6, None),
        (7, None),
    ]


def test_a_subscription_is_acknowledged_and_left_open():
    (answer,) = talk(
        request("subscriptions/listen", 9, notifications={"toolsListChanged": True}, **MODERN)
    )
    assert answer["method"] == "notifications/subscriptions/acknowledged" and "id" not in answer


def test_a_real_client_of_either_era_finds_the_one_tool_and_the_process_ends_with_its_stdin(
    tmp_path: Path,
):
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-I", "-S", str(LAUNCH), "mcp", "encounter"]

    async def ask(mode: str) -> tuple[list[str], str]:
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=env)
        async with Client(parameters, mode=mode) as client:
            tools = await client.list_tools()
            answer = await client.call_tool("mkg_not_ready", {})
            return [tool.name for tool in tools.tools], answer.content[0].text

    for mode in ("auto", "legacy"):
        assert anyio.run(ask, mode) == (["mkg_not_ready"], LINE)
    done = subprocess.run(command, input=b"", capture_output=True, env=env, timeout=2, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.fixture
def installed(tmp_path: Path) -> Home:
    """A home whose interpreter prints how it was called."""
    home = make_home(tmp_path / "home")
    (home.folder / "python").write_text('#!/bin/sh\necho "$@"\nenv\n')
    return home


def test_with_a_pointer_the_process_becomes_the_real_server_without_the_projects_variables(
    installed: Home,
):
    env = installed.environment(
        PYTHONPATH=".", LD_PRELOAD="", NEO4J_URI="bolt://elsewhere", CLAUDE_PROJECT_DIR="/w"
    )
    done = installed.launch("mcp", "memory", env=env)
    first, *variables = done.stdout.decode().splitlines()
    assert first == "-P -m mkg serve --face memory --from-client"
    assert not [line for line in variables if line.startswith(("PYTHON", "LD_"))]
    assert f"MKG_HOME={installed.folder}" in variables and "CLAUDE_PROJECT_DIR=/w" in variables


@pytest.mark.parametrize("gone", ["interpreter", "root", "pointer", "trust"])
def test_without_what_the_pointer_names_the_small_server_answers(installed: Home, gone):
    from tests.hooks.launching import write_pointer

    if gone == "interpreter":
        (installed.folder / "python").unlink()
    elif gone == "root":
        write_pointer(installed.folder, root=str(installed.folder / "uninstalled"))
    elif gone == "pointer":
        (installed.folder / "pointer").unlink()
    else:
        (installed.folder / "pointer").chmod(0o666)
    done = installed.launch("mcp", "memory", stdin=json.dumps(request("tools/list")).encode())
    (answer,) = [json.loads(line) for line in done.stdout.splitlines()]
    line = launcher.LINES["refused" if gone == "trust" else "missing"]
    assert line in answer["result"]["tools"][0]["description"]
