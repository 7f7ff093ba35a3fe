"""The plugin's skills in the real client: the user calls one, the model gets it and its tools."""

import pytest

from tests.clients.kit.stub_model import text_of
from tests.clients.test_memory_path import healthy, remembering
from tests.clients.world import World
from tests.features.test_review import whole
from tests.support.learned import put
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.live, pytest.mark.timeout(300)]
__all__ = ["remembering"]
MKG = "mcp__plugin_mkg_mkg__"


def texts(run) -> str:
    return "\n".join(text_of(m["content"]) for body in run.bodies for m in body["messages"])


@requirement("MEM-W77", "MEM-T216")
def test_the_review_skill_reaches_the_model_which_lists_and_proposes_and_decides_nothing(
    remembering: World, live
):
    put(live, "I prefer tabs over spaces.", scope="user", origin="mcp_write", user="ann")
    id = str(live.value("MATCH (l:Learning) RETURN l.id"))
    before = whole(live)
    remembering.env["MKG_USER_ID"] = "ann"
    asked = {"learning_id": id, "action": "approve"}
    rules = [
        {
            "when": {
                "step": 0,
                "any": "Review what the memory holds back",
                "offers": "review_queue",
            },
            "then": {"tools": [{"name": "project_review_queue", "input": {}}]},
        },
        {
            "when": {"step": 1, "offers": "resolve_learning"},
            "then": {"tools": [{"name": "project_resolve_learning", "input": asked}]},
        },
        {"then": {"text": "Proposed."}},
    ]
    allowed = (f"{MKG}project_review_queue", f"{MKG}project_resolve_learning")
    run = healthy(remembering.run("/mkg:mkg-review", rules, allowed=allowed))
    said = texts(run)
    assert "only the user may say whether they count" in said
    assert id in said and "mkg review --id" in said
    assert whole(live) == before


@requirement("MEM-W77")
def test_the_start_skill_shows_the_memory_and_records_what_the_user_states(
    remembering: World, live
):
    stated = "We release the shop with make launch-all and nothing else."
    added = {"text": stated, "scope": "project"}
    rules = [
        {
            "when": {"step": 0, "any": "First steps with the memory", "offers": "get_context"},
            "then": {"tools": [{"name": "project_get_context", "input": {}}]},
        },
        {
            "when": {"step": 1, "offers": "add_learning"},
            "then": {"tools": [{"name": "project_add_learning", "input": added}]},
        },
        {"then": {"text": "Recorded."}},
    ]
    allowed = (f"{MKG}project_get_context", f"{MKG}project_add_learning")
    run = healthy(remembering.run(f"/mkg:mkg-start {stated}", rules, allowed=allowed))
    said = texts(run)
    assert "project_get_context" in said and "Write nothing into the graph" in said
    remembering.drain()
    (row,) = live.rows("MATCH (l:Learning) RETURN l.text AS text, l.origin AS origin")
    # The user typed it; that an agent chose it is why it waits.
    assert row == {"text": stated, "origin": "user_typed"}
    assert '"status":"candidate"' in said and "inferred from what was said" in said
