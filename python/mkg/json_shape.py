"""What came out of a JSON text, narrowed to a shape that the code can rely on."""

from collections.abc import Iterator
from typing import Any, cast


def as_object(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def texts_in(value: object) -> Iterator[str]:
    """Every text inside a JSON value, keys left out."""
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            waiting.extend(cast("list[object]", one))
        elif isinstance(one, dict):
            waiting.extend(cast("dict[str, object]", one).values())
