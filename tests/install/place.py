"""A user's machine for tests of the installation: a HOME, a project, `mkg` in this process."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from mkg.cli import app
from mkg.install.clients import CLIENTS, Client
from mkg.settings import Settings, load_settings

SETTINGS = """\
{
  // my own
  "theme": "dark",
  "hooks": {
    "Stop": [
      { "hooks": [] }
    ]
  }, // kept
  "z": 1
}
"""
TOML = '# my own\nmodel = "x"   # odd\n\n[mcp_servers.other]\ncommand = "y"\n'
OWN = {
    "claude": {
        ".claude/settings.json": SETTINGS,
        ".claude.json": '{"mcpServers":{"a":{}},"n":[1]}',
    },
    "codex": {".codex/hooks.json": SETTINGS.replace("// my own", ""), ".codex/config.toml": TOML},
    "gemini": {".gemini/settings.json": SETTINGS.replace('"Stop"', '"AfterAgent"')},
    "copilot": {
        ".copilot/hooks/theirs.json": '{"version":1}',
        ".copilot/mcp-config.json": '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    },
}


@dataclass(frozen=True, slots=True)
class Machine:
    """A HOME with what is in it."""

    home: Path

    def write(self, files: dict[str, str], mode: int = 0o640) -> None:
        for name, text in files.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
            path.chmod(mode)

    def tree(self) -> dict[str, tuple[int, bytes | None]]:
        """Every path with its mode, and the bytes of the files."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            content = path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(self.home))] = (stat.S_IMODE(path.lstat().st_mode), content)
        return found

    def mkg(self, *args: str, input: str | None = None) -> Result:
        """A command; it raises what `main` would turn into a line."""
        return CliRunner().invoke(app, [*args], input=input, catch_exceptions=True)

    def settings(self) -> Settings:
        return load_settings()

    def files(self, client: str, scope: str = "user") -> list[Path]:
        made: Client = CLIENTS[client]
        where = "project" if scope == "project" else "user"
        return [p.path for p in made.files(where, dict(os.environ), Path.cwd())]
