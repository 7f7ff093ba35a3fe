"""Parameter values made from declared types, as EXPLAIN needs them."""

from datetime import UTC, date, datetime
from typing import Any

from mkg.bundle.header import CypherType, QuerySpec

VECTOR = 384
"""Length of the shipped embedder's vectors: a vector index compares nothing of another length."""


def sample(query: QuerySpec) -> dict[str, Any]:
    """One value for each parameter; nothing that is declared nullable is null."""
    return {parameter.name: _value(parameter.type) for parameter in query.params}


def _value(kind: CypherType) -> Any:
    plain: dict[str, Any] = {
        "STRING": "x",
        "INTEGER": 1,
        "FLOAT": 0.5,
        "BOOLEAN": True,
        "ZONED DATETIME": datetime(2026, 1, 1, tzinfo=UTC),
        "DATE": date(2026, 1, 1),
        "DURATION": "P1D",
        "MAP": {},
        "ANY": "x",
    }
    if kind.name == "LIST":
        return [0.1] * VECTOR if kind.inner == "FLOAT" else [plain[kind.inner or "ANY"]]
    return plain[kind.name]
