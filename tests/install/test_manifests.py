"""The repository's manifests: made from one table, of one version, of the forms that are read."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import mkg
from mkg.install import manifests
from mkg.install.clients import CLIENTS
from tests.support.requirement import requirement

ROOT = Path(__file__).resolve().parents[2]
MADE = manifests.manifests()


def load(name: str) -> dict:
    return json.loads((ROOT / name).read_text("utf-8"))


@requirement("CL-39")
@pytest.mark.parametrize("name", MADE)
def test_a_manifest_is_what_the_table_makes_of_it(name: str):
    told = "run: python -m mkg.install.manifests"
    assert (ROOT / name).read_text("utf-8") == manifests.text(MADE[name]), told


@requirement("CL-39", "MEM-T115")
def test_there_is_one_version():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    text = "".join((ROOT / name).read_text("utf-8") for name in MADE)
    versions = re.findall(r'"version": "([^"]+)"', text)
    assert set(versions) == {told, mkg.__version__} == {told}
    assert len(versions) == 5


@requirement("CL-37")
def test_the_codex_plugin_names_files_that_are_there_and_no_agent_plugins_manifest_hides_it():
    plugin = load(".codex-plugin/plugin.json")
    for key in ("hooks", "mcpServers"):
        assert plugin[key].startswith("./plugin/") and (ROOT / plugin[key]).is_file()
    (entry,) = load(".agents/plugins/marketplace.json")["plugins"]
    assert entry["source"] == {"source": "local", "path": "./"}
    assert not (ROOT / "plugin.json").exists() and not (ROOT / "mcp.json").exists()


@requirement("CL-14")
@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_plugins_hooks_are_the_events_of_the_table_in_the_shell_form(client: str):
    hooks = load(f"plugin/{client}/hooks.json")["hooks"]
    assert list(hooks) == list(CLIENTS[client].events)
    for event, groups in hooks.items():
        (hook,) = groups[0]["hooks"]
        assert set(hook) == {"type", "command", "timeout"} and len(groups) == 1
        assert hook["timeout"] == CLIENTS[client].events[event]
        assert hook["command"].endswith(f" {client} {event} || true")
        # A user's own shell runs the line in Codex, and fish knows no braces.
        assert client == "claude" or "${" not in hook["command"]


AGENT_KEYS = {"$schema", "name", "version", "description", "author", "homepage", "repository"}
AGENT_KEYS |= {"license", "keywords", "extensions"}


def test_the_agent_plugins_package_has_the_closed_set_of_keys():
    plugin, servers = load("plugin/agent/plugin.json"), load("plugin/agent/mcp.json")
    assert set(plugin) <= AGENT_KEYS and {"name", "version", "description"} <= set(plugin)
    assert set(servers) == {"$schema", "mcpServers"}
    (server,) = servers["mcpServers"].values()
    assert server["type"] == "stdio"
    assert re.fullmatch(r"[\w-]+", server["command"]), "one token, found on the PATH"


def test_the_gemini_extension_has_the_form_that_its_contract_tells():
    extension = load("gemini-extension.json")
    assert set(extension) == {"name", "version", "description", "mcpServers"}
    assert re.fullmatch(r"[a-z][a-z0-9-]*", extension["name"])
    (server,) = extension["mcpServers"].values()
    assert server["args"][2] == "${extensionPath}/hooks/launch.py"
    # An extension may not say that it is to be trusted.
    assert set(server) == {"command", "args"}


def test_nothing_of_a_plugin_is_written_below_its_root():
    text = "".join((ROOT / name).read_text("utf-8") for name in MADE)
    assert "PLUGIN_DATA" not in text and "MKG_HOME" not in text
