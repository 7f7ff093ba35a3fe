"""The main job with the real client: what a person states comes back into a later prompt."""

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.clients.family import Draw
from tests.clients.kit.stub_model import parse
from tests.clients.stories import PLANTED
from tests.clients.world import Run, World
from tests.conftest import Server
from tests.support.proxy import Proxy
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.live, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "session_claude"
EVENTS_OF_A_PROMPT = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


@pytest.fixture
def remembering(world: World, live) -> World:
    """A user whose memory is the test server."""
    begin(world, live.server)
    return world


def begin(world: World, server: Server) -> None:
    """What a user does once: name the database, and run the product for the first time."""
    server.write_user_file(world.home)
    world.mkg("worker", "start")
    assert (world.state / "pointer").is_file()


def learned(live) -> list[str]:
    return [r["text"] for r in live.rows("MATCH (l:Learning) RETURN l.text AS text")]


def events_of(live, run: Run) -> list[dict]:
    """The stored events of one run's session, in the order of the graph's own chain."""
    return live.rows(
        "MATCH (e:SessionEvent {session_id: $id}) RETURN e.event_name AS name, e.seq AS seq, "
        "e.event_key AS key ORDER BY e.seq",
        id=run.result.lines[0]["session_id"],
    )


def injected(run: Run, event: str = "UserPromptSubmit") -> str:
    """The block that our plugin added at an event, as the model got it; "" when there is none."""
    text = run.context(event)
    block = re.search(r"<mkg-memory nonce=(\w+)>\n.*?\n</mkg-memory nonce=\1>", text, re.DOTALL)
    assert text == "" or block, "context without a block of ours"
    return block[0] if block else ""


def healthy(run: Run) -> Run:
    """The client ended well, asked the model, stopped once, and had no hook to complain about."""
    assert run.result.rc == 0 and not run.result.timed_out
    assert run.bodies
    assert len(run.result.find(subtype="hook_response", hook_event="Stop")) <= 1
    assert all(x["outcome"] == "success" for x in run.result.find(subtype="hook_response"))
    return run


@requirement("CL-01", "CL-17")
def test_what_was_stated_reaches_the_model_in_the_next_session_and_what_was_only_mused_does_not(
    remembering: World, live, said: Draw
):
    mused = healthy(remembering.run(said.near_miss))
    stated = healthy(remembering.run(said.statement))
    remembering.drain()
    for run in (mused, stated):
        assert [e["name"] for e in events_of(live, run)] == EVENTS_OF_A_PROMPT
    assert any(said.tool in text for text in learned(live))
    assert not any(said.missed in text for text in learned(live))

    later = healthy(remembering.ask(said.question))

    assert said.tool not in said.question
    assert said.tool in injected(later)
    assert said.missed not in injected(later)
    assert json.dumps(said.statement)[1:-1] in injected(later, "SessionStart"), "no recap"
    assert later.notices == []
    remembering.drain()
    (told,) = json.loads(remembering.mkg("log", "--last", "--json").stdout)["told"]
    assert (told["hook_event"], told["prompt"]) == ("UserPromptSubmit", said.question)
    assert [line["state"] for line in told["lines"] if said.tool in line["text"]] == ["confirmed"]


def test_a_tool_call_goes_through_the_server_of_the_plugin_and_its_result_reaches_the_model(
    remembering: World, said: Draw
):
    healthy(remembering.run(said.statement))
    remembering.drain()
    arguments = {"query": said.question}
    call = {"name": "project_get_context", "input": arguments}
    rules = [
        {"when": {"tool_result": "project"}, "then": {"text": "I see."}},
        {"when": {"offers": "project_get_context"}, "then": {"tools": [call]}},
        # A slow machine: the client asks its model before it has the tools of every server.
        {"times": 5, "then": {"tools": [{"name": "WaitForMcpServers", "input": {}}]}},
    ]

    run = healthy(remembering.run("Look into the memory first.", rules))

    assert said.tool in parse("anthropic", run.bodies[-1])["results"][-1]


@requirement("CL-08", "CL-16")
def test_without_the_database_nothing_changes_but_one_line_and_nothing_is_lost(
    world: World, live, said: Draw
):
    target = urlsplit(live.server.uri)
    switch = Proxy(target.hostname or "127.0.0.1", target.port or 7687)
    begin(world, replace(live.server, uri=f"bolt://127.0.0.1:{switch.port}"))

    world.plugin, plugin = None, world.plugin
    plain = healthy(world.run(said.statement))
    world.plugin = plugin
    away = [healthy(world.run(said.statement)), healthy(world.run("And one more thing."))]

    for run in away:
        assert len(run.bodies) == len(plain.bodies)
        assert len(run.notices) == 1 and len(run.notices[0].splitlines()) == 1
        assert "hook additional context" not in run.seen
    assert prompts(away[0]) == prompts(plain)
    assert learned(live) == []

    switch.open()
    try:
        world.drain()
        for run in away:
            stored = events_of(live, run)
            assert [e["name"] for e in stored] == EVENTS_OF_A_PROMPT
            assert [e["seq"] for e in stored] == [1, 2, 3, 4]
            assert len({e["key"] for e in stored}) == 4
        back = healthy(world.ask(said.question))
        assert said.tool in injected(back)
        assert back.notices == []
    finally:
        world.close()
        switch.close()


def prompts(run: Run) -> list[object]:
    """The user's messages of the first request, without what differs from run to run."""
    text = json.dumps([m for m in run.bodies[0]["messages"] if m["role"] == "user"])
    return json.loads(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text))


def test_the_first_prompt_finds_no_worker_and_a_server_that_has_just_started(
    world: World, said: Draw
):
    up = world.mkg("db", "up", timeout=150)
    assert up.returncode == 0, up.stderr
    try:
        assert list(world.state.rglob("*.sock")) == []
        first = healthy(world.run(said.statement))
        assert len(set(first.notices)) == len(first.notices)
        world.drain()
        assert said.tool in injected(healthy(world.ask(said.question)))
    finally:
        world.close()
        assert world.mkg("db", "down").returncode == 0


@requirement("CL-25", "SEC-20")
@pytest.mark.parametrize("story", ["lifecycle", "scheduled"])
def test_a_prompt_that_nobody_typed_is_not_taken_for_the_words_of_the_user(
    remembering: World, live, story: str
):
    # An inner agent's report, and a wake-up whose text the agent chose: the client submits both as
    # prompts, without a `source`. Only the transcript and the session's own tool calls tell.
    lines = recorded(remembering, story)
    replay(remembering, lines)
    stored = live.rows("MATCH (e:SessionEvent) RETURN e.event_name AS name")
    assert sorted(r["name"] for r in stored) == sorted(line["event"] for line in lines)
    assert not any("launchpad mirror" in text for text in injectable(live))

    typed = [line for line in lines if line["event"] in EVENTS_OF_A_PROMPT][:3]
    typed[1]["payload"]["prompt"] = PLANTED
    replay(remembering, [elsewhere(line) for line in typed])
    assert any("launchpad mirror" in text for text in injectable(live))


def injectable(live) -> list[str]:
    return [
        r["text"] for r in live.rows("MATCH (l:Learning {injectable: true}) RETURN l.text AS text")
    ]


def replay(world: World, lines: list[dict]) -> None:
    """Hand recorded events to the launcher, one after the other, until all are worked on."""
    for line in lines:
        done = world.hook(ROOT / "hooks" / "launch.py", line["event"], line["payload"])
        assert done.returncode == 0
    world.drain()


def elsewhere(line: dict) -> dict:
    """The same event in another session, with ids and a transcript path of its own."""
    payload = {**line["payload"], "session_id": "11111111-1111-4111-8111-111111111111"}
    payload.pop("transcript_path")
    if "prompt_id" in payload:
        payload["prompt_id"] = "22222222-2222-4222-8222-222222222222"
    return {**line, "payload": payload}


def recorded(world: World, story: str) -> list[dict]:
    """The events of a recorded session, and its transcript in the place that they name."""

    def here(name: str) -> str:
        text = (FIXTURES / name).read_text("utf-8")
        return text.replace("{{HOME}}", str(world.home)).replace("{{CWD}}", str(world.project))

    lines = [json.loads(line) for line in here(f"{story}.jsonl").splitlines()]
    transcript = Path(lines[0]["payload"]["transcript_path"])
    transcript.parent.mkdir(parents=True)
    transcript.write_text(here(f"transcript_{story}.jsonl"), "utf-8")
    return lines
