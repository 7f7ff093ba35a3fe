"""The timeline on a real server: appended once, in order; what a session is bound to."""

import itertools
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mkg.bundle import load_bundle
from mkg.db import Neo4jRunner
from mkg.errors import GraphConflict, GraphTimeout, MkgError
from mkg.features import timeline
from mkg.features.timeline import episode
from tests.conftest import Live
from tests.support.events import row
from tests.support.learned import say
from tests.support.requirement import requirement

Append = Callable[[Neo4jRunner, list[dict[str, Any]]], None]
CHAIN = (Path(__file__).parents[1] / "support" / "check_chain.cypher").read_text(encoding="utf-8")


def chain_faults(live: Live) -> list[dict[str, object]]:
    return live.rows(CHAIN)


def test_events_form_one_unforked_chain_in_the_order_they_came(live: Live) -> None:
    names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
    rows = [row(name, second=i * 3) for i, name in enumerate(names)]
    stored = timeline.append(live.run, events=rows)
    assert [s.seq for s in stored] == [1, 2, 3, 4, 5]
    assert chain_faults(live) == []
    told = live.rows(
        "MATCH (:Session)-[:FIRST_EVENT]->(e) MATCH p = (e)-[:NEXT]->{0,10}(last) "
        "WHERE NOT (last)-[:NEXT]->() RETURN [n IN nodes(p) | n.event_name] AS names"
    )
    assert told[0]["names"] == names


@requirement("B11")
def test_the_same_firing_handed_over_twice_is_one_event(live: Live) -> None:
    one = row("SessionStart", key="k", natural=False, second=0)
    two = row("SessionStart", key="k", natural=False, second=1.5)
    assert len(timeline.append(live.run, events=[one, two])) == 1
    assert live.value("MATCH (e:SessionEvent) RETURN count(e)") == 1


@requirement("MEM-W37", "MEM-T206")
def test_two_equal_prompts_a_while_apart_stay_two_events(live: Live) -> None:
    one = row("UserPromptSubmit", key="k", natural=False, second=0, prompt="continue")
    two = row("UserPromptSubmit", key="k", natural=False, second=9, prompt="continue")
    assert len(timeline.append(live.run, events=[one, two])) == 2
    assert chain_faults(live) == []


def test_a_replayed_batch_changes_nothing(live: Live) -> None:
    rows = [row("UserPromptSubmit", second=i, prompt=f"p{i}") for i in range(3)]
    rows.append(row("SessionStart", key="plain", natural=False, second=20))
    assert len(timeline.append(live.run, events=rows)) == 4
    assert timeline.append(live.run, events=rows) == []
    assert live.value("MATCH (e:SessionEvent) RETURN count(e)") == 4
    assert chain_faults(live) == []


def write_at_once(live: Live, append: Append) -> list[MkgError]:
    """Eight writers append to one session; returns what failed."""
    failed: list[MkgError] = []

    def write(writer: int) -> None:
        with live.server.runner() as run:
            for i in range(10):
                try:
                    append(run, [row("PostToolUse", key=f"w{writer}-{i}")])
                except MkgError as error:
                    failed.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return failed


@requirement("SEC-12", "NEO-60", "NEO-114")
def test_eight_writers_on_one_session_fork_nothing(live: Live) -> None:
    def append(run: Neo4jRunner, events: list[dict[str, Any]]) -> None:
        timeline.append(run, events=events)

    assert write_at_once(live, append) == []
    assert live.value("MATCH (s:Session) RETURN s.event_count") == 80
    assert chain_faults(live) == []


@requirement("SEC-12", "NEO-60", "NEO-114")
def test_without_the_lock_the_same_writers_collide(live: Live) -> None:
    text = load_bundle().queries["timeline.append"].text
    lock = "SET session.touched = event.event_key"
    assert text.count(lock) == 1
    bare = text.replace(lock, "")

    def append(run: Neo4jRunner, events: list[dict[str, Any]]) -> None:
        run.execute(bare, {"events": events}, name="test.append")

    timeline.append(live.run, events=[row("SessionStart")])
    failed = write_at_once(live, append)
    # The constraint on places keeps the chain whole; what came second is lost instead.
    assert {type(error) for error in failed} <= {GraphConflict, GraphTimeout}
    assert failed


@requirement("B79")
def test_a_session_keeps_the_project_of_its_first_event(live: Live) -> None:
    timeline.append(live.run, events=[row("SessionStart", project="host/acme/shop")])
    timeline.append(live.run, events=[row("Stop", project="host/acme/other", second=5)])
    found = timeline.scope(live.run, session_id="s1")
    assert found is not None
    assert (found.project_id, found.user_id) == ("host/acme/shop", "ann")


@requirement("MEM-T101")
def test_the_schema_knows_users_each_of_them_once(live: Live) -> None:
    timeline.append(live.run, events=[row("Stop", user="ann"), row("Stop", session="s2")])
    assert live.value("MATCH (u:User {id: 'ann'}) RETURN count(u)") == 1
    with pytest.raises(GraphConflict):
        live.run.execute("CYPHER 25\nCREATE (:User {id: 'ann'})")


@requirement("NEO-30")
def test_no_constrained_key_is_null_whatever_an_event_lacks(live: Live) -> None:
    timeline.append(live.run, events=[row("UserPromptSubmit", project=None, prompt="hello")])
    say(live, "Remember that the billing service listens on port 7001.", session="s2")
    episode.record(live.run, None, session_id="s2")
    checked = 0
    for found in live.rows("SHOW CONSTRAINTS YIELD labelsOrTypes AS labels, properties AS keys"):
        (label,), keys = found["labels"], found["keys"]  # type: ignore[misc]
        for key in keys:  # type: ignore[attr-defined]
            nodes = live.rows(
                "MATCH (n:$($label)) RETURN count(n) AS all, count(n[$key]) AS keyed",
                label=label,
                key=key,
            )[0]
            assert nodes["all"] == nodes["keyed"], (label, key)
            checked += int(nodes["all"] > 0)  # type: ignore[operator]
    assert checked >= 8


@requirement("MEM-T102")
def test_the_first_owner_of_a_session_sticks(live: Live) -> None:
    timeline.append(live.run, events=[row("SessionStart", user="ann")])
    timeline.append(live.run, events=[row("Stop", user="bob", second=5)])
    owners = live.rows(
        "MATCH (u:User)-[:HAS_SESSION]->(:Session {session_id: 's1'}) RETURN u.id AS id"
    )
    assert owners == [{"id": "ann"}]


@requirement("MEM-W39")
def test_clear_and_compact_open_an_epoch_and_resume_does_not(live: Live) -> None:
    epochs: list[int] = []
    for i, source in enumerate(["startup", "resume", "compact", "clear"]):
        timeline.append(live.run, events=[row("SessionStart", second=i * 5, source=source)])
        found = timeline.scope(live.run, session_id="s1")
        assert found is not None
        epochs.append(found.epoch)
    assert epochs == [0, 0, 1, 2]


@requirement("CL-22")
def test_a_subagent_has_a_session_of_its_own_and_a_phantom_stop_stays_with_the_parent(
    live: Live,
) -> None:
    timeline.append(
        live.run,
        events=[
            row("SubagentStart", agent_id="a1", agent_type="general-purpose"),
            row("PreToolUse", second=1, agent_id="a1", agent_type="general-purpose"),
            row("SubagentStop", second=2, agent_id="a1", agent_type="general-purpose"),
            row("SubagentStop", second=3, agent_id="ghost"),
        ],
    )
    assert live.rows(
        "MATCH (s:Session) RETURN s.session_id AS id, s.event_count AS events ORDER BY id"
    ) == [{"id": "a1", "events": 1}, {"id": "s1", "events": 3}]
    assert (
        live.value("MATCH (:Session {session_id: 's1'})-[:HAS_SUBAGENT]->(a) RETURN a.session_id")
        == "a1"
    )


@requirement("B73", "NEO-113")
def test_moments_of_any_zone_are_stored_as_utc_in_the_right_order(live: Live) -> None:
    moments = [
        "2026-03-01T10:00:00+05:30",
        "2026-03-01T10:00:00Z",
        "2026-10-25T02:30:00+01:00",
        "2099-01-01T00:00:00Z",
    ]
    rows = [row("Notification", key=f"m{i}") | {"at": at} for i, at in enumerate(moments)]
    timeline.append(live.run, events=rows)
    stored = live.rows("MATCH (e:SessionEvent) RETURN e.timestamp.epochMillis AS at ORDER BY e.seq")
    expected = [int(datetime.fromisoformat(m).astimezone(UTC).timestamp() * 1000) for m in moments]
    assert [s["at"] for s in stored] == expected


def test_a_session_outside_any_project_is_recorded_without_one(live: Live) -> None:
    timeline.append(live.run, events=[row("UserPromptSubmit", project=None, prompt="hello")])
    assert live.value("MATCH (p:Project) RETURN count(p)") == 0
    assert live.value("MATCH (:User)-[:HAS_SESSION]->(s:Session) RETURN count(s)") == 1


def _session(live: Live, session: str, second: float, prompt: str = "Fix the login test") -> None:
    timeline.append(
        live.run,
        events=[
            row(
                "UserPromptSubmit",
                session=session,
                second=second,
                prompt=prompt,
                origin="user_typed",
            ),
            row(
                "PostToolUse",
                session=session,
                second=second + 1,
                tool_name="Edit",
                tool_input='{"file_path": "/src/app/login.py"}',
            ),
            row(
                "PostToolUseFailure",
                session=session,
                second=second + 2,
                tool_name="Bash",
                tool_input='{"command": "pytest"}',
                tool_error=True,
                error="Exit code 1\nboom",
            ),
            row("Stop", session=session, second=second + 3, last_message="The test passes now."),
        ],
    )


@requirement("MEM-T147")
def test_an_episode_says_what_was_asked_touched_failed_and_how_it_ended(live: Live) -> None:
    _session(live, "s1", 0)
    first = episode.record(live.run, None, session_id="s1")
    again = episode.record(live.run, None, session_id="s1")
    assert first is not None and again is not None
    assert (first.created, again.created, first.id) == (True, False, again.id)
    found = timeline.fetch_episode(live.run, episode_id=first.id, project_id="host/acme/shop")
    assert found is not None
    assert found.title == "Fix the login test"
    assert "Asked: Fix the login test" in found.facts
    assert "Files touched: app/login.py" in found.facts
    assert "Failed: Bash: Exit code 1 boom" in found.facts
    assert found.narrative.endswith("The agent closed with: The test passes now.")


@requirement("MEM-T148", "MEM-W69")
def test_episodes_of_sessions_that_stop_together_are_chained_without_a_fork(live: Live) -> None:
    sessions = [f"s{n}" for n in range(6)]
    for n, session in enumerate(sessions):
        _session(live, session, n * 10)

    def close(session: str) -> None:
        with live.server.runner() as run:
            episode.record(run, None, session_id=session)

    threads = [threading.Thread(target=close, args=(s,)) for s in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert live.value("MATCH (:Project)-[l:LATEST_OBSERVATION]->() RETURN count(l)") == 1
    assert live.value("MATCH (:Episode)-[n:NEXT]->(:Episode) RETURN count(n)") == 5
    assert (
        live.value(
            "MATCH (:Project)-[:LATEST_OBSERVATION]->(last) "
            "MATCH p = (first:Episode)-[:NEXT]->{0,10}(last) WHERE NOT (:Episode)-[:NEXT]->(first) "
            "RETURN size(nodes(p))"
        )
        == 6
    )


@requirement("MEM-W17", "MEM-T204")
def test_an_episode_whose_first_words_were_pasted_is_not_shown_unasked(live: Live) -> None:
    _session(live, "typed", 0)
    timeline.append(
        live.run,
        events=[
            row(
                "UserPromptSubmit",
                session="pasted",
                second=90,
                prompt="log text",
                origin="user_pasted",
            ),
            row("Stop", session="pasted", second=91, last_message="ok"),
        ],
    )
    for session in ("typed", "pasted"):
        episode.record(live.run, None, session_id=session)
    rows = timeline.recent(live.run, project_id="host/acme/shop", without_session=None, limit=10)
    assert {r.session_id: r.injectable for r in rows} == {"pasted": False, "typed": True}


def test_paging_back_gives_each_older_episode_once(live: Live) -> None:
    for n in range(5):
        _session(live, f"s{n}", n * 10)
        episode.record(live.run, None, session_id=f"s{n}")
    rows = timeline.recent(live.run, project_id="host/acme/shop", without_session=None, limit=2)
    seen = [r.session_id for r in rows]
    while rows:
        rows = timeline.before(
            live.run, project_id="host/acme/shop", episode_id=rows[-1].id, limit=2
        )
        seen += [r.session_id for r in rows]
    assert seen == ["s4", "s3", "s2", "s1", "s0"]


def test_an_episode_of_another_project_is_not_found_by_its_id(live: Live) -> None:
    _session(live, "s1", 0)
    made = episode.record(live.run, None, session_id="s1")
    assert made is not None
    assert timeline.fetch_episode(live.run, episode_id=made.id, project_id="host/x/y") is None


@requirement("MEM-W40")
def test_a_transcript_is_named_and_not_kept_and_each_text_is_stored_once(
    live: Live, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    sizes: list[int] = []
    for turn in range(30):
        said = [f"question number {turn}", f"answer number {turn}"]
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps({"type": "user", "text": t}) + "\n" for t in said))
        common = {"transcript_path": str(path)}
        timeline.append(
            live.run,
            events=[
                row("UserPromptSubmit", prompt=said[0], second=2 * turn, **common),
                row("Stop", last_message=said[1], second=2 * turn + 1, **common),
            ],
        )
        text = "MATCH (e:SessionEvent) UNWIND keys(e) AS k RETURN sum(size(toString(e[k])))"
        sizes.append(int(str(live.value(text))))
    for text in ("question number 7", "answer number 29"):
        where = "MATCH (n) WHERE any(k IN keys(n) WHERE n[k] = $said) RETURN count(n)"
        assert live.value(where, said=text) == 1
    grown = [after - before for before, after in itertools.pairwise(sizes)]
    assert max(grown) <= min(grown) + 50
