"""The clients that can be installed, as one table: files, events, form of an entry.

A new client is a row here and an adapter in `hooks/mkg_hooks/clients/`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mkg.install import lines

Scope = Literal["user", "project"]
SERVER = "mkg"
# Seconds: a little more than after which the launcher stops itself.
PATIENCE = 5
CUSTOM = re.compile(r"custom:[a-z0-9][a-z0-9-]{0,31}")


@dataclass(frozen=True, slots=True)
class Place:
    """One file that an installation changes, and what of ours stands in it."""

    path: Path
    hooks: bool = False
    servers: tuple[str, ...] | None = None  # where the table of servers is
    toml: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        events: event -> seconds its hook may take.
        entry: makes a member of an event's list from a hook line and its seconds.
        server: makes the entry of the server from its command and arguments.
        base: what a new hooks file holds beside the hooks.
        variable: the client's own variable for its folder, where its contract tells one.
    """

    name: str
    label: str
    folder: str
    events: Mapping[str, int]
    entry: Callable[[str, int], dict[str, Any]]
    server: Callable[[str, list[str]], Any]
    places: Callable[[Scope, Path], tuple[Place, ...]]
    base: Mapping[str, Any]
    variable: str | None = None
    after: str = ""

    def home(self, env: Mapping[str, str]) -> Path:
        """The folder of the user's own settings."""
        moved = env.get(self.variable) if self.variable else None
        return Path(moved).expanduser().absolute() if moved else Path.home() / self.folder

    def files(self, scope: Scope, env: Mapping[str, str], project: Path) -> tuple[Place, ...]:
        """The files of an installation."""
        return self.places(scope, self.home(env) if scope == "user" else project)

    def line(self, script: Path, event: str, scope: Scope) -> str:
        """The command line of one event."""
        return lines.hook_line(script, self.name, event, portable=scope == "project")

    def server_entry(self, script: Path, scope: Scope) -> Any:
        """The server's entry: an object, or for a TOML file the text of its table."""
        return self.server(*lines.server_command(script, portable=scope == "project"))


def _group(command: str, seconds: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def _gemini_group(command: str, seconds: int) -> dict[str, Any]:
    # Milliseconds there.
    hook = {"name": "mkg", "type": "command", "command": command, "timeout": seconds * 1000}
    return {"hooks": [hook]}


def _copilot_entry(command: str, seconds: int) -> dict[str, Any]:
    return {"type": "command", "bash": command, "timeoutSec": seconds}


def _stdio(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "stdio", "command": command, "args": args}


def _plain(command: str, args: list[str]) -> dict[str, Any]:
    return {"command": command, "args": args}


def _local(command: str, args: list[str]) -> dict[str, Any]:
    return {"type": "local", "command": command, "args": args, "tools": ["*"]}


def _codex_table(command: str, args: list[str]) -> str:
    # Not `required`: Codex would not start at all while the program is away. The tools only read
    # or propose, and what is proposed passes the gate: they are approved, or `codex exec` could
    # never call them.
    words = ", ".join(json.dumps(word, ensure_ascii=False) for word in args)
    return (
        f"[mcp_servers.{SERVER}]\n"
        f"command = {json.dumps(command)}\n"
        f"args = [{words}]\n"
        "startup_timeout_sec = 20\n"
        'default_tools_approval_mode = "approve"\n'
    )


def _claude_places(scope: Scope, base: Path) -> tuple[Place, ...]:
    if scope == "project":
        return (
            Place(base / ".claude" / "settings.json", hooks=True),
            Place(base / ".mcp.json", servers=("mcpServers",)),
        )
    # The servers of the user are in a file beside the folder, unless the folder was moved.
    moved = base != Path.home() / ".claude"
    state = (base if moved else Path.home()) / ".claude.json"
    return Place(base / "settings.json", hooks=True), Place(state, servers=("mcpServers",))


def _codex_places(scope: Scope, base: Path) -> tuple[Place, ...]:
    folder = base / ".codex" if scope == "project" else base
    return (
        Place(folder / "hooks.json", hooks=True),
        Place(folder / "config.toml", servers=("mcp_servers",), toml=True),
    )


def _gemini_places(scope: Scope, base: Path) -> tuple[Place, ...]:
    folder = base / ".gemini" if scope == "project" else base
    return (Place(folder / "settings.json", hooks=True, servers=("mcpServers",)),)


def _copilot_places(scope: Scope, base: Path) -> tuple[Place, ...]:
    if scope == "project":
        # A server of a project is Claude's form; Copilot's own is the user's.
        return (Place(base / ".github" / "hooks" / "mkg.json", hooks=True),)
    return (
        Place(base / "hooks" / "mkg.json", hooks=True),
        Place(base / "mcp-config.json", servers=("mcpServers",)),
    )


def _seconds(*events: str, end: int) -> dict[str, int]:
    return {event: end if event == "SessionEnd" else PATIENCE for event in events}


_CLAUDE_EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"),
    *("Notification", "Stop", "SessionEnd", "SubagentStart", "SubagentStop", "PreCompact"),
)
_CODEX_EVENTS = (
    *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
    *("PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"),
)
# Not PreCompress: it fires with every request to the model.
_GEMINI_EVENTS = (
    *("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
    *("Notification", "SessionEnd"),
)
_COPILOT_EVENTS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")

CLIENTS: dict[str, Client] = {
    row.name: row
    for row in (
        Client(
            name="claude",
            label="Claude Code",
            folder=".claude",
            events=_seconds(*_CLAUDE_EVENTS, end=2),
            entry=_group,
            server=_stdio,
            places=_claude_places,
            base={},
            variable="CLAUDE_CONFIG_DIR",
            after="Start a new session; `/hooks` and `/mcp` show what is registered.",
        ),
        Client(
            name="codex",
            label="Codex",
            folder=".codex",
            # Codex allows a SessionEnd three seconds, and warns about more.
            events=_seconds(*_CODEX_EVENTS, end=2),
            entry=_group,
            server=_codex_table,
            places=_codex_places,
            base={},
            variable="CODEX_HOME",
            after="Codex runs no hook before you have trusted it: start `codex`, type `/hooks`, "
            "and trust those of mkg. Until then it skips them without a word.",
        ),
        Client(
            name="gemini",
            label="Gemini CLI",
            folder=".gemini",
            events=_seconds(*_GEMINI_EVENTS, end=2),
            entry=_gemini_group,
            server=_plain,
            places=_gemini_places,
            base={},
            after="Start a new session; `/hooks` and `/mcp` show what is registered.",
        ),
        Client(
            name="copilot",
            label="Copilot CLI",
            folder=".copilot",
            events=_seconds(*_COPILOT_EVENTS, "SessionEnd", end=2),
            entry=_copilot_entry,
            server=_local,
            places=_copilot_places,
            base={"version": 1},
            after="Start a new session; `/mcp` shows what is registered.",
        ),
    )
}
