"""Forgetting in batches while its session goes on."""

from typing import Any

import neo4j

from mkg.bundle import load_bundle
from mkg.features import forget
from mkg.features.forget import act
from mkg.features.forget.select import Selector, select
from tests.conftest import Live
from tests.features.test_forget import FACT, OTHER, holding, whole
from tests.support.embedding import minilm
from tests.support.learned import say
from tests.support.requirement import requirement


@requirement("SEC-86")
def test_an_event_that_comes_between_two_batches_of_a_cut_session_is_read(live: Live) -> None:
    """The watermark follows the end of the chain down, or the new event would count as read."""
    say(live, FACT, session="s1")
    say(live, FACT, session="s1", second=10)
    selector = Selector("session", "s1")
    id = act.begin(live.run, selector, select(live.run, selector), refuse="person")
    while forget.erase_session(live.run, id=id, limit=500, at="2026-11-30T00:00:00Z"):
        pass
    assert live.value("MATCH (s:Session) RETURN s.processed_seq") == 4
    assert forget.trim(live.run, id=id, limit=2) == forget.Trimmed("s1", gone=False)
    assert live.rows("MATCH (s:Session) RETURN s.event_count AS n, s.processed_seq AS read") == [
        {"n": 2, "read": 2}
    ]
    assert len(say(live, OTHER, session="s1", second=30).approved) == 1
    act.resume(live.run, minilm(), id)
    assert live.value("MATCH (s:Session) RETURN s.processed_seq") == 4
    assert holding(live) == {}
    whole(live)


def test_what_the_counts_of_a_project_take_grows_with_it_and_not_with_its_square(
    live: Live,
) -> None:
    """Counting ten thousand learnings once took more than a transaction may have."""
    text = load_bundle().queries["forget.plan"].text
    # What the driver tells of a plan has no types.
    graph: Any = neo4j.GraphDatabase
    taken: list[int] = []
    auth = (live.server.username, live.server.password)
    with graph.driver(live.server.uri, auth=auth) as driver:
        for size in (500, 2000):
            live.run.execute(MANY, {"size": size, "name": f"s{size}"})
            made = driver.execute_query(
                text.replace("CYPHER 25", "CYPHER 25 PROFILE", 1),
                sessions=[f"s{size}"],
                events=[],
                learnings=[],
                episodes=[],
            )
            assert (made.records[0]["events"], made.records[0]["learnings"]) == (size, size)
            taken.append(int(made.summary.profile["args"]["GlobalMemory"]))
    assert taken[1] < 6 * taken[0]


MANY = """CYPHER 25
UNWIND range(1, $size) AS n
CREATE (l:Learning {id: $name + 'l' + n, status: 'approved'})-[:EVIDENCED_BY]->
  (:SessionEvent {event_id: $name + 'e' + n, session_id: $name, seq: n})
"""
