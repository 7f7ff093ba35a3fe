"""One event is one process: a plain interpreter that starts no other while a worker answers."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mkg.install import lines
from mkg.settings import load_settings
from mkg_hooks import dispatch
from tests.hooks.launching import LAUNCH, ROOT, Home, prompt_event, tool_event, wait_until
from tests.support.requirement import requirement

WATCHED = """
import sys
def seen(event, args):
    if event in ("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.system",
                 "subprocess.Popen"):
        open(sys.argv[-1], "a").write(event + "\\n")
sys.addaudithook(seen)
path = sys.argv[1]
sys.argv[:] = sys.argv[1:4] + sys.argv[-1:]
__file__ = path
exec(compile(open(path).read(), path, "exec"))
"""
RUNNERS = re.compile(r"\b(uv|uvx|pipx|npx|pip|poetry|conda)\b")


def processes(home: Home, event: str, payload: object) -> list[str]:
    """What the launcher started for one event, as the interpreter itself reports it."""
    seen = home.folder / "processes"
    seen.write_text("")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WATCHED, str(LAUNCH), "claude", event, str(seen)],
        input=json.dumps(payload).encode(),
        env=home.environment(),
        cwd=home.project,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return seen.read_text().split()


@requirement("PERF-02", "PERF-03")
def test_with_a_warm_worker_an_event_starts_no_process_and_without_one_it_starts_the_worker(
    home: Home,
) -> None:
    home.start_worker()
    tool = tool_event("PostToolUse", "Bash", {"command": "ls"}, tool_response={"stdout": "a"})
    assert processes(home, "PostToolUse", tool) == []
    assert processes(home, "UserPromptSubmit", prompt_event("hello")) == []
    home.close()
    assert "os.fork" in processes(home, "PostToolUse", {**tool, "tool_use_id": "toolu_2"})
    # It is on its way by now: only one that has come can be ended with the home.
    wait_until(lambda: home.ask("ping"), 20.0)


def registered(client: str) -> dict[str, list[str]]:
    """The commands of a plugin's hooks, by event."""
    data = json.loads((ROOT / "plugin" / client / "hooks.json").read_text(encoding="utf-8"))
    return {
        event: [hook["command"] for entry in entries for hook in entry["hooks"]]
        for event, entries in data["hooks"].items()
    }


@requirement("PERF-40")
@pytest.mark.parametrize("client", ["claude", "codex"])
def test_an_event_has_one_command_and_the_worker_hands_it_to_every_feature(client: str) -> None:
    commands = registered(client)
    assert {event: len(found) for event, found in commands.items()} == dict.fromkeys(commands, 1)
    routes = dispatch.routes()
    assert set(routes["Stop"].background) == {"learnings", "timeline"}
    assert set(routes["SessionStart"].foreground) == {"learnings", "timeline", "gate"}
    assert set(routes) <= set(commands)


@requirement("CL-07")
def test_hooks_start_a_plain_interpreter_and_no_package_runner() -> None:
    text = lines.script_text(load_settings())
    starts = [line.strip() for line in text.splitlines() if "exec " in line]
    assert len(starts) == 2
    assert all('exec "$python" -I -S "$launcher"' in line for line in starts)
    (chosen,) = (line for line in text.splitlines() if line.startswith("python="))
    assert Path(shlex.split(chosen.removeprefix("python="))[0]).is_absolute()
    told = [text]
    for client in ("claude", "codex"):
        told += [command for commands in registered(client).values() for command in commands]
    assert not [line for line in told if RUNNERS.search(line)]
    assert RUNNERS.search("exec uv run --script hook.py")
