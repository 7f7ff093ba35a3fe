"""The main job in the other real clients: what is stated in one session is told in the next."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mkg.json_shape import as_array
from tests.clients import more_clients
from tests.clients.family import Draw
from tests.clients.kit import clients
from tests.clients.kit.stub_model import text_of
from tests.clients.more_stub import GeminiStub
from tests.clients.programs import client_program
from tests.clients.world import World
from tests.conftest import Live, shared_cache
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.live, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
LAUNCH = f'python3 -I -S "{ROOT}/hooks/launch.py"'
SERVER = {
    "command": "python3",
    "args": ["-I", "-S", str(ROOT / "hooks" / "launch.py"), "mcp", "memory"],
}
EVENTS = {
    "codex": (
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ),
    "gemini": (
        "SessionStart",
        "BeforeAgent",
        "BeforeTool",
        "AfterTool",
        "AfterAgent",
        "SessionEnd",
    ),
    "copilot": (
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
        *("Stop", "SessionEnd"),
    ),
}
OF_A_PROMPT = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
# Whether the client's own record shows what it put before its model.
RECEIPT = {"codex": "confirmed", "gemini": "unknown", "copilot": "confirmed"}
OK: list[dict[str, Any]] = [{"then": {"text": "All right."}}]


@pytest.fixture
def user(live: Live, tmp_path: Path) -> Iterator[World]:
    """A user whose memory is the test server and whose worker runs."""
    made = World(program="-", folder=tmp_path, plugin=ROOT, cache=shared_cache())
    live.server.write_user_file(made.home)
    made.mkg("worker", "start")
    yield made
    made.close()


def seat(client: str, user: World, url: str) -> Any:
    """The client of this user, with our hooks and, where it is Codex, our server."""
    path, home, env = client_program(client), str(user.home), {"MKG_CACHE": str(user.cache)}
    options: dict[str, Any] = {"cwd": str(user.project), "env": env}
    if client == "codex":
        table = clients.hook_table(EVENTS["codex"], f"{LAUNCH} codex {{event}}")
        return clients.Codex(path, home, url, hooks=table, mcp_servers={"mkg": SERVER}, **options)
    hooks = {event: f"{LAUNCH} {client} {event}" for event in EVENTS[client]}
    made = {"gemini": more_clients.Gemini, "copilot": more_clients.Copilot}[client]
    return made(path, home, url, hooks=hooks, **options)


def for_prompt(bodies: list[Any]) -> str:
    """What we told the model for a prompt, escaped by the client or not; no recap of a start."""
    seen = text_of(bodies).replace("&lt;", "<").replace("&gt;", ">")
    found = re.findall(r"<mkg-memory nonce=(\w+)>\n(.*?)\n</mkg-memory nonce=\1>", seen, re.DOTALL)
    return "\n".join(block for _, block in found if "For this prompt" in block)


def sessions(live: Live, client: str) -> list[list[str]]:
    rows = live.rows(
        "MATCH (s:Session {client: $c})-[:HAS_EVENT]->(e) WITH s, e ORDER BY e.seq "
        "RETURN s.created_at AS at, collect(e.event_name) AS names ORDER BY at",
        c=client,
    )
    found = [[str(name) for name in as_array(row["names"])] for row in rows]
    if client == "copilot":
        # It does not wait for the hook of the start: that of the prompt may be the first to arrive.
        both = {*OF_A_PROMPT[:2]}
        return [OF_A_PROMPT[:2] + names[2:] if {*names[:2]} == both else names for names in found]
    return found


@requirement("CL-01", "CL-29")
@pytest.mark.parametrize("client", ["codex", "gemini", "copilot"])
def test_what_was_stated_in_one_session_is_told_in_the_next(
    client: str, user: World, live: Live, said: Draw
):
    with GeminiStub(OK) as stub:
        agent = seat(client, user, stub.url)
        stated = agent.run(said.statement)
        assert stated.rc == 0 and said.statement in text_of(stub.bodies()), stated.err
        user.drain()
        assert sessions(live, client) == [OF_A_PROMPT]
        learned = live.rows("MATCH (l:Learning) RETURN l.text AS t, l.status AS s")
        assert [row["s"] for row in learned] == ["approved"] and said.tool in str(learned)
        for _ in range(3):  # a slow machine: the memory has two seconds
            before = len(stub.bodies())
            asked = agent.run(said.question)
            assert asked.rc == 0 and len(stub.bodies()) > before
            if said.tool in for_prompt(stub.bodies()[before:]):
                break
        assert said.tool in for_prompt(stub.bodies()[before:])
    user.drain()
    assert sessions(live, client)[-1] == OF_A_PROMPT
    prompts = live.rows("MATCH (e:SessionEvent) WHERE e.prompt IS NOT NULL RETURN e.prompt AS p")
    assert {row["p"] for row in prompts} == {said.statement, said.question}
    answers = live.rows(
        "MATCH (e:SessionEvent {event_name: 'Stop'}) RETURN e.last_assistant_message AS said"
    )
    assert answers == [{"said": "All right."}] * len(answers)
    (told,) = json.loads(user.mkg("log", "--last", "--json").stdout)["told"]
    assert [line["state"] for line in told["lines"]] == [RECEIPT[client]]
