"""Bounds of a query's parameters: plain JSON, small and shallow (SEC-42)."""

import json
import math
from typing import Any, cast

MOST_BYTES = 64 * 1024
MOST_DEPTH = 8
_INTEGERS = range(-(2**63), 2**63)


def from_text(value: Any) -> Any:
    """The object that a tool's `params` stands for; what is no JSON comes back unchanged."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    if len(value) > 2 * MOST_BYTES:
        return value
    try:
        return json.loads(value, parse_constant=_constant)
    except (ValueError, RecursionError):
        return value


def objection(params: Any) -> str:
    """Why these parameters are refused; empty when they are not."""
    if not isinstance(params, dict):
        return "parameters must be one JSON object"
    found = _inside(cast("dict[Any, Any]", params), 1)
    if found:
        return found
    if len(canonical(cast("dict[str, Any]", params)).encode("utf-8", "surrogatepass")) > MOST_BYTES:
        return f"parameters are larger than {MOST_BYTES} bytes"
    return ""


def canonical(params: dict[str, Any]) -> str:
    """One text for equal parameters; 1, 1.0 and true differ."""
    return json.dumps(params, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _inside(value: Any, depth: int) -> str:
    """`depth` counts the objects and lists down to this value, itself included."""
    if isinstance(value, dict | list) and depth > MOST_DEPTH:
        return f"parameters are nested deeper than {MOST_DEPTH}"
    if isinstance(value, dict):
        for key, item in cast("dict[Any, Any]", value).items():
            found = _text(key) if isinstance(key, str) else "a parameter has a name that is no text"
            found = found or _inside(item, depth + 1)
            if found:
                return found
        return ""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return next((found for item in items if (found := _inside(item, depth + 1))), "")
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return "" if value in _INTEGERS else "a parameter is an integer of more than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "a parameter is not a finite number"
    if isinstance(value, str):
        return _text(value)
    return "parameters may only hold what JSON can hold"


def _text(text: str) -> str:
    return "a parameter is not valid Unicode" if any(_lone(c) for c in text) else ""


def _lone(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _constant(name: str) -> Any:
    raise ValueError(name)
