"""The repository's manifests for marketplaces, all made from the table of clients and one version.

`python -m mkg.install.manifests` writes them; a test compares. The repository root is the plugin's
root (D23), so hook lines lead to `hooks/launch.py` below the folder that the client names.
"""

import json
from pathlib import Path
from typing import Any

from mkg import __version__
from mkg.install.clients import CLIENTS, SERVER

MARKET = "meta-knowledge-graph"
LABEL = "Meta Knowledge Graph"
WHAT = (
    "A memory for coding agents whose logic lives in a Neo4j graph: what you state in one session "
    "comes back in the next."
)
SKILLS = "./plugin/skills/"
SCHEMA = "https://agent-plugins.org/schemas/1.0.0/{}.schema.json"
AUTHOR = {"name": "The mkg authors"}
KEYWORDS = ["memory", "neo4j", "cypher", "mcp", "hooks"]
# Codex hands the line to the user's shell, where `${NAME}` need not be a variable.
ROOTS = {"claude": "${CLAUDE_PLUGIN_ROOT}", "codex": "$PLUGIN_ROOT"}
NO_PYTHON = json.dumps(
    {
        "systemMessage": "mkg: python3 was not found, so the memory is off in this session. "
        "Install Python 3 to use it."
    }
)


def plugin_line(client: str, event: str) -> str:
    """The hook line of a plugin."""
    launcher = f'"{ROOTS[client]}/hooks/launch.py"'
    line = f"[ -f {launcher} ] && python3 -I -S {launcher} {client} {event} || true"
    if event == "SessionStart":
        return f"command -v python3 >/dev/null || echo '{NO_PYTHON}'; {line}"
    return line


def hooks(client: str) -> dict[str, Any]:
    """The hooks file of a plugin."""
    row = CLIENTS[client]
    return {
        "description": "Hands every event to hooks/launch.py; a missing file or interpreter is "
        "never an error.",
        "hooks": {
            event: [row.entry(plugin_line(client, event), seconds)]
            for event, seconds in row.events.items()
        },
    }


def server(root: str, **more: Any) -> dict[str, Any]:
    """The servers file of a plugin."""
    args = ["-I", "-S", f"{root}hooks/launch.py", "mcp", "memory"]
    return {"mcpServers": {SERVER: {**more, "command": "python3", "args": args}}}


def manifests() -> dict[str, Any]:
    """Path below the root -> what the file says."""
    identity = {"name": "mkg", "version": __version__, "description": WHAT}
    common = {**identity, "author": AUTHOR, "license": "Apache-2.0", "keywords": KEYWORDS}
    own = {"displayName": LABEL}
    listed = {**identity, "license": "Apache-2.0", "category": "memory"}
    return {
        ".claude-plugin/plugin.json": {
            **common,
            **own,
            "skills": SKILLS,
            "hooks": "./plugin/claude/hooks.json",
            "mcpServers": "./plugin/claude/mcp.json",
        },
        ".claude-plugin/marketplace.json": {
            "name": MARKET,
            "description": "The mkg plugin: a graph memory for coding agents.",
            "owner": AUTHOR,
            "plugins": [{"source": "./", **listed}],
        },
        "plugin/claude/hooks.json": hooks("claude"),
        "plugin/claude/mcp.json": server("${CLAUDE_PLUGIN_ROOT}/"),
        ".codex-plugin/plugin.json": {
            **common,
            "skills": SKILLS,
            "hooks": "./plugin/codex/hooks.json",
            "mcpServers": "./plugin/codex/mcp.json",
        },
        ".agents/plugins/marketplace.json": {
            "name": MARKET,
            "interface": own,
            "plugins": [
                {
                    "name": "mkg",
                    "source": {"source": "local", "path": "./"},
                    "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                    "category": "Developer Tools",
                }
            ],
        },
        "plugin/codex/hooks.json": hooks("codex"),
        "plugin/codex/mcp.json": server("./", cwd=".", default_tools_approval_mode="approve"),
        # The Agent Plugins format has no hooks, and a `plugin.json` at the root would make Codex
        # forget those of `.codex-plugin`: it is a package of its own, for the installed program.
        "plugin/agent/plugin.json": {"$schema": SCHEMA.format("plugin"), **common},
        "plugin/agent/mcp.json": {
            "$schema": SCHEMA.format("mcp"),
            "mcpServers": {
                SERVER: {
                    "type": "stdio",
                    "command": "mkg",
                    "args": ["serve", "--face", "memory", "--from-client"],
                }
            },
        },
        # Gemini's hooks would have to lie in hooks/hooks.json, which Claude Code loads by itself:
        # `mkg install gemini` registers them.
        "gemini-extension.json": {**identity, **server("${extensionPath}/")},
    }


def text(value: Any) -> str:
    """A manifest as it stands in the file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write(root: Path) -> None:
    """Write all manifests below a root."""
    for name, value in manifests().items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(value), encoding="utf-8")


if __name__ == "__main__":
    write(Path.cwd())
