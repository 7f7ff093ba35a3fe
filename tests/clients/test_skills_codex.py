"""The plugin's skills in the real Codex: named in a prompt, they reach the model with the tools."""

from pathlib import Path

import pytest

from tests.clients.kit.stub_model import text_of
from tests.clients.test_install_codex import WAIT, CodexWorld, codex
from tests.features.test_review import whole
from tests.support.learned import put
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.live, pytest.mark.timeout(300)]
__all__ = ["codex"]
STATED = "We release the shop with make launch-all and nothing else."


@pytest.fixture
def remembering(codex: CodexWorld, checkout: Path, live) -> CodexWorld:
    """A user of Codex with the plugin, whose memory is the test server."""
    # Codex hands a server a few variables only: who it is stands in the user's file.
    file = live.server.write_user_file(codex.home)
    file.write_text(file.read_text("utf-8") + "MKG_USER_ID=ann\n", encoding="utf-8")
    codex.mkg("worker", "start")
    done = codex.codex("http://127.0.0.1:9").add_plugin(str(checkout), "mkg@meta-knowledge-graph")
    assert done.rc == 0, done.err
    return codex


def script(*calls: tuple[str, dict]) -> list[dict]:
    """A model that waits for the tools of the memory, then makes these calls in this order."""
    first = calls[0][0]
    return [
        *(
            {
                "times": 1,
                "when": {"offers": first},
                "then": {"tools": [{"name": n, "input": given}]},
            }
            for n, given in calls
        ),
        {"when": {"offers": first}, "then": {"text": "That is all."}},
        # Codex asks its model before it has the tools of every server: a turn that waits goes on.
        {"times": 12, **WAIT},
    ]


@requirement("MEM-W77", "MEM-T216")
def test_the_review_skill_reaches_the_model_which_lists_and_proposes_and_decides_nothing(
    remembering: CodexWorld, live
):
    put(live, "I prefer tabs over spaces.", scope="user", origin="mcp_write", user="ann")
    id = str(live.value("MATCH (l:Learning) RETURN l.id"))
    before = whole(live)
    asked = {"learning_id": id, "action": "approve"}
    rules = script(("project_review_queue", {}), ("project_resolve_learning", asked))

    result, bodies = remembering.say("$mkg:mkg-review", rules=rules)

    assert result.rc == 0, result.err
    said = text_of(bodies)
    assert "<name>mkg:mkg-review</name>" in said
    assert "only the user may say whether they count" in said
    assert id in text_of(bodies[-1]) and "mkg review --id" in text_of(bodies[-1])
    assert whole(live) == before


@requirement("MEM-W77")
def test_the_start_skill_shows_the_memory_and_records_what_the_user_states(
    remembering: CodexWorld, live
):
    added = {"text": STATED, "scope": "project"}
    rules = script(("project_get_context", {}), ("project_add_learning", added))

    result, bodies = remembering.say(f"$mkg:mkg-start {STATED}", rules=rules)

    assert result.rc == 0, result.err
    said = text_of(bodies)
    assert "<name>mkg:mkg-start</name>" in said and "# First steps with the memory" in said
    remembering.drain()
    (row,) = live.rows("MATCH (l:Learning) RETURN l.text AS text, l.origin AS origin")
    # The user typed it; that an agent chose it is why it waits.
    assert row == {"text": STATED, "origin": "user_typed"}
    answer = text_of(bodies[-1]).replace("\\", "")
    assert '"status":"candidate"' in answer and "inferred from what was said" in answer
