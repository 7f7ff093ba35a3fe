"""The interactive Claude Code on a pseudo terminal: /clear, /compact, the permission dialog, /exit.

What only this client does: one process lives through several sessions and epochs and asks a person.
Evidence is the scripted model's request log and the graph. Source: clients 1 and 2, CONTRACTS.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.clients.family import Draw
from tests.clients.kit.clients import Terminal
from tests.clients.kit.stub_model import StubModel, parse, text_of
from tests.clients.test_memory_path import begin
from tests.clients.world import TOOL, World
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.live, pytest.mark.timeout(300)]
SLOW = 60
ENDED = ("clear", "prompt_input_exit")


class Sitting:
    """One person at the terminal: types, and waits for what the store then holds."""

    def __init__(self, world: World, live: Any, stub: StubModel):
        self.live = live
        self.stub = stub
        # The client's own default lets a model decide on permissions; a person does here.
        asking = ("--permission-mode", "default")
        self.terminal: Terminal = world.client(stub.url).interactive(
            plugin_dir=str(world.plugin), allowed=(TOOL,), args=asking
        )

    def events(self, name: str) -> list[dict[str, Any]]:
        """Stored events of one name, in the order in which they came."""
        return self.live.rows(
            "MATCH (e:SessionEvent {event_name: $name}) RETURN e.session_id AS session, "
            "e.source AS source, e.tool_name AS tool, e.tool_use_id AS use "
            "ORDER BY e.timestamp, e.seq",
            name=name,
        )

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Read the terminal until something holds."""
        came = self.terminal.wait(condition, timeout=SLOW)
        assert came, f"{what} did not come\n{self.terminal.text[-2000:]!r}"

    def type(self, text: str, name: str, times: int) -> None:
        """Type a line; wait until so many events of a name are stored."""
        self.terminal.type(text)
        self.until(lambda: len(self.events(name)) >= times, f"{name} #{times} after {text!r}")
        # The prompt is drawn again a moment after the last hook.
        self.terminal.pump(1.5)

    def told(self, question: str, word: str) -> int:
        """How many contexts of prompts in the newest request that asks this hold the word."""
        asked = [b for b in self.stub.bodies() if question in text_of(b["messages"])]
        texts = [text_of(m["content"]) for m in asked[-1]["messages"]]
        label = "UserPromptSubmit hook additional context: "
        return sum(word in part for text in texts for part in text.split(label)[1:])

    def ask(self, question: str, word: str) -> int:
        """Ask until the memory answered, for a slow machine may miss the two seconds it has."""
        for _ in range(4):
            self.type(question, "Stop", len(self.events("Stop")) + 1)
            if found := self.told(question, word):
                return found
        return 0

    def leave(self) -> int:
        """Type /exit; the client's exit code."""
        self.terminal.type("/exit")
        return self.terminal.close(timeout=SLOW)


@requirement("CL-01", "MEM-T207", "MEM-W39")
def test_clear_and_compact_begin_an_epoch_in_which_the_line_is_told_again(
    world: World, live: Any, said: Draw
) -> None:
    begin(world, live.server)
    assert world.run(said.statement).result.rc == 0
    world.drain()
    with StubModel([{"then": {"text": "All right."}}]) as stub:
        sitting = Sitting(world, live, stub)
        sitting.until(lambda: len(sitting.events("SessionStart")) == 2, "the start")
        sitting.terminal.pump(2)
        assert sitting.ask(said.question, said.tool) == 1
        assert sitting.ask(said.question, said.tool) == 1, "a line was told twice in one epoch"
        sitting.type("/clear", "SessionStart", 3)
        assert sitting.ask(said.question, said.tool) == 1, "a cleared session was not told"
        sitting.type("/compact", "SessionStart", 4)
        assert sitting.ask(said.question, said.tool) == 1, "a compacted session was not told"
        assert sitting.leave() == 0
    world.drain()
    starts = sitting.events("SessionStart")
    assert [s["source"] for s in starts][1:] == ["startup", "clear", "compact"]
    assert starts[1]["session"] != starts[2]["session"] == starts[3]["session"]
    assert {e["source"] for e in sitting.events("SessionEnd")} >= set(ENDED)


@requirement("CL-33")
def test_a_tool_call_after_clear_belongs_to_the_new_session(
    world: World, live: Any, said: Draw
) -> None:
    begin(world, live.server)
    call = {"name": "project_add_learning", "input": {"text": said.statement}}
    rules = [
        {"when": {"tool_result": "."}, "then": {"text": "Kept."}},
        {"when": {"user": "Keep it", "offers": "project_add_learning"}, "then": {"tools": [call]}},
        {"when": {"user": "Keep it"}, "then": {"text": "No such tool yet."}},
        {"then": {"text": "All right."}},
    ]
    with StubModel(rules) as stub:
        sitting = Sitting(world, live, stub)
        sitting.until(lambda: len(sitting.events("SessionStart")) == 1, "the start")
        sitting.terminal.pump(3)
        sitting.type("Hello there.", "Stop", 1)
        sitting.type("/clear", "SessionStart", 2)
        # This client does not wait for its servers: ask again until the tool was there.
        for number in range(2, 8):
            sitting.type("Keep it, please.", "Stop", number)
            if sitting.events("PostToolUse"):
                break
        assert sitting.leave() == 0
    world.drain()
    new = sitting.events("SessionStart")[1]["session"]
    assert parse("anthropic", stub.bodies()[-1])["results"], "the tool gave no result"
    assert live.rows(
        "MATCH (l:Learning {origin: 'mcp_write'})-[:FROM_SESSION]->(s) RETURN s.session_id AS id"
    ) == [{"id": new}]


@requirement("CL-01")
@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_permission_dialog_is_the_persons_own_and_nothing_answers_for_them(
    world: World, live: Any, answer: str
) -> None:
    begin(world, live.server)
    command = {"name": "Bash", "input": {"command": "touch made-by-hand", "description": "make it"}}
    rules = [
        {"when": {"tool_result": "."}, "then": {"text": "Done."}},
        {"when": {"user": "Make the file"}, "then": {"tools": [command]}},
        {"then": {"text": "All right."}},
    ]
    made = world.project / "made-by-hand"
    with StubModel(rules) as stub:
        sitting = Sitting(world, live, stub)
        sitting.until(lambda: len(sitting.events("SessionStart")) == 1, "the start")
        sitting.terminal.pump(2)
        sitting.terminal.type("Make the file, please.")
        sitting.until(lambda: dialog(sitting.terminal.text), "the dialog")
        sitting.until(lambda: len(sitting.events("PreToolUse")) == 1, "PreToolUse")
        sitting.terminal.pump(3)
        assert not made.exists() and not sitting.events("PostToolUse")
        if answer == "yes":
            sitting.terminal.type("")
            sitting.until(made.exists, "the file")
            sitting.until(lambda: len(sitting.events("Stop")) == 1, "Stop")
        else:
            sitting.terminal.type("\x1b")
            sitting.terminal.pump(3)
        assert made.exists() == (answer == "yes")
        sitting.leave()
    world.drain()
    (asked,) = sitting.events("PreToolUse")
    done = sitting.events("PostToolUse")
    assert [d["use"] for d in done] == ([asked["use"]] if answer == "yes" else [])


def dialog(screen: bytes) -> bool:
    """Whether the client asks for permission: its numbered answers stand on the screen."""
    plain = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", screen)
    return b"1." in plain and re.search(rb"Yes", plain) is not None and b"No" in plain
