"""What every client accepts in a tool list, as a pure function over it (clients.md 7.4)."""

import re
from collections.abc import Iterator
from typing import Any

NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
LONGEST_PREFIX = "mcp__plugin_mkg_encounter__"
COMPOSED = frozenset({"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "enum", "const"})
LONGEST_DESCRIPTION = 2048


def breaches(tools: list[dict[str, Any]]) -> Iterator[str]:
    """One line per breach; `tools` as they stand on the wire."""
    names = [tool["name"] for tool in tools]
    if len(set(names)) != len(names):
        yield "two tools carry one name"
    for tool in tools:
        name = tool["name"]
        if not NAME.fullmatch(name) or len(LONGEST_PREFIX + name) > 64:
            yield f"{name}: not a name that every client can carry"
        text = tool.get("description") or ""
        if not text or len(text.encode()) > LONGEST_DESCRIPTION:
            yield f"{name}: description missing or longer than clients show"
        for side in ("inputSchema", "outputSchema"):
            schema = tool.get(side)
            if not isinstance(schema, dict):
                yield f"{name}.{side}: missing"
                continue
            yield from _root(schema, f"{name}.{side}")
            yield from _inside(schema, f"{name}.{side}")


def _root(schema: dict[str, Any], where: str) -> Iterator[str]:
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
        yield f"{where}: the root is not an object with properties"
    for word in sorted(COMPOSED & set(schema)):
        yield f"{where}: {word} at the root"


def _inside(schema: dict[str, Any], where: str) -> Iterator[str]:
    for word in ("$ref", "$defs", "definitions", "$dynamicRef"):
        if word in schema:
            yield f"{where}: {word}"
    kind = schema.get("type")
    if isinstance(kind, list):
        yield f"{where}: a list of types"
    if kind == "array" and not isinstance(schema.get("items"), dict):
        yield f"{where}: an array without items"
    if "enum" in schema and not all(isinstance(each, str) for each in schema["enum"]):
        yield f"{where}: an enum of other things than strings"
    if kind == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{where}: an open object"
        if not set(schema.get("required", [])) <= set(schema.get("properties", {})):
            yield f"{where}: requires what it does not describe"
    for name, each in schema.get("properties", {}).items():
        at = f"{where}.{name}"
        if not PROPERTY.fullmatch(name):
            yield f"{at}: not a name that every client takes"
        if not each.get("description"):
            yield f"{at}: not described"
        yield from _inside(each, at)
    if isinstance(schema.get("items"), dict):
        yield from _inside(schema["items"], f"{where}[]")
    for option in schema.get("anyOf", []):
        yield from _inside(option, f"{where}|")
