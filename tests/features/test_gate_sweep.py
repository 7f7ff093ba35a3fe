"""What waits is looked at again: oldest first, a few at a time, by one worker."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mkg.features import gate, learnings
from mkg.features.gate.rules import Rules
from mkg.features.gate.sweep import AGAIN, HOLD, REST, Swept, sweep
from mkg.llm import Failed
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.gating import SHOP, Scripted, candidate, edges, gated, state
from tests.support.requirement import requirement

OWNERS = [f"project:{SHOP}", "user:ann"]
NOW = datetime.now(UTC) + timedelta(days=2)
WAITING = {"screen": Failed("away")}


def swept(live: Live, rules: Rules | None = None, *, at: datetime = NOW) -> Swept:
    return sweep(
        live.run, minilm(), learnings.embed, owner_keys=OWNERS, rules=rules or Rules(), now=at
    )


def waits(live: Live, *texts: str, **more: Any) -> None:
    rules = Rules(model=Scripted(**WAITING))
    for text in texts:
        gated(live, [candidate(text, **more)], rules=rules, at=datetime.now(UTC))


def explicit(live: Live) -> None:
    """Give every learning an event in which it was stated in so many words."""
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning) CREATE (l)-[:EVIDENCED_BY {explicit: true, start: 0, end: 1,"
        " origin: 'user_typed'}]->(:SessionEvent {event_id: l.id, session_id: l.id})"
    )


@requirement("MEM-T039", "MEM-T035")
def test_what_a_model_left_open_is_settled_in_both_scopes(live: Live) -> None:
    waits(live, "The API listens on port 8080.")
    waits(live, "My editor is vim.", scope="user")
    explicit(live)
    assert {row["status"] for row in state(live).values()} == {"candidate"}
    assert swept(live, Rules(model=Scripted())) == Swept(2, 2)
    assert {row["status"] for row in state(live).values()} == {"approved"}


def test_it_takes_the_oldest_and_lets_the_next_come_first_afterwards(live: Live) -> None:
    texts = [f"The service {name} is written in Rust." for name in ("ant", "bee", "cat")]
    waits(live, *texts)
    explicit(live)
    looked: list[set[str]] = []
    for n in range(2):
        model = Scripted(**WAITING)
        swept(live, Rules(sweep=2, model=model), at=NOW + n * 2 * AGAIN)
        looked.append({t["text"] for t in model.asked[0][1]["texts"]})
    assert looked == [set(texts[:2]), {texts[2], texts[0]}]


@requirement("MEM-T041", "MEM-T042")
@pytest.mark.parametrize("rules", [Rules(on=False), Rules(sweep=0)])
def test_with_the_gate_off_or_no_limit_nothing_is_looked_at(live: Live, rules: Rules) -> None:
    waits(live, "The API listens on port 8080.")
    explicit(live)
    assert swept(live, rules) == Swept(0, 0)
    assert state(live)["The API listens on port 8080."]["status"] == "candidate"


@requirement("MEM-T043")
def test_without_a_model_nothing_passes_that_its_origin_holds(live: Live) -> None:
    gated(live, [candidate("Deploys run from the trunk.", origin="mcp_write")])
    gated(live, [candidate("Builds run on the blue machine.", origin="assistant_clean")])
    assert swept(live).moved == 0
    assert {row["status"] for row in state(live).values()} == {"candidate", "quarantined"}


def test_an_old_statement_that_waited_does_not_end_a_newer_one(live: Live) -> None:
    waits(live, "The API listens on port 8080.")
    explicit(live)
    gated(live, [candidate("The API listens on port 9090.")], at=datetime.now(UTC))
    swept(live)
    found = state(live)
    assert found["The API listens on port 9090."]["injectable"] is True
    assert found["The API listens on port 8080."]["injectable"] is False
    assert [edge[1] for edge in edges(live)] == ["SUPERSEDES"]


def test_a_missing_vector_is_made_and_kept(live: Live) -> None:
    waits(live, "The API listens on port 8080.")
    live.run.execute("CYPHER 25\nMATCH (l:Learning) SET l.embedding = null")
    swept(live, Rules(model=Scripted(**WAITING)))
    assert state(live)["The API listens on port 8080."]["vector"] is True


@requirement("MEM-W11")
def test_what_a_person_looked_at_is_left_alone(live: Live) -> None:
    waits(live, "The API listens on port 8080.")
    explicit(live)
    live.run.execute("CYPHER 25\nMATCH (l:Learning) SET l.reviewed_by = 'human'")
    assert swept(live) == Swept(0, 0)


def test_a_screen_that_has_become_stricter_blocks_what_waits(live: Live) -> None:
    waits(live, "The API listens on port 8080.")
    explicit(live)
    verdict = {"n": 1, "verdict": "block", "category": "other", "reason": "now refused"}
    assert swept(live, Rules(model=Scripted(screen={"verdicts": [verdict]}))).moved == 1
    found = state(live)["The API listens on port 8080."]
    assert (found["status"], found["live"], found["vector"]) == ("blocked", False, False)


def test_one_sweep_at_a_time_and_none_too_soon(live: Live) -> None:
    def take(at: datetime, owner: str) -> bool:
        return gate.sweep_turn(
            live.run,
            key="sweep:x",
            owner=owner,
            at=at.isoformat(),
            expires_at=(at + HOLD).isoformat(),
            rested=(at - REST).isoformat(),
        ).taken

    def done(at: datetime, owner: str) -> bool:
        made = gate.sweep_done(live.run, key="sweep:x", owner=owner, ids=[], at=at.isoformat())
        return made.released

    assert take(NOW, "a") is True
    assert take(NOW + REST, "b") is False
    assert done(NOW + REST, "b") is False
    assert done(NOW + timedelta(seconds=1), "a") is True
    assert take(NOW + timedelta(seconds=2), "b") is False
    assert take(NOW + REST, "b") is True
    # Whoever died with it is passed over, and may not give it back.
    assert take(NOW + REST + HOLD, "c") is True
    assert done(NOW + REST + HOLD, "b") is False
