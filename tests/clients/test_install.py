"""The plugin in the real Claude Code: validation, marketplace, first run without the product."""

import json
from pathlib import Path

import pytest

from tests.clients.world import TOOL, World
from tests.support.requirement import requirement

pytestmark = pytest.mark.clients
ROOT = Path(__file__).resolve().parents[2]
PLUGIN, MARKET = "mkg", "meta-knowledge-graph"
MANIFESTS = (".", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json")


@requirement("CL-03")
def test_the_client_is_the_pinned_one(world: World):
    from tests.clients.kit import clients

    assert world.claude("--version").stdout.startswith(clients.PINS["claude"] + " ")


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_root_passes_the_strict_validation_of_the_client(manifest: str, world: World):
    done = world.claude("plugin", "validate", "--strict", "--json", str(ROOT / manifest))
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["success"] and report["strict"]
    assert report["manifest"]["errors"] == report["manifest"]["warnings"] == []


def test_the_strict_validation_refuses_a_root_with_a_claude_md(world: World, checkout: Path):
    (checkout / "CLAUDE.md").write_text("# rules\n", encoding="utf-8")
    done = world.claude("plugin", "validate", "--strict", "--json", str(checkout))
    assert done.returncode == 1


@requirement("CL-01")
def test_a_marketplace_install_runs_and_says_that_the_product_is_missing(
    world: World, checkout: Path
):
    world.plugin = None
    assert world.claude("plugin", "marketplace", "add", str(checkout)).returncode == 0
    assert world.claude("plugin", "install", f"{PLUGIN}@{MARKET}").returncode == 0
    (listed,) = [
        p
        for p in json.loads(world.claude("plugin", "list", "--json").stdout)
        if "@builtin" not in p["id"]
    ]
    assert listed["id"] == f"{PLUGIN}@{MARKET}" and listed["enabled"]
    assert listed["version"] == json.loads((ROOT / MANIFESTS[1]).read_text("utf-8"))["version"]

    run = world.run("hello")

    assert run.result.rc == 0 and len(run.bodies) == 1
    assert "hello" in run.seen
    assert len(run.notices) == 1 and "install" in run.notices[0]
    assert "hook additional context" not in run.seen
    offered = [t["name"] for t in run.bodies[0]["tools"] if t["name"].startswith(TOOL)]
    assert len(offered) == 1, "without the product the server offers one tool that says so"


@requirement("CL-10")
def test_a_prompt_survives_when_the_launcher_is_gone(world: World, checkout: Path):
    world.plugin = checkout
    (checkout / "hooks" / "launch.py").unlink()
    # Longer than a pipe holds: nobody reads it, and the client must not mind.
    prompt = "keep this prompt " + "x" * 100_000
    run = world.run(prompt)
    assert run.result.rc == 0 and len(run.bodies) == 1
    assert prompt in run.seen
    assert run.notices == []


@requirement("CL-10")
def test_a_bare_hook_line_would_have_erased_that_prompt(world: World):
    world.plugin = None
    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "python3 /gone.py"}]}]}
    run = world.run("keep this prompt", settings={"hooks": hooks})
    assert run.bodies == []
