"""Lays rows out as lines of JSON and stops at the caps (SEC-45, SEC-47).

Every line is redacted and escaped before it is measured: what is counted is what is sent.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from mkg.db.values import Plain
from mkg.features.tool import sealed

MOST_ROWS = 200
MOST_BYTES = 256 * 1024
MOST_CELL = 16 * 1024
# A credential that a cut would halve is found whole in what stands beyond the cut.
_BEYOND = 4096


@dataclass(slots=True)
class Taken:
    """Rows as text, why the rest is missing, and what the rows themselves lack."""

    columns: list[str]
    rows: list[str] = field(default_factory=list[str])
    truncated: str = ""
    dropped: dict[str, int] = field(default_factory=dict[str, int])


def take(columns: list[str], rows: Iterable[tuple[Any, ...]]) -> Taken:
    """The first rows, each as the text of a JSON object; stops pulling at the first cap."""
    plain = Plain(MOST_CELL + _BEYOND)
    taken = Taken([_line(name[:200]) for name in columns], dropped=plain.dropped)
    size = sum(len(name.encode()) for name in taken.columns)
    for values in rows:
        if len(taken.rows) == MOST_ROWS:
            taken.truncated = f"more than {MOST_ROWS} rows; add LIMIT or aggregate"
            break
        line = _row(columns, values, plain)
        size += len(line.encode()) + 1
        if size > MOST_BYTES:
            taken.truncated = f"more than {MOST_BYTES} bytes; return fewer properties or rows"
            break
        taken.rows.append(line)
    return taken


def _row(columns: list[str], values: tuple[Any, ...], plain: Plain) -> str:
    row = {name[:200]: plain.value(v, name) for name, v in zip(columns, values, strict=True)}
    text = _json(row)
    if len(text) > MOST_CELL or _size(text) > MOST_CELL:
        row = {name: _cell(value, plain) for name, value in row.items()}
        text = _json(row)
    line = _line(text)
    try:
        json.loads(line)
    except ValueError:
        # A mask that ate a quotation mark: nobody could read the line, and it may hide half a key.
        plain.dropped["rows that could not be masked"] = (
            plain.dropped.get("rows that could not be masked", 0) + 1
        )
        return "{}"
    return line


def _cell(value: Any, plain: Plain) -> Any:
    """One value, or the beginning of its text when it is larger than a cell may be."""
    if isinstance(value, str):
        masked = _line(value)
        if _size(masked) <= MOST_CELL:
            return value
    else:
        masked = _line(_json(value))
        if _size(masked) <= MOST_CELL:
            return value
    plain.dropped["ends of cells"] = plain.dropped.get("ends of cells", 0) + 1
    # Escapes make a text longer, never more than six times.
    kept = masked.encode()[: MOST_CELL - 200].decode("utf-8", "ignore")
    return f"{kept}... [cut: {len(masked)} characters]"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _line(text: str) -> str:
    return str(sealed(text))
