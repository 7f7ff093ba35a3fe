"""A tiny MCP server over stdio that says the memory is not installed: one tool, both protocol eras.

It runs where nothing of the product is installed, on any `python3`: standard library, old syntax.
"""

# JSON of a stranger has no types until it is looked at.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NAMES = {"memory": "meta-knowledge-graph", "encounter": "kenning-encounter"}
LINE_BYTES = 4 * 1024 * 1024
TOOL = "mkg_not_ready"
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, BAD_PARAMS = -32700, -32600, -32601, -32602


def tool(line: str) -> "dict[str, Any]":
    """Return the one tool; its description already says what is missing."""
    return {
        "name": TOOL,
        "title": "Memory is not ready",
        "description": "The memory tools are not available. " + line,
        "inputSchema": {
            "type": "object",
            "properties": {},
            "required": [],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }


def version_of(params: "dict[str, Any]") -> "str | None":
    """Return the protocol revision a request states, or None in the older era."""
    meta = params.get("_meta")
    return meta.get("io.modelcontextprotocol/protocolVersion") if isinstance(meta, dict) else None


def result_of(
    method: str, params: "dict[str, Any]", info: "dict[str, str]", line: str
) -> "dict[str, Any] | None":
    """Return the result of a request, or None for a method this server does not know."""
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in LEGACY else LEGACY[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": info,
            "instructions": line,
        }
    if method == "server/discover":
        return {
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {"listChanged": False}},
            "instructions": line,
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [tool(line)]}
    if method == "tools/call" and params.get("name") == TOOL:
        return {"content": [{"type": "text", "text": line}], "isError": True}
    lists = ("prompts", "resources", "resourceTemplates")
    for name, asked in zip(lists, ("prompts/list", "resources/list", "resources/templates/list")):  # noqa: B905
        if method == asked:
            return {name: []}
    return None


def answer_to(request: "Any", info: "dict[str, str]", line: str) -> "dict[str, Any] | None":
    """Return the message that answers one decoded line, or None when none is due."""
    if not isinstance(request, dict):
        return failure(None, INVALID_REQUEST, "one JSON-RPC object a line, please")
    method, ident = request.get("method"), request.get("id")
    if ident is None or not isinstance(method, str):
        return None
    params = request.get("params")
    params = params if isinstance(params, dict) else {}
    if method == "subscriptions/listen":
        meta = {"io.modelcontextprotocol/subscriptionId": ident}
        told = {"_meta": meta, "notifications": {}}
        return {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": told,
        }
    result = result_of(method, params, info, line)
    if result is None:
        if method == "tools/call":
            return failure(ident, BAD_PARAMS, "the only tool here is " + TOOL)
        return failure(ident, NO_METHOD, "not available: " + line)
    if method == "server/discover" or version_of(params) == MODERN:
        result["resultType"] = "complete"
        result["_meta"] = {"io.modelcontextprotocol/serverInfo": info}
        if method != "tools/call":
            result.update({"ttlMs": 0, "cacheScope": "private"})
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def failure(ident: "Any", code: int, text: str) -> "dict[str, Any]":
    """Return a JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": text}}


def serve(
    face: str, line: str, source: "BinaryIO | None" = None, sink: "BinaryIO | None" = None
) -> None:
    """Answer line by line until stdin closes."""
    asked = source or sys.stdin.buffer
    told = sink or sys.stdout.buffer
    info = {"name": NAMES.get(face, "meta-knowledge-graph"), "version": "not-installed"}
    while True:
        raw = asked.readline(LINE_BYTES)
        if not raw:
            return
        if not raw.strip():
            continue
        try:
            answer = answer_to(json.loads(raw.decode("utf-8", "replace")), info, line)
        except (ValueError, RecursionError):
            answer = failure(None, PARSE_ERROR, "not JSON")
        if answer is not None:
            try:
                told.write(json.dumps(answer).encode("ascii") + b"\n")
                told.flush()
            except OSError:
                return
