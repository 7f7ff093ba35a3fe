"""Record hook payloads of the real Codex, Gemini CLI and Copilot CLI against the scripted model.

    python -m tests.clients.record_more codex|gemini|copilot KIT

Writes `tests/fixtures/session_more/CLIENT.jsonl` in the form of the other recordings: one line an
event, {"event": NAME, "payload": {...}}. Run it again when a pinned client changes.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.clients import more_clients
from tests.clients.kit import clients
from tests.clients.more_stub import GeminiStub
from tests.clients.record import HOOK, PROJECT, placeholders, write

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "session_more"
EVENTS = {
    "codex": (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest"),
        *("PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"),
    ),
    "gemini": (
        *("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress"),
        *("Notification", "SessionEnd"),
    ),
    "copilot": (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
        *("PermissionRequest", "SubagentStart", "SubagentStop", "PreCompact", "Stop"),
        *("Notification", "SessionEnd"),
    ),
}
SHELL = {"codex": "exec_command", "gemini": "run_shell_command", "copilot": "bash"}
ARGUMENT = {"codex": "cmd", "gemini": "command", "copilot": "command"}
PROMPT = "Look at the release notes, please."
LATER = "And now the second question."


def rules(client: str) -> list[dict[str, Any]]:
    """One command that works and one that fails, then an answer."""

    def run(command: str) -> dict[str, Any]:
        given = {ARGUMENT[client]: command}
        if client != "codex":
            given["description"] = "look"
        return {"tools": [{"name": SHELL[client], "input": given}]}

    inner = {"name": "spawn_agent", "input": {"message": "Count the INNER files."}}
    return [
        {"when": {"user": "INNER", "step": 0}, "then": run("echo inner")},
        {"when": {"user": "INNER"}, "then": {"text": "There are three files."}},
        {"when": {"user": "AGENT", "step": 0, "offers": "spawn_agent"}, "then": {"tools": [inner]}},
        {
            "when": {"tool_result": "nickname|agent_id|task_name", "user": "AGENT"},
            "then": {"tools": [{"name": "wait_agent", "input": {"timeout_ms": 20000}}]},
        },
        {"times": 1, "then": run("echo hi")},
        {"times": 1, "when": {"tool_result": True}, "then": run("echo oops >&2; exit 3")},
        {"then": {"text": "All is well.", "usage": [198_000, 10]}},
    ]


def main() -> None:
    """Record one client."""
    client, kit = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch, GeminiStub(rules(client)) as stub:
        home, cwd, log = (Path(scratch) / name for name in ("home", PROJECT, "hooks.jsonl"))
        hooks = {event: f"python3 {HOOK} {event}" for event in EVENTS[client]}
        _RUNS[client](kit, home, cwd, stub.url, hooks, {"RECORD_LOG": str(log)})
        lines = clients.read_jsonl(log)
        write(FOLDER / f"{client}.jsonl", [placeholders(line, home, cwd) for line in lines])
        print([line["event"] for line in lines])


def _codex(kit: Path, home: Path, cwd: Path, url: str, hooks: Any, env: Any) -> None:
    table = clients.hook_table(hooks, f"python3 {HOOK} {{event}}")
    toml = "model_auto_compact_token_limit = 50000"
    program = clients.install("codex", str(kit))
    codex = clients.Codex(program, home, url, hooks=table, toml=toml, cwd=cwd, env=env)
    first = codex.run(PROMPT)
    thread = first.find(type="thread.started")[0]["thread_id"]
    codex.run(LATER, resume=thread)
    codex.run("Ask an AGENT to count the files.")


def _gemini(kit: Path, home: Path, cwd: Path, url: str, hooks: Any, env: Any) -> None:
    program = more_clients.install("gemini", kit)
    gemini = more_clients.Gemini(program, str(home), url, hooks=hooks, cwd=str(cwd), env=env)
    gemini.run(PROMPT)


def _copilot(kit: Path, home: Path, cwd: Path, url: str, hooks: Any, env: Any) -> None:
    program = more_clients.install("copilot", kit)
    copilot = more_clients.Copilot(program, str(home), url, hooks=hooks, cwd=str(cwd), env=env)
    copilot.run(PROMPT)


_RUNS: dict[str, Callable[..., None]] = {"codex": _codex, "gemini": _gemini, "copilot": _copilot}


if __name__ == "__main__":
    main()
