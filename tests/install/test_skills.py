"""The skills that the plugins bring: they name what exists, and let nobody decide but the user."""

import re
from pathlib import Path

import pytest
import typer.main

from mkg.cli import app
from mkg.features.gate.review import ACTIONS
from mkg.install.manifests import SKILLS, manifests
from mkg.server.memory import TOOLS
from tests.support.requirement import requirement

ROOT = Path(__file__).resolve().parents[2]
FOUND = sorted((ROOT / SKILLS).glob("*/SKILL.md"))
NAMES = {tool.name for tool in TOOLS}


def wrong_names(text: str) -> list[str]:
    """What a skill calls a tool or a command and is none."""
    commands = set(getattr(typer.main.get_command(app), "commands", {}))
    spans = re.findall(r"`([^`\n]+)`", text)
    tools = [s for s in spans if re.fullmatch(r"(?:project|episode|neo4j|skill)_\w+", s)]
    run = [s.split()[1] for s in spans if s.startswith("mkg ")]
    return [t for t in tools if t not in NAMES] + [c for c in run if c not in commands]


@requirement("MEM-W77")
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.parent.name)
def test_a_skill_names_only_tools_and_commands_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert wrong_names(text) == []
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: (.+)\n---\n", text)
    assert head is not None and head[1] == path.parent.name and len(head[2]) <= 1024


def test_a_tool_or_a_command_that_is_none_is_found() -> None:
    assert wrong_names("`project_forget` and `mkg dream`") == ["project_forget", "dream"]
    assert wrong_names("`project_get_context`, `mkg why ID`, `keep_new`") == []


def test_both_plugins_bring_the_same_skills() -> None:
    assert [path.parent.name for path in FOUND] == ["mkg-review", "mkg-start"]
    made = manifests()
    for name in (".claude-plugin/plugin.json", ".codex-plugin/plugin.json"):
        assert made[name]["skills"] == SKILLS


def test_the_review_skill_maps_every_action() -> None:
    text = (ROOT / SKILLS / "mkg-review" / "SKILL.md").read_text(encoding="utf-8")
    assert [action for action in ACTIONS if f"`{action}`" not in text] == []
