"""Changing JSON (with comments, trailing commas, any layout) without touching what is not ours.

The text is parsed to positions; an edit cuts or inserts characters, and everything else stays as it
was, byte for byte. A file may be a person's: comments and trailing commas are kept.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_BEHIND = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/[ \t]*(?=\r?\n))")
_DEEPEST = 200


class Unreadable(ValueError):
    """The text is not JSON; the message tells line and column."""


@dataclass(slots=True)
class Node:
    """A value: its characters are `text[start:end]`."""

    start: int
    end: int
    value: Any
    items: "list[Item]" = field(default_factory=list["Item"])


@dataclass(slots=True)
class Item:
    """A member of an object (with a key) or of an array; `comma` is where the one behind it is."""

    key: str | None
    start: int
    node: Node
    comma: int | None = None


def parse(text: str) -> Node:
    """The whole text as one value with positions.

    Raises:
        Unreadable: it is not JSON, names a key twice, or is nested too deeply.
    """
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise _wrong(text, _skip(text, node.end), "something follows the end")
    return node


def _wrong(text: str, at: int, what: str) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    return Unreadable(f"line {line}, column {at - text.rfind(chr(10), 0, at)}: {what}")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _wrong(text, at, "nested too deeply")
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, depth)
    if text[at : at + 1] == '"':
        value, end = _string(text, at)
        return Node(at, end, value)
    found = _SCALAR.match(text, at)
    if found is None:
        raise _wrong(text, at, "a value is missing")
    return Node(at, found.end(), json.loads(found[0]))


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _wrong(text, at, "a text does not end")
    try:
        return json.loads(found[0]), found.end()
    except ValueError:
        raise _wrong(text, at, "a text has a bad escape") from None


def _container(text: str, at: int, depth: int) -> Node:
    is_object = text[at] == "{"
    close = "}" if is_object else "]"
    node = Node(at, at, {} if is_object else [])
    here = _skip(text, at + 1)
    while text[here : here + 1] != close:
        if node.items and node.items[-1].comma is None:
            raise _wrong(text, here, f"expected a comma or {close}")
        start, key = here, None
        if is_object:
            if text[here : here + 1] != '"':
                raise _wrong(text, here, "a key is missing")
            key, here = _string(text, here)
            here = _skip(text, here)
            if text[here : here + 1] != ":":
                raise _wrong(text, here, "a colon is missing")
            here = _skip(text, here + 1)
            if key in node.value:
                raise _wrong(text, start, f"the key {key!r} stands there twice")
        item = Item(key, start, _value(text, here, depth + 1))
        node.items.append(item)
        if key is None:
            node.value.append(item.node.value)
        else:
            node.value[key] = item.node.value
        here = _skip(text, item.node.end)
        if text[here : here + 1] == ",":
            item.comma = here
            here = _skip(text, here + 1)
    node.end = here + 1
    return node


def find(node: Node, path: tuple[str | int, ...]) -> Node | None:
    """The value at a path of keys and indexes."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(node.value, list) or step >= len(node.items):
                return None
            node = node.items[step].node
        else:
            found = next((i for i in node.items if i.key == step), None)
            if found is None:
                return None
            node = found.node
    return node


def put(text: str, path: tuple[str | int, ...], key: str | None, value: Any) -> str:
    """Append a member to the object (or, without a key, the array) at `path`."""
    node = find(parse(text), path)
    assert node is not None and isinstance(node.value, list if key is None else dict)
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    if not node.items:
        return _first(text, node, key, value, unit, newline)
    last = node.items[-1]
    inline = "\n" not in text[node.start : node.end]
    behind = last.node.end if last.comma is None else last.comma + 1
    comment = _BEHIND.match(text, behind)
    place = comment.end() if comment and not inline else behind
    if inline:
        member = " " + _render(key, value, None, "", newline)
    else:
        indent = _indent(text, last.start) or _indent(text, node.start) + unit
        member = newline + indent + _render(key, value, unit, indent, newline)
    if last.comma is None:
        return text[: last.node.end] + "," + text[last.node.end : place] + member + text[place:]
    return text[:place] + member + "," + text[place:]


def _first(text: str, node: Node, key: str | None, value: Any, unit: str, newline: str) -> str:
    outer = _indent(text, node.start)
    inside = text[node.start + 1 : node.end - 1]
    member = newline + outer + unit + _render(key, value, unit, outer + unit, newline)
    if inside.strip():
        # A comment stands alone in there: ours comes behind it, the bracket keeps its line.
        kept = inside.rstrip()
        tail = inside[len(kept) :] if "\n" in inside[len(kept) :] else newline + outer
        return text[: node.start + 1] + kept + member + tail + text[node.end - 1 :]
    return text[: node.start + 1] + member + newline + outer + text[node.end - 1 :]


def take(text: str, path: tuple[str | int, ...]) -> str:
    """Remove the member at `path`, with its comma and its line."""
    above = find(parse(text), path[:-1])
    assert above is not None
    at = next(
        n for n, i in enumerate(above.items) if path[-1] in ((n,) if i.key is None else (i.key,))
    )
    item = above.items[at]
    start, end = item.start, item.node.end
    line = text.rfind("\n", 0, start) + 1
    alone = line > above.start and not text[line:start].strip()
    if alone:
        start = line - (2 if text[line - 2 : line] == "\r\n" else 1)
    if item.comma is not None:
        end = item.comma + 1
        if not alone:
            end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    elif at:
        comma = above.items[at - 1].comma
        assert comma is not None
        if alone:
            text = text[:comma] + text[comma + 1 :]
            start, end = start - 1, end - 1
        else:
            start = comma
    rest = text[:start] + text[end:]
    if len(above.items) == 1:
        emptied = find(parse(rest), path[:-1])
        assert emptied is not None
        if not rest[emptied.start + 1 : emptied.end - 1].strip():
            rest = rest[: emptied.start + 1] + rest[emptied.end - 1 :]
    return rest


def _render(key: str | None, value: Any, unit: str | None, indent: str, newline: str) -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    text = text.replace("\n", newline + indent)
    return text if key is None else f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _indent(text: str, at: int) -> str:
    """The white space that the line of a position begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation, as the file has it."""
    found = re.search(r'^([ \t]+)["}\]]', text, re.MULTILINE)
    return found[1] if found else "  "
