"""The cases of the read gate: the given rows, our own, and the honest queries."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

GIVEN = Path(__file__).parents[1] / "cases" / "cypher_gate.jsonl"
OWN = Path(__file__).with_name("own.jsonl")
HONEST = Path(__file__).with_name("honest.cypher")
HONEST_PARAMETERS = {"label": "Learning", "id": "x", "key": "text"}


@lru_cache(maxsize=1)
def rows() -> list[dict[str, Any]]:
    """Every row, the given ones first; each with `id`, `query`, `parameters`, `expected`."""
    lines = GIVEN.read_text(encoding="utf-8").splitlines()
    lines += OWN.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def honest() -> list[str]:
    """Queries that an analyst would write over the shipped model, one a line."""
    return HONEST.read_text(encoding="utf-8").splitlines()
