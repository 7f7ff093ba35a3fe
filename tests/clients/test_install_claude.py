"""Claude Code with the memory registered by `mkg install`, then with the program taken away."""

import json
import subprocess

import pytest

from tests.clients.kit import clients
from tests.clients.programs import WHEEL, client_program
from tests.clients.world import World
from tests.support.requirement import requirement

pytestmark = pytest.mark.clients
# A slow machine may be late with the server: the turn goes on until the tool is offered.
WAIT = {"then": {"tools": [{"name": "Bash", "input": {"command": "sleep 2", "description": "x"}}]}}
RULES = [
    {"when": {"offers": "mcp__mkg__project_get_context"}, "then": {"text": "All right."}},
    *({"when": {"step": step}, **WAIT} for step in range(20)),
    {"then": {"text": "No tools."}},
]


@requirement("CL-10")
def test_an_installation_works_and_its_remains_do_no_harm(world: World):
    world.plugin = None
    done = world.mkg("install", "claude", "--yes")
    assert done.returncode == 0, done.stderr
    run = world.run("hello there", RULES, allowed=("Bash", "mcp__mkg"))
    assert run.result.rc == 0 and "hello there" in run.seen
    offered = [t["name"] for t in run.bodies[-1]["tools"] if t["name"].startswith("mcp__mkg__")]
    assert "mcp__mkg__project_get_context" in offered
    # Start, prompt, stop and end; no store runs, so none has left the spool.
    assert json.loads(world.mkg("worker", "status", "--json").stdout)["queue"] >= 4

    world.mkg("worker", "stop")
    world.state.rename(world.folder / "removed")
    run = world.run("keep this prompt")
    assert run.result.rc == 0 and "keep this prompt" in run.seen and run.notices == []
    (world.folder / "removed").rename(world.state)
    assert world.mkg("uninstall", "claude", "--yes").returncode == 0
    state = json.loads((world.home / ".claude.json").read_text("utf-8"))
    assert "mcpServers" not in state and state["hasCompletedOnboarding"] is True
    assert not (world.home / ".claude" / "settings.json").exists()


@requirement("CL-02")
def test_the_same_claude_code_comes_out_of_a_python_package():
    told = [
        subprocess.run([one, "--version"], capture_output=True, text=True, timeout=60).stdout
        for one in (client_program(WHEEL), client_program("claude"))
    ]
    assert told[0] == told[1] and clients.PINS["claude"] in told[0]
