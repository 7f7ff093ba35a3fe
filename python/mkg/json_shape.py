"""What came out of a JSON text, narrowed to a shape that the code can rely on."""

from typing import Any, cast


def as_object(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_array(value: object) -> list[Any]:
    """The value if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []
