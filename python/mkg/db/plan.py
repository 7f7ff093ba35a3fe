"""What a plan holds."""

from collections.abc import Iterator
from typing import Any

from mkg.json_shape import as_object


def operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and details of each operator; without recursion, because a plan may be deep."""
    waiting = [plan] if plan else []
    while waiting:
        node = waiting.pop()
        details = str(as_object(node.get("args")).get("Details", ""))
        yield str(node.get("operatorType", "")).split("@")[0], details
        waiting.extend(node.get("children", []))
