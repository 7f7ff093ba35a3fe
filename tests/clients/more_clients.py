"""Gemini CLI and Copilot CLI beside the kit's two clients: pinned, headless, offline."""

import fcntl
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.clients.kit import clients

PINS = {"gemini": "0.61.0", "copilot": "1.0.102"}
_PACKAGE = {"gemini": "@google/gemini-cli", "copilot": "@github/copilot"}
_PROGRAM = {
    "gemini": "gemini/node_modules/@google/gemini-cli/bundle/gemini.js",
    "copilot": "copilot/node_modules/@github/copilot-*/copilot",
}
Hooks = dict[str, str]
"""Event, under the client's own name -> command."""


def install(client: str, folder: Path) -> str:
    """The program of a pinned client, from npm (100 and 190 MB).

    Raises:
        RuntimeError: it cannot be had or does not run here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            found = next(iter(folder.glob(_PROGRAM[client])), None)
            if found is None:
                _npm(client, folder)
                found = next(iter(folder.glob(_PROGRAM[client])), None)
            if found is None:
                raise RuntimeError("npm left no program where it was expected")
            command = [shutil.which("node") or "node", found] if client == "gemini" else [found]
            subprocess.run([*command, "--version"], check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError) as error:
            raise RuntimeError(str(error)) from error
        return str(found)


def _npm(client: str, folder: Path) -> None:
    wanted = f"{_PACKAGE[client]}@{PINS[client]}"
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel", "error")
    prefix = str(folder / client)
    command = ["npm", "install", "--prefix", prefix, *options, wanted]
    subprocess.run(command, check=True, capture_output=True, timeout=240)


class Gemini(clients.Client):
    """Gemini CLI; hooks and servers stand in the user's settings file."""

    def __init__(
        self,
        program: str,
        home: str,
        stub_url: str,
        hooks: Hooks | None = None,
        mcp_servers: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(program, home, stub_url, **options)
        node = shutil.which("node") or "node"
        self.command = [node, program]
        self.env = {
            "GEMINI_API_KEY": "x",
            "GOOGLE_GEMINI_BASE_URL": stub_url,
            "GEMINI_TELEMETRY_ENABLED": "false",
            **self.env,
        }
        settings = {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "general": {"enableAutoUpdate": False},
            "hooksConfig": {"enabled": True},
            "hooks": {
                event: [{"hooks": [{"type": "command", "command": line, "timeout": 10_000}]}]
                for event, line in (hooks or {}).items()
            },
            "mcpServers": {k: {**v, "trust": True} for k, v in (mcp_servers or {}).items()},
        }
        folder = Path(self.home) / ".gemini"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")

    def run(self, prompt: str, timeout: float = 90, args: tuple[str, ...] = ()) -> clients.Result:
        """One headless prompt."""
        line = [*self.command, "-m", "gemini-2.5-flash", "--yolo", *args, "-p", prompt]
        return clients._execute(line, self.env, self.cwd, timeout)


class Copilot(clients.Client):
    """Copilot CLI against the Anthropic endpoints; hooks stand in the repository it runs in."""

    def __init__(
        self,
        program: str,
        home: str,
        stub_url: str,
        hooks: Hooks | None = None,
        mcp_servers: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(program, home, stub_url, **options)
        self.env = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": stub_url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": "claude-sonnet-5",
            "COPILOT_ALLOW_ALL": "true",
            **self.env,
        }
        subprocess.run(["git", "init", "-q", self.cwd], check=True, capture_output=True)
        table = {
            event: [{"type": "command", "bash": line, "timeoutSec": 10}]
            for event, line in (hooks or {}).items()
        }
        folder = Path(self.cwd) / ".github" / "hooks"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "test.json").write_text(json.dumps({"version": 1, "hooks": table}), "utf-8")
        self.args: tuple[str, ...] = ()
        if mcp_servers:
            listed = {k: {"type": "local", "tools": ["*"], **v} for k, v in mcp_servers.items()}
            path = Path(self.home) / "mcp.json"
            path.write_text(json.dumps({"mcpServers": listed}), encoding="utf-8")
            self.args = ("--additional-mcp-config", f"@{path}")

    def run(self, prompt: str, timeout: float = 90, args: tuple[str, ...] = ()) -> clients.Result:
        """One headless prompt."""
        line = [self.program, *self.args, *args, "-p", prompt]
        return clients._execute(line, self.env, self.cwd, timeout)
