"""Turns what the driver returns into plain data within bounds, and counts what was left out.

Vectors go by the name of their property and by their length: hundreds of numbers tell a reader
nothing and cost everything. Depth is bounded as well, since a query can build what no parser reads.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

MOST_ITEMS = 100
MOST_KEYS = 100
MOST_DEPTH = 12
LONGEST_NUMBERS = 64
_VECTOR_NAMES = ("embedding", "vector")


@dataclass(slots=True)
class Plain:
    """Makes plain data; the counters tell what is missing from it."""

    text: int
    """Characters of one string that are kept."""
    dropped: dict[str, int] = field(default_factory=dict[str, int])

    def value(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """One value as JSON can carry it; `name` is its column or property."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bytes | bytearray):
            return f"{len(value)} bytes"
        if isinstance(value, Vector):
            return self._without("vectors")
        if isinstance(value, Date | DateTime | Time | Duration):
            return value.iso_format()
        if isinstance(value, Point):
            return {"srid": value.srid, "coordinates": [self.value(float(x)) for x in value]}
        if depth >= MOST_DEPTH:
            return self._without("deep values")
        return self._composed(value, name, depth)

    def _composed(self, value: Any, name: str, depth: int) -> Any:
        if isinstance(value, Node):
            return {
                "id": value.element_id,
                "labels": sorted(value.labels),
                "properties": self._map(dict(value.items()), depth),
            }
        if isinstance(value, Relationship):
            return {
                "id": value.element_id,
                "type": value.type,
                "from": value.start_node.element_id if value.start_node else None,
                "to": value.end_node.element_id if value.end_node else None,
                "properties": self._map(dict(value.items()), depth),
            }
        if isinstance(value, Path):
            return {
                "nodes": self._list(value.nodes, depth),
                "relationships": self._list(value.relationships, depth),
            }
        if isinstance(value, Mapping):
            return self._map(cast("Mapping[str, Any]", value), depth)
        if isinstance(value, list | tuple):
            items = cast("list[Any]", value)
            if _is_vector(items, name):
                return self._without("vectors")
            return self._list(items, depth)
        return self._without("values of an unknown type")

    def _list(self, items: Iterable[Any], depth: int) -> list[Any]:
        kept: list[Any] = []
        for item in items:
            if len(kept) == MOST_ITEMS:
                self._without("ends of lists")
                break
            kept.append(self.value(item, depth=depth + 1))
        return kept

    def _map(self, pairs: Mapping[str, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in pairs.items():
            if len(kept) == MOST_KEYS:
                self._without("ends of maps")
                break
            if isinstance(value, Vector) or (
                isinstance(value, list) and _is_vector(cast("list[Any]", value), key)
            ):
                self._without("vectors")
                continue
            kept[self._text(key)] = self.value(value, key, depth + 1)
        return kept

    def _text(self, text: str) -> str:
        if len(text) <= self.text:
            return text
        self._without("ends of texts")
        return text[: self.text]

    def _without(self, what: str) -> None:
        self.dropped[what] = self.dropped.get(what, 0) + 1


def _is_vector(items: list[Any], name: str) -> bool:
    numbers = all(isinstance(x, float) for x in items[: LONGEST_NUMBERS + 1])
    if not items or not numbers:
        return False
    return len(items) > LONGEST_NUMBERS or name.casefold().endswith(_VECTOR_NAMES)
