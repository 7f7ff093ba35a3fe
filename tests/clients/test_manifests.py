"""The plugin's manifests, and its hook commands through the shell in every state of the machine."""

import json
import os
import stat
import subprocess
import tomllib
from pathlib import Path

import pytest

from mkg.install.clients import CLIENTS
from tests.support.requirement import requirement

ROOT = Path(__file__).resolve().parents[2]
EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "Stop",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
]
AWKWARD = 'My Plugin (x86) it\'s $HOME `id` "q"'
PAYLOAD = b'{"hook_event_name": "X", "prompt": "don\'t lose me"}'


def load(relative: str) -> dict:
    return json.loads((ROOT / relative).read_text("utf-8"))


def entries() -> dict[str, dict]:
    hooks = load("plugin/claude/hooks.json")["hooks"]
    return {event: hooks[event][0]["hooks"][0] for event in hooks}


def sh(command: str, root: Path, path: str, home: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a hook command as the client does: `/bin/sh -c`, the plugin's root in the environment."""
    env = {"CLAUDE_PLUGIN_ROOT": str(root), "PATH": path, "HOME": str(home)}
    return subprocess.run(
        ["/bin/sh", "-c", command], input=PAYLOAD, env=env, capture_output=True, timeout=30
    )


def program(folder: Path, name: str, body: str) -> None:
    """An executable script."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + body, encoding="utf-8")
    (folder / name).chmod(0o755)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin root in an awkward folder whose launcher prints its arguments and its stdin."""
    root = tmp_path / AWKWARD
    (root / "hooks").mkdir(parents=True)
    (root / "hooks" / "launch.py").write_text(
        "import sys\nprint(sys.flags.isolated, sys.flags.no_site, *sys.argv[1:])\n"
        "sys.stdout.write(sys.stdin.read())\n",
        encoding="utf-8",
    )
    return root


@requirement("CL-39")
def test_every_manifest_names_the_version_of_the_package():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    plugin, market = load(".claude-plugin/plugin.json"), load(".claude-plugin/marketplace.json")
    assert plugin["version"] == version
    assert [(p["name"], p["version"]) for p in market["plugins"]] == [(plugin["name"], version)]
    assert market["plugins"][0]["source"] == "./"
    assert market["plugins"][0]["description"] == plugin["description"]


def test_the_files_that_the_manifest_names_are_there():
    plugin = load(".claude-plugin/plugin.json")
    for key in ("hooks", "mcpServers"):
        assert plugin[key].startswith("./plugin/")
        assert (ROOT / plugin[key]).is_file()
    # The strict check of the client refuses a root with this file.
    assert not (ROOT / "CLAUDE.md").exists()
    # The client would load these from the root by itself, named in the manifest or not.
    for name in ("skills", "commands", "agents", "bin", "monitors", "hooks/hooks.json"):
        assert not (ROOT / name).exists()
    for name in (".mcp.json", ".lsp.json", "settings.json"):
        assert not (ROOT / name).exists()


# What each client must register, at least: the jobs of the memory hang on these.
WIRING = {
    "claude": "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure Notification"
    " SubagentStart SubagentStop PreCompact Stop SessionEnd",
    "codex": "SessionStart SubagentStart PreToolUse PermissionRequest PostToolUse PreCompact"
    " PostCompact UserPromptSubmit SubagentStop Stop SessionEnd",
    "gemini": "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent Notification SessionEnd",
    "copilot": "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SessionEnd",
}


@requirement("MEM-T142")
@pytest.mark.parametrize("client", WIRING)
def test_each_client_is_wired_for_every_event_that_it_has(client: str):
    wanted = set(WIRING[client].split())
    assert set(CLIENTS[client].events) == wanted
    manifest = ROOT / "plugin" / client / "hooks.json"
    if manifest.exists():
        hooks = json.loads(manifest.read_text("utf-8"))["hooks"]
        assert set(hooks) == wanted
        # One line each and for every source, tool and subagent: none is filtered out.
        assert all(len(rows) == 1 and "matcher" not in rows[0] for rows in hooks.values())


@requirement("B5")
def test_every_event_has_one_command_with_a_timeout_of_a_few_seconds():
    hooks = load("plugin/claude/hooks.json")["hooks"]
    assert list(hooks) == EVENTS
    for event in EVENTS:
        assert len(hooks[event]) == 1 and "matcher" not in hooks[event][0]
        (entry,) = hooks[event][0]["hooks"]
        assert set(entry) == {"type", "command", "timeout"}
        assert entry["type"] == "command"
        # Seconds, a little more than after which the launcher stops itself. The client gives all
        # hooks of a SessionEnd 1.5 s, whatever a plugin says.
        assert entry["timeout"] == (2 if event == "SessionEnd" else 5)


@requirement("CL-14")
def test_the_launcher_is_started_by_a_shell_string_that_differs_only_in_the_event():
    forms = set()
    for event, entry in entries().items():
        command = entry["command"]
        assert command.count(f" claude {event} ") == 1
        forms.add(command[command.index("[ -f") :].replace(f" claude {event} ", " claude EVENT "))
    assert forms == {
        '[ -f "${CLAUDE_PLUGIN_ROOT}/hooks/launch.py" ] && '
        'python3 -I -S "${CLAUDE_PLUGIN_ROOT}/hooks/launch.py" claude EVENT || true'
    }


def test_the_mcp_entry_starts_the_same_launcher():
    assert load("plugin/claude/mcp.json") == {
        "mcpServers": {
            "mkg": {
                "command": "python3",
                "args": ["-I", "-S", "${CLAUDE_PLUGIN_ROOT}/hooks/launch.py", "mcp", "memory"],
            }
        }
    }


@requirement("B9")
@pytest.mark.parametrize("event", EVENTS)
def test_a_command_starts_the_launcher_in_a_folder_with_awkward_characters(
    event: str, plugin: Path, tmp_path: Path
):
    home = tmp_path / "home of O'Neil"
    result = sh(entries()[event]["command"], plugin, os.environ["PATH"], home)
    assert result.returncode == 0
    assert result.stdout == f"1 1 claude {event}\n".encode() + PAYLOAD
    assert result.stderr == b""


MACHINES = {
    "the launcher is gone": ("rm", None),
    "the whole root is gone": ("root", None),
    "the launcher is a folder": ("folder", None),
    "the launcher does not parse": ("def (:\n", None),
    "the launcher raises": ("raise SystemError\n", None),
    "the launcher exits 2": ("raise SystemExit(2)\n", None),
    "the launcher dies of a signal": ("import os; os.kill(os.getpid(), 9)\n", None),
    "there is no python3": (None, ""),
    "python3 exits 2": (None, "echo 'unknown option -I' >&2; exit 2\n"),
    "python3 is too old": (None, "echo 'SyntaxError: invalid syntax' >&2; exit 1\n"),
    "python3 cannot run": (None, "exec /nonexistent/python\n"),
}


@requirement("CL-10")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_command_never_fails_whatever_is_missing(
    machine: str, event: str, plugin: Path, tmp_path: Path
):
    launcher, python = MACHINES[machine]
    break_launcher(plugin, launcher)
    path = os.environ["PATH"]
    if python is not None:
        path = str(tmp_path / "bin")
        Path(path).mkdir()
        if python:
            program(tmp_path / "bin", "python3", python)
    result = sh(entries()[event]["command"], plugin, path, tmp_path)
    assert result.returncode == 0
    if machine == "there is no python3" and event == "SessionStart":
        assert list(json.loads(result.stdout)) == ["systemMessage"]
    else:
        assert result.stdout == b""


def break_launcher(plugin: Path, how: str | None) -> None:
    """Put the launcher into the state that a row of MACHINES names."""
    script = plugin / "hooks" / "launch.py"
    if how in ("rm", "root", "folder"):
        script.unlink()
        if how == "folder":
            script.mkdir()
        if how == "root":
            (plugin / "hooks").rmdir()
            plugin.rmdir()
    elif how is not None:
        script.write_text(how, encoding="utf-8")


@requirement("CL-10")
def test_the_unguarded_form_of_the_command_would_erase_the_prompt(plugin: Path, tmp_path: Path):
    break_launcher(plugin, "rm")
    guarded = entries()["UserPromptSubmit"]["command"]
    bare = guarded[guarded.index("python3 ") : guarded.index(" || true")]
    assert sh(bare, plugin, os.environ["PATH"], tmp_path).returncode == 2
    assert sh(guarded, plugin, os.environ["PATH"], tmp_path).returncode == 0


def test_a_launcher_that_others_may_not_read_is_passed_over(plugin: Path, tmp_path: Path):
    script = plugin / "hooks" / "launch.py"
    script.chmod(0)
    assert stat.S_IMODE(script.stat().st_mode) == 0
    command = entries()["UserPromptSubmit"]["command"]
    assert sh(command, plugin, os.environ["PATH"], tmp_path).returncode == 0
