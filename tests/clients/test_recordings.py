"""The recorded sessions: real-format payloads, free of the machine they were recorded on."""

import json
import re
from pathlib import Path

import pytest

from tests.clients.stories import STORIES, Story

ROOT = Path(__file__).resolve().parents[2]
HOOKED = set(json.loads((ROOT / "plugin/claude/hooks.json").read_text("utf-8"))["hooks"])
COMMON = {"session_id", "transcript_path", "cwd", "hook_event_name"}


def lines_of(story: Story) -> list[dict]:
    folder = "plugin/demo" if story.demo else "tests/fixtures/session_claude"
    text = (ROOT / folder / f"{story.name}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_recording_holds_whole_payloads_and_the_prompts_of_its_story(story: Story):
    lines = lines_of(story)
    for line in lines:
        assert set(line) == {"event", "payload"}
        assert line["payload"]["hook_event_name"] == line["event"]
        assert set(line["payload"]) >= COMMON
        assert line["payload"]["cwd"] == "{{CWD}}"
    prompts = [x["payload"]["prompt"] for x in lines if x["event"] == "UserPromptSubmit"]
    typed = [p for p in story.prompts if not p.startswith("/")]
    assert [p for p in prompts if p in typed] == typed
    if not story.later and story.name != "lifecycle":
        assert prompts == typed


def test_the_recordings_together_hold_every_event_that_the_plugin_listens_to():
    assert {line["event"] for story in STORIES for line in lines_of(story)} == HOOKED


def test_no_recording_names_the_machine_it_was_made_on():
    folders = (ROOT / "plugin/demo", ROOT / "tests/fixtures/session_claude")
    for path in (p for folder in folders for p in folder.glob("*.jsonl")):
        text = path.read_text("utf-8")
        assert "toolu_stub" not in text
        assert not re.search(r"/(root|Users|home/(?!dev\b)\w+)/", text), path.name
        assert not re.search(r"/tmp/tmp\w{8}", text), path.name
