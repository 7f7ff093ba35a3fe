"""The yardsticks' own statements: `.cypher` files beside this one, sent as they stand."""

from pathlib import Path
from typing import Any

from mkg.db import Neo4jRunner

_HERE = Path(__file__).parent


def text(name: str) -> str:
    """A statement with the language in front."""
    return "CYPHER 25\n" + (_HERE / f"{name}.cypher").read_text(encoding="utf-8")


def run(
    runner: Neo4jRunner, name: str, *, mode: str = "write", **params: Any
) -> list[dict[str, Any]]:
    """Run one of them."""
    return runner.execute(text(name), params, mode=mode, name=f"bench.{name}").rows
