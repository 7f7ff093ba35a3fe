"""Parameters of a query as a person writes them, and as a query tool reads them."""

import json
import math
from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, cast

from mkg.bundle.header import CypherType, Field, QuerySpec
from mkg.errors import Refused


def parameters(query: QuerySpec, given: Iterable[str]) -> dict[str, Any]:
    """The values of `name=value` words, by the types of the header.

    Raises:
        Refused: a word has no `=`, a name is unknown, stands twice or is missing, or a value is not
            of its type; every fault is named at once.
    """
    fields = {field.name: field for field in query.params}
    values: dict[str, Any] = {}
    faults: list[str] = []
    for word in given:
        name, sign, text = word.partition("=")
        if not sign:
            faults.append(f"{word!r} is not name=value")
        elif name not in fields:
            faults.append(f"there is no parameter {name!r}")
        elif name in values:
            faults.append(f"{name} is given twice")
        else:
            try:
                values[name] = _value(fields[name].type, text)
            except ValueError as error:
                values[name] = None
                faults.append(f"{name} is {fields[name].type}: {error}")
    for field in query.params:
        if field.name not in values and not field.type.nullable:
            faults.append(f"{field.name} is missing ({field.type})")
        values.setdefault(field.name, None)
    if faults:
        takes = ", ".join(f"{f.name} {f.type}" for f in query.params) or "no parameters"
        raise Refused(f"{query.name}: {'; '.join(faults)}. It takes {takes}")
    return {field.name: values[field.name] for field in query.params}


def _value(kind: CypherType, text: str) -> Any:
    if text == "null" and kind.nullable:
        return None
    if kind.name == "STRING":
        # A text in double quotes is JSON, so that the word null and a line break can be written.
        quoted = text.startswith('"') and text.endswith('"') and len(text) > 1
        return _checked(kind.name, _json(text)) if quoted else text
    if kind.name == "LIST":
        return _list(kind, _json(text))
    if kind.name in ("ZONED DATETIME", "DATE", "DURATION"):
        return _checked(kind.name, text)
    if kind.name == "ANY":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return _checked(kind.name, _json(text))


def _list(kind: CypherType, items: object) -> list[Any]:
    if not isinstance(items, list):
        raise ValueError(f"a JSON list is wanted, such as {_EXAMPLE.get(kind.inner or '', '[]')}")
    values: list[Any] = []
    for item in cast("list[object]", items):
        if item is None and not kind.inner_nullable:
            raise ValueError("null may not stand in it")
        values.append(item if item is None else _checked(kind.inner or "ANY", item))
    return values


_EXAMPLE = {"STRING": '["a", "b"]', "INTEGER": "[1, 2]", "FLOAT": "[0.5, 1]", "MAP": '[{"id": 1}]'}


def _checked(name: str, value: object) -> Any:
    """A JSON value as the value of a type."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name == "INTEGER" and whole and -(2**63) <= cast("int", value) < 2**63:
        return value
    if name == "FLOAT" and (whole or isinstance(value, float)):
        number = float(cast("float", value))
        if math.isfinite(number):
            return number
    plain: dict[str, type] = {"STRING": str, "BOOLEAN": bool, "MAP": dict, "ANY": object}
    if name in plain and isinstance(value, plain[name]):
        return value
    if name in ("ZONED DATETIME", "DATE", "DURATION") and isinstance(value, str):
        return _moment(name, value)
    raise ValueError(f"{json.dumps(value)[:60]} is none")


def _moment(name: str, text: str) -> Any:
    from mkg.db import duration

    if name == "DURATION":
        return duration(text)
    if name == "DATE":
        return date.fromisoformat(text)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the time zone is missing, as in 2026-01-31T12:00:00Z")
    return moment


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f"{text[:60]!r} cannot be read") from None


def pasted(query: QuerySpec, values: dict[str, Any]) -> str:
    """The query as a query tool takes it: its parameters, the selector, the body."""
    pairs = ", ".join(f"{field.name}: {literal(values[field.name])}" for field in query.params)
    lines = [f":param {{{pairs}}}"] if query.params else []
    return "\n".join([*lines, f"{query.text};"])


def literal(value: object) -> str:
    """A value in Cypher's own notation."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return f"datetime('{value.isoformat()}')"
    if isinstance(value, date):
        return f"date('{value.isoformat()}')"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(literal(item) for item in cast("list[object]", value)) + "]"
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{_key(k)}: {literal(v)}" for k, v in pairs) + "}"
    if isinstance(value, str):
        return _quoted(value)
    return f"duration('{value}')"


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    shown = (escapes.get(c) or (c if c.isprintable() else _escape(c)) for c in text)
    return "'" + "".join(shown) + "'"


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else char


def signature(query: QuerySpec) -> str:
    """What a query takes, in one line."""

    def shown(field: Field) -> str:
        return f"{field.name}=<{field.type}>"

    return " ".join(map(shown, query.params)) or "no parameters"
