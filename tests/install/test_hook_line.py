"""The registered commands through real shells, with the machine in every state of disrepair."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from mkg.install import lines
from mkg.install.clients import CLIENTS
from mkg.settings import Settings
from tests.support.requirement import requirement

AWKWARD = 'My Home (x86) it\'s $HOME `id` "q"'
PAYLOAD = b'{"hook_event_name": "X", "prompt": "don\'t lose me"}'
PYTHON = os.path.realpath(sys.executable)
ECHO = (
    "import os, sys\n"
    "print(sys.flags.isolated, sys.flags.no_site, *sys.argv[1:], os.environ['MKG_HOME'])\n"
    "sys.stdout.write(sys.stdin.read())\n"
)
SHELLS = [s for s in ("sh", "dash", "bash", "zsh", "fish", "tcsh", "busybox") if shutil.which(s)]


@dataclass(frozen=True, slots=True)
class Installed:
    """An installation in an awkward folder, whose launcher prints what it was given."""

    folder: Path
    settings: Settings
    launcher: Path
    python: Path

    @property
    def script(self) -> Path:
        return lines.script_path(self.settings)

    def run(self, command: str, shell: str = "sh") -> subprocess.CompletedProcess[bytes]:
        path = os.pathsep.join((str(self.folder / "bin"), "/usr/bin", "/bin"))
        words = [shutil.which(shell) or shell, *(["sh"] if shell == "busybox" else []), "-c"]
        return subprocess.run(
            [*words, command],
            input=PAYLOAD,
            env={"PATH": path, "HOME": str(self.folder)},
            capture_output=True,
            timeout=30,
        )


def program(path: Path, body: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + body, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    folder = tmp_path / AWKWARD
    hooks = folder / "program" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "launch.py").write_text(ECHO, encoding="utf-8")
    python = folder / "env" / "python"
    python.parent.mkdir()
    python.symlink_to(PYTHON)
    settings = Settings(
        home=folder / "mkg", cache=folder / "c", config_dir=folder / "d", runtime_dir=folder / "r"
    )
    monkeypatch.setattr(lines, "root", lambda kind: hooks)
    monkeypatch.setattr(lines.os.path, "realpath", lambda path: str(python))
    lines.write_script(settings)
    monkeypatch.undo()
    return Installed(folder, settings, hooks / "launch.py", python)


def commands(installed: Installed) -> dict[tuple[str, str], str]:
    """Every registered command: client and event -> line."""
    return {
        (name, event): row.line(installed.script, event, "user")
        for name, row in CLIENTS.items()
        for event in row.events
    }


@requirement("B9")
def test_every_line_of_every_client_starts_the_launcher_in_an_awkward_folder(installed: Installed):
    for (client, event), command in commands(installed).items():
        done = installed.run(command)
        told = f"1 1 {client} {event} {installed.settings.home}\n".encode()
        assert (done.returncode, done.stdout, done.stderr) == (0, told + PAYLOAD, b"")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_line_means_the_same_in_every_shell_of_a_user(shell: str, installed: Installed):
    command = commands(installed)["codex", "Stop"]
    assert installed.run(command, shell).stdout.endswith(PAYLOAD)
    installed.script.unlink()
    done = installed.run(command, shell)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_project_line_holds_for_everybody_whose_home_is_the_default_one(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(installed.folder))
    command = CLIENTS["claude"].line(installed.script, "Stop", "project")
    assert command.startswith('[ -f "$HOME/mkg/hook" ]') and AWKWARD not in command
    assert installed.run(command).stdout.endswith(PAYLOAD)


def break_it(installed: Installed, what: str) -> None:
    """Put the machine into the state that a row of STATES names."""
    python3 = installed.folder / "bin" / "python3"
    if what == "the script is gone":
        installed.script.unlink()
    elif what == "the script is a folder":
        installed.script.unlink()
        installed.script.mkdir()
    elif what == "the script is empty":
        installed.script.write_text("", encoding="utf-8")
    elif what == "the memory's home is gone":
        shutil.rmtree(installed.settings.home)
    elif what == "the checkout has moved":
        installed.launcher.parent.rename(installed.folder / "elsewhere")
    elif what == "the launcher raises":
        installed.launcher.write_text("raise SystemError\n", encoding="utf-8")
    elif what == "the launcher exits 2":
        installed.launcher.write_text("raise SystemExit(2)\n", encoding="utf-8")
    elif what == "the launcher dies of a signal":
        installed.launcher.write_text("import os; os.kill(os.getpid(), 9)\n", encoding="utf-8")
    elif what == "the environment and every python3 are gone":
        installed.python.unlink()
        program(python3, "exec /nonexistent/python\n")
    elif what == "the environment is gone and python3 is too old":
        installed.python.unlink()
        program(python3, "echo 'unknown option -I' >&2; exit 2\n")
    elif what == "the interpreter does not run":
        installed.python.unlink()
        program(installed.python, "exit 2\n")
    else:
        raise AssertionError(what)


STATES = (
    "the script is gone",
    "the script is a folder",
    "the script is empty",
    "the memory's home is gone",
    "the checkout has moved",
    "the launcher raises",
    "the launcher exits 2",
    "the launcher dies of a signal",
    "the environment and every python3 are gone",
    "the environment is gone and python3 is too old",
    "the interpreter does not run",
)


TELLING = (
    ("claude", "UserPromptSubmit"),
    ("codex", "Stop"),
    ("gemini", "BeforeAgent"),
    ("copilot", "PreToolUse"),
)


@requirement("CL-10", "CL-11")
@pytest.mark.parametrize("state", STATES)
def test_no_line_of_any_client_ever_fails_or_prints_garbage(state: str, installed: Installed):
    lines_of = commands(installed)
    if state.startswith("the launcher"):
        # A Python runs for each of these: one event of each client says it.
        lines_of = {key: lines_of[key] for key in TELLING}
    break_it(installed, state)
    for (client, event), command in lines_of.items():
        done = installed.run(command)
        assert done.returncode == 0, (client, event)
        speaks = event == "SessionStart" and client in ("claude", "codex")
        if state == "the checkout has moved" and speaks:
            (line,) = json.loads(done.stdout).items()
            assert line[0] == "systemMessage" and "`mkg doctor`" in line[1]
            continue
        assert done.stdout == b"", (client, event)
        if state in ("the script is gone", "the memory's home is gone"):
            assert done.stderr == b"", (client, event)


@requirement("CL-10")
def test_without_the_guards_a_missing_script_would_erase_the_prompt(installed: Installed):
    command = commands(installed)["codex", "UserPromptSubmit"]
    installed.script.unlink()
    bare = command[command.index("/bin/sh") : command.index(" || true")]
    assert installed.run(bare).returncode == 2
    assert installed.run(command).returncode == 0


def test_a_removed_environment_leaves_the_work_to_another_python(installed: Installed):
    installed.python.unlink()
    program(installed.folder / "bin" / "python3", f'exec "{PYTHON}" "$@"\n')
    command = commands(installed)["claude", "Stop"]
    assert installed.run(command).stdout.endswith(PAYLOAD)


@pytest.mark.parametrize("client", CLIENTS)
def test_the_server_entry_starts_the_launcher_too(client: str, installed: Installed):
    command, args = lines.server_command(installed.script)
    done = subprocess.run(
        [command, *args], input=b"", env={"PATH": "/usr/bin:/bin"}, capture_output=True, timeout=30
    )
    assert done.stdout == f"1 1 mcp memory {installed.settings.home}\n".encode()
    entry = CLIENTS[client].server_entry(installed.script, "user")
    if isinstance(entry, str):
        entry = tomllib.loads(entry)["mcp_servers"]["mkg"]
    assert (entry["command"], entry["args"]) == (command, args)


def test_a_project_server_entry_is_portable_and_starts_it(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(installed.folder))
    command, args = lines.server_command(installed.script, portable=True)
    assert lines.server_of_ours({"command": command, "args": args})
    done = subprocess.run(
        [command, *args],
        input=b"",
        env={"PATH": "/usr/bin:/bin", "HOME": str(installed.folder)},
        capture_output=True,
        timeout=30,
    )
    assert done.stdout.startswith(b"1 1 mcp memory ")


def test_our_lines_are_recognised_and_nobody_elses(installed: Installed):
    for (client, event), command in commands(installed).items():
        assert lines.line_of_ours(command, client) == event
    stop = commands(installed)["codex", "Stop"]
    for other in (stop + " ", stop.replace("|| true", ""), "echo hook codex Stop || true", 7, None):
        assert lines.line_of_ours(other, "codex") is None
    assert lines.line_of_ours(stop, "claude") is None
    for entry in ({"command": "/bin/sh", "args": ["/x/hookx", "mcp"]}, {"command": "x"}, [], None):
        assert not lines.server_of_ours(entry)
