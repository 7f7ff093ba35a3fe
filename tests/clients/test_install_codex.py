"""Codex with the memory registered: its own marketplace commands, and `mkg install`."""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clients.kit import clients
from tests.clients.kit.stub_model import StubModel, text_of
from tests.clients.programs import client_program
from tests.clients.world import OK, World
from tests.conftest import shared_cache
from tests.support.requirement import requirement

pytestmark = pytest.mark.clients
ROOT = Path(__file__).resolve().parents[2]
VERSION = json.loads((ROOT / ".codex-plugin" / "plugin.json").read_text("utf-8"))["version"]
# The server is not required, so the first requests may be without its tools: the turn goes on.
WAIT = {"then": {"tools": [{"name": "exec_command", "input": {"cmd": "sleep 2"}}]}}
RULES = [
    {"when": {"offers": "mcp__mkg"}, "then": {"text": "All right."}},
    *({"when": {"step": step}, **WAIT} for step in range(12)),
    {"then": {"text": "No tools."}},
]


@dataclass(slots=True)
class CodexWorld(World):
    """A user of Codex."""

    def codex(self, url: str) -> clients.Codex:
        return clients.Codex(
            self.program,
            str(self.home),
            url,
            cwd=str(self.project),
            env={"MKG_CACHE": str(self.cache), "SHELL": "/bin/bash", **self.env},
        )

    def say(
        self, prompt: str, toml: str = "", rules: list[dict] = RULES
    ) -> tuple[clients.Result, list[dict]]:
        """One prompt, with what a person has in config.toml kept."""
        config = self.home / ".codex" / "config.toml"
        kept = config.read_text("utf-8") if config.exists() else ""
        with StubModel(rules) as stub:
            made = self.codex(stub.url)
            own = kept[kept.index("[mcp_servers.mkg]") :] if "[mcp_servers.mkg]" in kept else ""
            market = kept[kept.index("[marketplaces") :] if "[marketplaces" in kept else ""
            config.write_text(config.read_text("utf-8") + toml + own + market, encoding="utf-8")
            return made.run(prompt), stub.bodies()

    def heard(self) -> int:
        """How many events wait: no store runs here, so none has left."""
        status = self.mkg("worker", "status", "--json")
        return json.loads(status.stdout)["queue"]


def offered(bodies: list[dict]) -> list[str]:
    """The namespaces of tools in the last request."""
    return [tool["name"] for tool in bodies[-1]["tools"] if tool.get("type") == "namespace"]


def tree_of(folder: Path) -> set[Path]:
    """Every file, without the bytecode that Python keeps."""
    return {p for p in folder.rglob("*") if "__pycache__" not in p.parts}


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[CodexWorld]:
    program = client_program("codex")
    made = CodexWorld(program=program, folder=tmp_path, plugin=None, cache=shared_cache())
    made.project.mkdir()
    made.codex("http://127.0.0.1:9")
    yield made
    made.close()


@requirement("CL-37", "CL-40", "MEM-W79")
def test_a_marketplace_install_brings_hooks_and_server(codex: CodexWorld, checkout: Path):
    assert codex.mkg("config").returncode == 0
    done = codex.codex("http://127.0.0.1:9").add_plugin(str(checkout), "mkg@meta-knowledge-graph")
    assert done.rc == 0, done.err
    copy = codex.home / ".codex/plugins/cache/meta-knowledge-graph/mkg" / VERSION
    assert (copy / "hooks" / "launch.py").is_file()

    delivered = tree_of(copy)
    result, bodies = codex.say("hello there")

    assert result.rc == 0 and "hello there" in text_of(bodies[0])
    assert "mcp__mkg" in offered(bodies)
    # Start, prompt, stop and end, and a tool before and after while the server was awaited.
    assert codex.heard() >= 4
    assert tree_of(copy) == delivered


def test_the_agent_plugins_package_brings_the_server(codex: CodexWorld, tmp_path: Path):
    market = tmp_path / "market"
    shutil.copytree(ROOT / "plugin" / "agent", market / "agent")
    entry = {"name": "mkg", "source": {"source": "local", "path": "./agent"}, "category": "x"}
    entry["policy"] = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    (market / ".agents" / "plugins").mkdir(parents=True)
    (market / ".agents" / "plugins" / "marketplace.json").write_text(
        json.dumps({"name": "m", "interface": {"displayName": "m"}, "plugins": [entry]})
    )
    codex.env["PATH"] = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = codex.codex("http://127.0.0.1:9").add_plugin(str(market), "mkg@m")
    assert done.rc == 0, done.err
    result, bodies = codex.say("hello there")
    assert result.rc == 0 and "mcp__mkg" in offered(bodies)


@requirement("CL-10", "CL-35")
@pytest.mark.parametrize("scope", ["user", "project"])
def test_an_installation_works_and_its_remains_do_no_harm(scope: str, codex: CodexWorld):
    trusted = f'\n[projects."{codex.project}"]\ntrust_level = "trusted"\n'
    done = codex.mkg("install", "codex", "--scope", scope, "--yes")
    assert done.returncode == 0, done.stderr
    result, bodies = codex.say("hello there", trusted)
    assert result.rc == 0 and "mcp__mkg" in offered(bodies)
    assert codex.heard() >= 4

    codex.mkg("worker", "stop")
    codex.state.rename(codex.folder / "removed")
    # A Stop that ends in 2 would make this run go on without end.
    result, bodies = codex.say("keep this prompt", trusted, OK)
    assert result.rc == 0 and not result.timed_out and len(bodies) == 1
    assert "keep this prompt" in text_of(bodies[0])
    assert "mcp__mkg" not in offered(bodies)
    (codex.folder / "removed").rename(codex.state)


def test_a_required_server_would_keep_codex_from_starting(codex: CodexWorld):
    codex.mkg("install", "codex", "--yes")
    config = codex.home / ".codex" / "config.toml"
    text = config.read_text("utf-8")
    config.write_text(text.replace("startup_timeout", "required = true\nstartup_timeout"))
    codex.state.rename(codex.folder / "removed")
    result, bodies = codex.say("hello", rules=OK)
    assert result.rc != 0 and bodies == []
    (codex.folder / "removed").rename(codex.state)
