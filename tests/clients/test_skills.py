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
