"""What a person decides on a real server: every action, its traces, and taking it back exactly."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from mkg.errors import Refused
from mkg.features import learnings
from mkg.features.embedding import page
from mkg.features.gate import review
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.gate.review import ACTIONS, Action, By, Changed, Decided
from mkg.features.learnings import retrieval
from mkg.features.learnings.value_key import value_key
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.learned import SHOP, put
from tests.support.recipes import expand
from tests.support.requirement import requirement

OLD, NEW = "The API listens on port 8080.", "The API listens on port 9090."
OWNERS = [f"project:{SHOP}", "user:ann"]
# What history keeps of a decision that was taken back.
_HISTORY = frozenset({"touched", "decision_count", "embedding", "updated_at"})


def now() -> str:
    return datetime.now(UTC).isoformat()


def learned(live: Live, text: str, **how: Any) -> str:
    written = put(live, text, **how).upserted
    assert written is not None
    return written.id


def decide(live: Live, id: str, action: Action, **more: Any) -> Decided:
    found = review.decide(live.run, review.one(live.run, id), action, By("ann"), at=now(), **more)
    assert isinstance(found, Decided)
    return found


def conflict(live: Live, *, relation: str = "CONTRADICTS") -> tuple[str, str]:
    """A newer value beside an older one, as the gate leaves them."""
    old, new = learned(live, OLD), learned(live, NEW, origin="user_pasted")
    if relation == "CONTRADICTS":
        text = (
            "MATCH (n:Learning {id: $new}), (o:Learning {id: $old}) "
            "CALL (n, o) { MATCH (n)-[was]->(o) DELETE was RETURN count(*) AS gone } "
            "SET n.consistency_status = 'ambiguous', n.wait_reason = 'contradicts another' "
            "CREATE (n)-[:CONTRADICTS {reason: 'port', source: 'gate', at: datetime()}]->(o)"
        )
    else:
        text = (
            "MATCH (n:Learning {id: $new}), (o:Learning {id: $old}) "
            "CALL (n, o) { MATCH (n)-[was]->(o) DELETE was RETURN count(*) AS gone } "
            "SET n.status = 'approved', "
            "n.live = true, n.injectable = true, n.wait_reason = null, n.valid_from = datetime(), "
            "o.valid_until = n.valid_from, o.injectable = false CREATE (n)-[:SUPERSEDES "
            "{reason: 'newer', source: 'gate', confirmed: false, at: datetime()}]->(o)"
        )
    live.run.execute(f"CYPHER 25\n{text}", {"new": new, "old": old})
    return old, new


def told(live: Live, prompt: str) -> list[str]:
    query = retrieval.prepare(prompt, minilm())
    found = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=(), limit=5
    )
    return [hit.text for hit in found.hits]


def whole(live: Live) -> tuple[dict[str, Any], list[Any]]:
    """All learnings and all edges between them; a vector counts by being there while it is live."""
    rows = live.rows("MATCH (l:Learning) RETURN properties(l) AS p ORDER BY l.id")
    nodes: dict[str, Any] = {}
    for row in rows:
        held: dict[str, Any] = row["p"]  # type: ignore[assignment]
        nodes[held["id"]] = {k: v for k, v in held.items() if k not in _HISTORY}
        if held["live"]:
            nodes[held["id"]]["vector"] = held.get("embedding")
        else:
            nodes[held["id"]].pop("embedding_model", None)
    edges = live.rows(
        "MATCH (a:Learning)-[r]->(b:Learning|LearningVersion) "
        "RETURN a.id AS a, type(r) AS t, properties(r) AS p, b.id AS b ORDER BY a, t, b"
    )
    return nodes, edges


def mend(live: Live) -> None:
    by = (learnings.unembedded, learnings.embed)
    while page(live.run, minilm(), by, after="", limit=16) is not None:
        pass


@requirement("MEM-T164", "MEM-T203")
def test_an_approval_lets_a_waiting_line_reach_prompts_and_is_on_record(live: Live) -> None:
    id = learned(live, OLD, origin="mcp_write")
    assert told(live, "Which port does the API listen on?") == []
    found = decide(live, id, "approve")
    mend(live)
    assert told(live, "Which port does the API listen on?") == [OLD]
    assert (
        found.learning.status,
        found.learning.reviewed_by,
        found.learning.reviewed_by_user_id,
    ) == (
        "approved",
        "human",
        "ann",
    )
    assert live.rows(
        "MATCH (d:GateDecision)-[r:DECIDED]->(:Learning) WHERE d.by = 'human' "
        "RETURN d.rule AS rule, d.user_id AS who, r.status AS was, d.id AS id"
    ) == [{"rule": "approve", "who": "ann", "was": "quarantined", "id": found.decision}]


@requirement("MEM-T198", "MEM-W12", "MEM-W13")
def test_a_rejection_takes_the_vector_and_is_remembered_by_value(live: Live) -> None:
    id = learned(live, OLD)
    decide(live, id, "reject")
    (row,) = live.rows(
        "MATCH (l:Learning) RETURN l.status AS s, l.rejected_reason AS why, l.live AS live, "
        "l.injectable AS i, l.embedding AS e, l.rejected_at IS NOT NULL AS at"
    )
    assert row == {
        "s": "rejected",
        "why": "human_review",
        "live": False,
        "i": False,
        "e": None,
        "at": True,
    }
    again = put(live, OLD.upper()).upserted
    assert again is not None and (again.status, again.action) == ("rejected", "refused")
    assert live.value("MATCH (l:Learning) RETURN l.reproposed_count") == 1
    decide(live, id, "approve")
    mend(live)
    assert told(live, "Which port does the API listen on?") == [OLD]


@requirement("MEM-W20")
@pytest.mark.parametrize("relation", ["CONTRADICTS", "SUPERSEDES"])
def test_keeping_the_newer_retires_the_older_with_a_reason(live: Live, relation: str) -> None:
    old, new = conflict(live, relation=relation)
    live.run.execute(
        "CYPHER 25\nMATCH (o:Learning {id: $old}) CREATE (o)<-[:ALREADY_LEARNED_FROM "
        "{reason: 'same', at: datetime()}]-(:Learning {id: 'folded', status: 'already_learned', "
        "live: false, decision_count: 0, value_key: 'folded', text: 'x'})",
        {"old": old},
    )
    decide(live, new, "keep_new")
    mend(live)
    assert told(live, "Which port does the API listen on?") == [NEW]
    assert live.rows(
        "MATCH (n:Learning)-[s:SUPERSEDES]->(o:Learning) RETURN o.status AS status, "
        "o.rejected_reason AS why, o.embedding AS e, s.confirmed AS confirmed, s.source AS source, "
        "o.valid_until IS NOT NULL AS closed"
    ) == [
        {
            "status": "rejected",
            "why": f"human_superseded_by:{new}",
            "e": None,
            "confirmed": True,
            "source": "human_review",
            "closed": True,
        }
    ]
    assert live.value("MATCH ()-[c:CONTRADICTS]->() RETURN count(c)") == 0
    flagged = live.value("MATCH (l:Learning {id: 'folded'}) RETURN l.revision_reason")
    assert flagged == f"source_rejected:{old}"


@pytest.mark.parametrize("relation", ["CONTRADICTS", "SUPERSEDES"])
def test_keeping_the_older_rejects_the_newer_and_opens_what_it_closed(
    live: Live, relation: str
) -> None:
    old, new = conflict(live, relation=relation)
    decide(live, new, "keep_existing")
    assert told(live, "Which port does the API listen on?") == [OLD]
    assert live.rows(
        "MATCH (n:Learning)-[b:CONTRADICTED_BY]->(o:Learning) RETURN n.id AS n, o.id AS o, "
        "n.rejected_reason AS why, b.source AS source"
    ) == [{"n": new, "o": old, "why": "human_kept_existing", "source": "human_review"}]
    assert live.value("MATCH ()-[s:SUPERSEDES|CONTRADICTS]->() RETURN count(s)") == 0


@pytest.mark.parametrize("relation", ["CONTRADICTS", "SUPERSEDES"])
def test_keeping_both_tells_both(live: Live, relation: str) -> None:
    _, new = conflict(live, relation=relation)
    decide(live, new, "keep_both")
    assert sorted(told(live, "Which port does the API listen on?")) == [OLD, NEW]
    assert review.queue(live.run, owner_keys=OWNERS, id=None, limit=9) == []


def test_only_the_named_conflict_is_decided(live: Live) -> None:
    old, new = conflict(live)
    third = learned(live, "The API listens on port 7070.")
    live.run.execute(
        "CYPHER 25\nMATCH (n:Learning {id: $new}), (o:Learning {id: $o}) "
        "CREATE (n)-[:CONTRADICTS {reason: 'x', source: 'gate', at: datetime()}]->(o)",
        {"new": new, "o": third},
    )
    decide(live, new, "keep_new", conflict_id=old)
    states = live.rows("MATCH (l:Learning) RETURN l.id AS id, l.status AS s ORDER BY id")
    assert {row["id"]: row["s"] for row in states} == {
        old: "rejected",
        new: "approved",
        third: "approved",
    }


@requirement("MEM-W29", "MEM-W30", "B103")
def test_an_edit_keeps_the_former_text_and_the_former_text_comes_back_beside_it(live: Live) -> None:
    id = learned(live, OLD, origin="user_pasted")
    decide(live, id, "edit_approve", text=NEW)
    mend(live)
    assert told(live, "Which port does the API listen on?") == [NEW]
    assert live.value("MATCH (:Learning)-[:HAS_VERSION]->(v) RETURN v.text") == OLD
    # The id is made of the first text: saying that again must neither fail nor overwrite the edit.
    again = put(live, OLD, origin="user_pasted").upserted
    assert again is not None and again.id != id and again.status == "candidate"
    assert told(live, "Which port does the API listen on?") == [NEW]


def test_an_edit_is_found_again_by_its_new_words_and_undone_by_its_old_ones(live: Live) -> None:
    id = learned(live, OLD, origin="user_pasted")
    keys = "MATCH (l:Learning {id: $id}) RETURN [l.value_key, l.frame_key, l.words_key]"
    before = live.value(keys, id=id)
    done = decide(live, id, "edit_approve", text="The worker listens on port 7000.")
    edited = live.value(keys, id=id)
    owner = str(live.value("MATCH (l:Learning {id: $id}) RETURN l.owner_key", id=id))
    new = "The worker listens on port 7000."
    wanted = [value_key(owner, new), frame_key(owner, new), words_key(owner, new)]
    assert edited == wanted and edited != before
    review.take_back(live.run, done.decision, at=now())
    assert live.value(keys, id=id) == before


def test_a_secret_in_an_edit_is_not_kept(live: Live) -> None:
    id = learned(live, OLD, origin="user_pasted")
    token = expand("ghp_{AN36}", 3)
    decide(live, id, "edit_approve", text=f"The API takes {token} on port 7000.")
    text = str(live.value("MATCH (l:Learning {id: $id}) RETURN l.text", id=id))
    assert token not in text and "[REDACTED:github-pat]" in text


def test_an_edit_into_what_another_learning_says_is_refused_and_changes_nothing(live: Live) -> None:
    learned(live, NEW)
    id = learned(live, OLD, origin="user_pasted")
    before = whole(live)
    with pytest.raises(Refused, match="says this already"):
        decide(live, id, "edit_approve", text=NEW)
    assert whole(live) == before


@requirement("MEM-W11", "MEM-T201")
@pytest.mark.parametrize("action", ["approve", "reject"])
def test_nothing_automated_overturns_a_decision(live: Live, action: Action) -> None:
    id = learned(live, OLD, origin="mcp_write")
    decide(live, id, action)
    kept = live.rows(
        "MATCH (l:Learning) RETURN l.status AS s, l.reviewed_at AS at, l.injectable AS i"
    )
    for origin in ("user_typed", "tool", "mcp_write"):
        put(live, OLD, origin=origin)
    assert kept == live.rows(
        "MATCH (l:Learning) RETURN l.status AS s, l.reviewed_at AS at, l.injectable AS i"
    )


def test_a_decision_on_what_was_decided_meanwhile_changes_nothing(live: Live) -> None:
    id = learned(live, OLD, origin="mcp_write")
    seen = review.one(live.run, id)
    decide(live, id, "reject")
    before = whole(live)
    late = review.decide(live.run, seen, "approve", By("bob"), at=now())
    assert late == Changed()
    assert whole(live) == before


@requirement("MEM-T158")
def test_the_queue_shows_both_sides_of_a_conflict_with_quotes_and_why(live: Live) -> None:
    old, new = conflict(live)
    fact = learned(live, "I prefer short answers.", scope="user", origin="mcp_write")
    learned(live, "Another project's line.", origin="tool", project="host/acme/other")
    items = review.queue(live.run, owner_keys=OWNERS, id=None, limit=9)
    assert [(item.id, item.reason) for item in items] == [
        (new, "ambiguous_contradiction"),
        (fact, "user_scoped_candidate"),
    ]
    (other,) = items[0].conflicts
    assert (other["id"], other["text"], other["judge_reason"]) == (old, OLD, "port")
    size = review.queue_size(live.run, owner_keys=OWNERS, project_id=SHOP)
    assert (size.waiting, size.blocked) == (2, 0)
    decide(live, new, "keep_new")
    assert review.queue_size(live.run, owner_keys=OWNERS, project_id=SHOP).waiting == 1


@requirement("MEM-T134")
def test_withheld_texts_are_counted_for_seven_days(live: Live) -> None:
    for day in (1, 6, 8):
        live.run.execute(
            "CYPHER 25\nCREATE (:GateDecision {id: $id, to: 'blocked', project_id: $p, "
            "at: datetime() - duration({days: $day})})",
            {"id": f"b{day}", "p": SHOP, "day": day},
        )
    assert review.queue_size(live.run, owner_keys=OWNERS, project_id=SHOP).blocked == 2


@requirement("MEM-W36")
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("relation", ["CONTRADICTS", "SUPERSEDES", "none"])
def test_a_decision_and_its_undo_leave_everything_as_it_was(
    live: Live, action: Action, relation: str
) -> None:
    if relation == "none":
        id = learned(live, OLD, origin="user_pasted")
    else:
        _, id = conflict(live, relation=relation)
    before = whole(live)
    found = decide(live, id, action, text="The API listens on port 6060.")
    assert whole(live) != before
    review.take_back(live.run, found.decision, at=now())
    mend(live)
    assert whole(live) == before
    with pytest.raises(Refused, match="cannot be taken back"):
        review.take_back(live.run, found.decision, at=now())


def test_any_run_of_decisions_taken_back_in_turn_leaves_everything_as_it_was(live: Live) -> None:
    draw = random.Random(7)
    for round_ in range(3):
        live.run.execute(
            "CYPHER 25\nMATCH (n:Learning|GateDecision|LearningVersion) DETACH DELETE n"
        )
        _, first = conflict(live, relation=draw.choice(["CONTRADICTS", "SUPERSEDES"]))
        ids = [first, learned(live, "Releases are cut from trunk.", origin="tool")]
        mend(live)
        states, made = [whole(live)], list[str]()
        for step in range(6):
            id = draw.choice([*ids, review.one(live.run, first).id])
            text = f"Wording {round_} {step} about port {step}."
            made.append(decide(live, id, draw.choice(ACTIONS), text=text).decision)
            mend(live)
            states.append(whole(live))
        for decision in reversed(made):
            assert whole(live) == states.pop()
            if len(made) > 1 and decision != made[0]:
                _blocked_by_a_later_one(live, made[0])
            review.take_back(live.run, decision, at=now())
            mend(live)
        assert whole(live) == states.pop()


def _blocked_by_a_later_one(live: Live, first: str) -> None:
    """The oldest decision cannot be taken back while a later one about the same thing stands."""
    later = live.value(
        "MATCH (:GateDecision {id: $id})-[r:DECIDED]->()<-[x:DECIDED]-(d) "
        "WHERE d.undone_at IS NULL AND x.no > r.no RETURN count(*)",
        id=first,
    )
    if later:
        with pytest.raises(Refused):
            review.take_back(live.run, first, at=now())
