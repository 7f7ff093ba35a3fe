"""Asks a server in memory, in either protocol era, and builds servers over fakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, types

from mkg.errors import ModelUnavailable
from mkg.features.tool import Call, Tool
from mkg.server.connection import Connection
from mkg.server.memory import TOOLS, MemoryServer
from mkg.settings import Settings
from tests.support.fake_runner import Answer, FakeRunner

ERAS = ("auto", "legacy")
MIGRATED: Answer = [
    {
        "id": "V9999__later",
        "seq": 9,
        "checksum": "x",
        "state": "APPLIED",
        "kind": "schema",
        "applied_at": None,
        "applied_by": None,
        "tool": None,
        "duration_ms": None,
        "message": None,
    }
]


class FakeStore(FakeRunner):
    """A fake runner with transactions; every answer is empty unless one is given."""

    def __init__(self, answers: dict[str, Answer] | None = None):
        super().__init__({"ops.migration_list": MIGRATED, "ops.schema": [], **(answers or {})})
        self.closed = False

    def fetch(self, query: Any, params: Any) -> list[dict[str, Any]]:
        self.answers.setdefault(query.name, [])
        return super().fetch(query, params)

    def in_one(self, work: Callable[[Any], Any], *, name: str) -> Any:
        return work(self)

    def close(self) -> None:
        self.closed = True


class Lent:
    """A runner that belongs to somebody else."""

    def __init__(self, run: Any):
        self.fetch, self.in_one = run.fetch, run.in_one

    def close(self) -> None:
        """The owner closes it."""


class NoEmbedder:
    """A worker that is not there."""

    model, dimension = "minilm-l6-int8", 384

    def embed(self, texts: Any) -> list[list[float]]:
        raise ModelUnavailable("no worker")


class OneEmbedder:
    """Every text has the same direction."""

    model, dimension = "minilm-l6-int8", 384

    def embed(self, texts: Any) -> list[list[float]]:
        return [[1.0] + [0.0] * 383 for _ in texts]


def settings(home: Path, **values: object) -> Settings:
    """Settings of an empty home."""
    return Settings.model_validate(
        {"home": home, "cache": home, "config_dir": home, "runtime_dir": home / "run", **values}
    )


def server(
    home: Path,
    connect: Callable[[Settings], Any],
    *tools: Tool,
    call_seconds: float = 20.0,
    own: Settings | None = None,
) -> MemoryServer:
    """A server whose store is what `connect` gives."""
    found = own or settings(home)
    connection = Connection("client", connect=connect, settings=lambda who, folder: found)
    return MemoryServer(connection, tools or TOOLS, call_seconds=call_seconds)


def ask(
    served: MemoryServer,
    tool: str,
    arguments: dict[str, Any] | None = None,
    *,
    meta: dict[str, Any] | None = None,
    era: str = "auto",
    client: str = "test",
) -> types.CallToolResult:
    """One call; both faces of the answer must be the same object."""

    async def go() -> types.CallToolResult:
        info = types.Implementation(name=client, version="1")
        async with Client(served, raise_exceptions=True, mode=era, client_info=info) as asking:
            return await asking.call_tool(tool, arguments, meta=meta)

    result = anyio.run(go)
    (block,) = result.content
    assert json.loads(block.text) == result.structured_content
    return result


def good(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The answer of a call that succeeds."""
    result = ask(*args, **kwargs)
    assert not result.is_error, result.structured_content
    return result.structured_content


def bad(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """The error of a call that fails."""
    result = ask(*args, **kwargs)
    assert result.is_error, result.structured_content
    assert result.structured_content["status"] == "error"
    return result.structured_content


def wire_tools(served: MemoryServer, era: str = "auto") -> list[dict[str, Any]]:
    """The tool list as it stands on the wire."""

    async def go() -> list[types.Tool]:
        async with Client(served, mode=era) as client:
            return (await client.list_tools()).tools

    return [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in anyio.run(go)
    ]


def call(run: Any, home: Path, **values: Any) -> Call:
    """A call outside any protocol, in no project unless told."""
    given: dict[str, Any] = {"embed": None, "user_id": "ada", "here": lambda: None, **values}
    return Call(run=run, **given)
