"""Answers one call: checks the question, runs the tool, seals the answer, puts failures in words.

An error is an answer with a code (D14). It never carries a traceback, a parameter, a URI or a
secret; what nobody foresaw is logged under an id, and the id is all that is told.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from mkg import log
from mkg.errors import (
    ConfigError,
    GraphConflict,
    GraphTimeout,
    GraphUnavailable,
    LocalDbError,
    MkgError,
    Refused,
    SchemaBehind,
)
from mkg.features.tool import Answer, Tool, sealed
from mkg.server.connection import Client, Connection

_log = log.get(__name__)
UNREACHABLE = "memory is unreachable: run `mkg db up`"
_KNOWN = frozenset(Answer.model_fields)


def answer(
    tool: Tool, arguments: Mapping[str, Any], connection: Connection, client: Client
) -> tuple[dict[str, Any], bool]:
    """The JSON object to send, and whether it is an error."""
    try:
        asked = tool.asked.model_validate(dict(arguments))
        found = _run(tool, asked, connection, client)
        return sealed(found.model_dump(mode="json", exclude_unset=True)), False
    except ValidationError as error:
        return failure("invalid", _in_words(tool, error)), True
    except Refused as error:
        extras = {name: str(text) for name, text in error.extras.items() if name in _KNOWN}
        return failure(error.code, str(error), **extras), True
    except Exception as error:
        return _failed(tool, error), True


def failure(code: str, message: str, **extras: str) -> dict[str, Any]:
    """An error in place of an answer."""
    return sealed({"status": "error", "code": code, "error": message, **extras})


def _run(tool: Tool, asked: Any, connection: Connection, client: Client) -> Answer:
    """Run a tool; where a connection of earlier calls is dead, once more with a new one."""
    while True:
        call, fresh = connection.call(client)
        try:
            return tool.function(call, asked)
        except GraphUnavailable:
            connection.lost(call.run)
            if fresh:
                raise


def _failed(tool: Tool, error: Exception) -> dict[str, Any]:
    match error:
        case GraphUnavailable() | LocalDbError():
            _log.degraded("serve.unreachable", type(error).__name__, tool=tool.name)
            return failure("unreachable", UNREACHABLE, hint="what you asked for was not done")
        case SchemaBehind():
            return failure("not_migrated", str(error))
        case ConfigError():
            return failure("config", str(error))
        case GraphConflict():
            return failure("busy", "the memory is busy: try again in a moment")
        case GraphTimeout():
            return failure("timeout", "the memory took too long: try again, or ask for less")
        case _:
            mark = uuid.uuid4().hex[:8]
            status = getattr(error, "status", None)
            query = getattr(error, "query", None) if isinstance(error, MkgError) else None
            _log.error(
                "serve.failed",
                mark=mark,
                tool=tool.name,
                kind=type(error).__name__,
                query=query,
                status=status if isinstance(status, str) else None,
            )
            return failure("internal", f"internal error {mark}: see mkg.log under this id")


def _in_words(tool: Tool, error: ValidationError) -> str:
    """What is wrong with the arguments, without the values that were given."""
    known = ", ".join(tool.asked.model_fields) or "none"
    lines: list[str] = []
    for found in error.errors(include_input=False, include_url=False, include_context=False):
        name = ".".join(str(part) for part in found["loc"])[:60] or "arguments"
        match found["type"]:
            case "missing":
                lines.append(f"{name} is missing")
            case "extra_forbidden":
                lines.append(f"{name} is not a parameter; known are: {known}")
            case "string_unicode":
                lines.append(f"{name} is not valid Unicode")
            case _:
                lines.append(f"{name}: {found['msg'].removeprefix('Value error, ')}")
    return "; ".join(lines[:5])
