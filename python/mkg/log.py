"""JSON-lines logging of shape, never of content.

Source: style 4.8. A value is a number, a flag, an id or a reason written by us; prompts, node texts
and parameters have no way in: a string is cut to 200 characters and goes through the redactor.
"""

import json
import logging
import logging.handlers
import os
import time
from pathlib import Path

_ROOT = "mkg"
_MAX_VALUE = 200
Value = str | int | float | bool | None


class ShapeLogger:
    """Logs an event name with its shape."""

    def __init__(self, name: str):
        self._logger = logging.getLogger(name)
        self._degraded: set[tuple[str, str]] = set()

    def debug(self, event: str, **shape: Value) -> None:
        self._emit(logging.DEBUG, event, shape)

    def info(self, event: str, **shape: Value) -> None:
        self._emit(logging.INFO, event, shape)

    def error(self, event: str, **shape: Value) -> None:
        self._emit(logging.ERROR, event, shape)

    def degraded(self, event: str, reason: str, **shape: Value) -> None:
        """Warn about a fallback, once per event and reason in one process."""
        if (event, reason) in self._degraded:
            return
        self._degraded.add((event, reason))
        self._emit(logging.WARNING, event, {"reason": reason, **shape})

    def _emit(self, level: int, event: str, shape: dict[str, Value]) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, extra={"shape": shape})


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from mkg_hooks.redact import redact

        shape = getattr(record, "shape", {})
        line: dict[str, Value] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage()[:_MAX_VALUE],
        }
        for key, value in shape.items():
            plain = not isinstance(value, str) or _is_name(value)
            line[key] = value if plain else redact(value[:_MAX_VALUE])[0]
        return json.dumps(line, ensure_ascii=True)


def _is_name(value: str) -> bool:
    """Say whether a text is one short word of letters, as events and errors are called."""
    # Looking for secrets in it costs more than the rest of a line, while a client waits.
    return len(value) <= 24 and value.isascii() and value.isalpha()


def get(name: str) -> ShapeLogger:
    """The logger of a module; `name` is its `__name__`."""
    return ShapeLogger(name if name.startswith(_ROOT) else f"{_ROOT}.{name}")


def to_file(folder: Path, *, level: str = "info") -> None:
    """Send the product's log lines to `folder`/mkg.log (0600, rotated at 2 MB, three kept)."""
    logger = logging.getLogger(_ROOT)
    target = str(folder / "mkg.log")
    if any(getattr(handler, "baseFilename", None) == target for handler in logger.handlers):
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handler = _PrivateRotating(target, maxBytes=2_000_000, backupCount=3, encoding="utf-8")
    handler.setFormatter(_JsonLines())
    logger.addHandler(handler)
    logger.setLevel(level.upper())
    logger.propagate = False


class _PrivateRotating(logging.handlers.RotatingFileHandler):
    def _open(self):
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return open(descriptor, "a", encoding="utf-8")  # noqa: PTH123 (a descriptor, not a path)
