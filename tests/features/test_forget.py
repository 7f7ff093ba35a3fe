"""Taking back: what goes, what stays on another source, and every chain whole afterwards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mkg.bundle import QuerySpec, Runner
from mkg.features import forget, learnings, timeline
from mkg.features.forget import act
from mkg.features.forget.select import Kind, Selector, Targets, planned, select
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from mkg.features.timeline import episode
from tests.conftest import Live, wipe
from tests.support.embedding import minilm
from tests.support.events import row
from tests.support.learned import SHOP, say
from tests.support.requirement import requirement

SUPPORT = Path(__file__).parents[1] / "support"
CHAIN = (SUPPORT / "check_chain.cypher").read_text(encoding="utf-8")
CANARY = "zanzibarquark"
FACT = f"Remember that the staging host is called {CANARY} by everybody in the team."
OTHER = "Remember that releases are tagged with the date and never with a number."


def holding(live: Live, word: str = CANARY) -> dict[str, int]:
    return {p.place: p.hits for p in forget.find(live.run, forms=[word.lower()])}


def told(live: Live, *sessions: str) -> None:
    for session in sessions:
        episode.record(live.run, minilm(), session_id=session)


def gone(live: Live, kind: Kind, value: str, **more: object) -> forget.State:
    """Forget as the command does, without files."""
    selector = Selector(kind, value)
    targets = select(live.run, selector)
    keep = bool(more.get("keep_words"))
    refuse = str(more.get("refuse", "person"))
    id = act.begin(live.run, selector, targets, refuse=refuse, keep_words=keep)
    done = act.resume(live.run, minilm(), id)
    act.leave(live.run, selector)
    assert done is not None and done.state == "done"
    return done


def whole(live: Live) -> None:
    """Every chain is whole, every pointer right, no mark left."""
    assert live.rows(CHAIN) == []
    assert live.value("MATCH (:Forgetting)-[r]->() RETURN count(r)") == 0
    assert (
        live.rows(
            "MATCH (s:Session) WHERE s.event_count <> COUNT { (s)-[:HAS_EVENT]->() }"
            " OR coalesce(s.processed_seq, 0) > s.event_count RETURN s.session_id AS id"
        )
        == []
    )
    assert (
        live.rows(
            "MATCH (p:Project)-[:HAS_OBSERVATION]->(e:Episode) WITH p, count(e) AS n"
            " WHERE COUNT { (p)-[:LATEST_OBSERVATION]->() } <> 1 RETURN p.id AS id"
        )
        == []
    )
    assert (
        live.rows(
            "MATCH (e:Episode) WHERE NOT (:Episode)-[:NEXT]->(e)"
            " WITH e.project_id AS p, count(*) AS n WHERE n <> 1 RETURN p"
        )
        == []
    )
    assert (
        live.rows(
            "MATCH (l:Learning) WHERE l.support_count <> COUNT { (l)-[:FROM_SESSION]->() }"
            " RETURN l.id AS id"
        )
        == []
    )


@requirement("SEC-81", "SEC-82")
def test_a_session_goes_with_all_that_rests_on_it_and_nothing_else(live: Live) -> None:
    say(live, FACT, session="s1")
    say(live, OTHER, session="s2", second=60)
    say(live, "What is on the list today?", session="s3", second=120)
    told(live, "s1", "s2", "s3")
    assert set(holding(live)) == {"SessionEvent", "Learning", "Episode", "EVIDENCED_BY"}
    before = planned(live.run, select(live.run, Selector("session", "s1")))
    assert (before.events, before.learnings, before.episodes, before.decisions) == (2, 1, 1, 1)
    assert before.processing == 1
    done = gone(live, "session", "s1")
    assert (done.events, done.learnings, done.sessions) == (2, 1, 1)
    assert holding(live) == {}
    assert live.value("MATCH (s:Session) RETURN collect(s.session_id)") == ["s2", "s3"]
    assert live.value("MATCH (l:Learning) RETURN count(l)") == 1
    assert live.value("MATCH (r:ProjectProcessing) WHERE r.session_id = 's1' RETURN count(r)") == 0
    whole(live)


@requirement("SEC-82", "SEC-83")
def test_a_learning_with_another_source_keeps_only_that_and_waits_when_it_was_approved_by_the_other(
    live: Live,
) -> None:
    say(live, FACT, session="s1")
    say(live, FACT, session="s2", second=60)
    say(live, FACT, session="s3", second=120)
    assert live.value("MATCH (l:Learning) RETURN l.support_count") == 3
    done = gone(live, "session", "s1")
    assert (done.learnings, done.weakened) == (0, 1)
    (left,) = live.rows(
        "MATCH (l:Learning) RETURN l.status AS status, l.support_count AS support,"
        " COUNT { (l)-[:EVIDENCED_BY]->() } AS quotes, l.last_source_session_id AS last"
    )
    assert left == {"status": "approved", "support": 2, "quotes": 2, "last": "s3"}
    live.run.execute(
        "CYPHER 25\nMATCH ()-[q:EVIDENCED_BY]->(e {session_id: 's3'})"
        " SET q.origin = 'assistant_clean'"
    )
    gone(live, "session", "s2")
    (left,) = live.rows(
        "MATCH (d:GateDecision)-[:DECIDED]->(l:Learning) WITH l, d ORDER BY d.decision_no DESC"
        " LIMIT 1 RETURN l.status AS status, l.injectable AS injectable, l.origin AS origin,"
        " d.by AS by, l.live AS live"
    )
    assert left == {
        **{"status": "candidate", "injectable": False, "origin": "assistant_clean"},
        **{"by": "forget", "live": True},
    }
    gone(live, "session", "s3")
    assert holding(live) == {}
    whole(live)


@requirement("SEC-85", "SEC-86")
def test_events_of_a_text_become_empty_links_and_a_replay_of_them_brings_nothing_back(
    live: Live,
) -> None:
    say(live, OTHER, session="s1")
    say(live, FACT, session="s1", second=30)
    told(live, "s1")
    assert planned(live.run, select(live.run, Selector("text", CANARY.upper()))).events == 1
    done = gone(live, "text", CANARY.upper())
    assert (done.events, done.learnings, done.episodes) == (1, 1, 1)
    assert holding(live) == {}
    whole(live)
    (link,) = live.rows("MATCH (e:SessionEvent) WHERE e.erased_at IS NOT NULL RETURN keys(e) AS k")
    kept = {"event_id", "event_key", "session_id", "client", "seq", "timestamp", "project_id"}
    assert set(link["k"]) == kept | {"event_name", "erased_at"}
    say(live, FACT, session="s1", second=30)
    told(live, "s1")
    assert holding(live) == {}
    assert live.value("MATCH (e:Episode) RETURN e.title") == OTHER
    whole(live)


@requirement("SEC-81")
def test_one_learning_goes_with_its_words_and_the_rest_of_its_event_stays(live: Live) -> None:
    say(live, f"{FACT} {OTHER}", session="s1")
    told(live, "s1")
    (one,) = [
        r
        for r in live.rows("MATCH (l:Learning) RETURN l.text AS t, l.short_id AS id")
        if CANARY in str(r["t"])
    ]
    done = gone(live, "learning", str(one["id"]))
    assert (done.events, done.learnings) == (0, 1)
    assert holding(live) == {}
    (other,) = live.rows(
        "MATCH (l:Learning)-[q:EVIDENCED_BY]->(e) RETURN q.quote AS quote,"
        " substring(e.prompt, q.start, q.end - q.start) AS there, l.status AS s"
    )
    assert other["quote"] == other["there"] and other["s"] == "approved"
    whole(live)


@requirement("SEC-81")
def test_one_learning_may_go_and_leave_the_words_where_they_were_said(live: Live) -> None:
    say(live, FACT, session="s1")
    gone(live, "learning", str(live.value("MATCH (l:Learning) RETURN l.id")), keep_words=True)
    assert set(holding(live)) == {"SessionEvent"}


@requirement("SEC-81")
@pytest.mark.parametrize(
    ("by", "refuse", "left"),
    [
        ("human", "person", 1),
        ("human", "none", 0),
        (None, "person", 0),
        (None, "all", 1),
    ],
)
def test_what_a_person_refused_stays_refused_without_its_text(
    live: Live, by: str | None, refuse: str, left: int
) -> None:
    say(live, FACT, session="s1")
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning) SET l.status = 'rejected', l.reviewed_by = $by,"
        " l.live = false, l.injectable = false",
        {"by": by},
    )
    gone(live, "session", "s1", refuse=refuse)
    assert holding(live) == {}
    assert live.value("MATCH (l:Learning) RETURN count(l)") == left
    say(live, FACT, session="s9", second=90)
    found = {r["s"] for r in live.rows("MATCH (l:Learning) RETURN l.status AS s")}
    assert found == ({"rejected"} if left else {"approved"})


@requirement("SEC-33")
def test_the_closure_of_a_taint_is_what_was_told_and_said_again_but_not_what_the_user_typed(
    live: Live,
) -> None:
    say(live, FACT, session="s1")
    fact = str(live.value("MATCH (l:Learning) RETURN l.id"))
    learnings_told(live, fact, "s2", 60)
    said = say(live, OTHER, session="s2", second=62)
    assert len(said.approved) == 1
    echo = "We decided to call every host after an island, because the names are short."
    say(live, "Go on.", session="s2", second=64, reply=echo)
    live.run.execute(
        "CYPHER 25\nMATCH (e:SessionEvent {session_id: 's2'})"
        " WHERE e.last_assistant_message = $m CREATE (:Learning {id: 'echo', short_id: 'echo',"
        " value_key: 'echo', text: $m, status: 'candidate', origin: 'assistant_clean',"
        " support_count: 0, live: true, injectable: false, owner_key: 'x'})"
        "-[:EVIDENCED_BY {origin: 'assistant_clean', quote: $m, start: 0, end: 9}]->(e)",
        {"m": echo},
    )
    event = str(live.value("MATCH (e:SessionEvent {session_id: 's1', seq: 1}) RETURN e.event_id"))
    targets = select(live.run, Selector("taint", event))
    assert len(targets.events) == 2
    gone(live, "taint", event)
    assert holding(live) == {} and holding(live, "island") == {}
    assert live.value("MATCH (l:Learning) RETURN collect(l.text)") == [said_text(OTHER)]
    whole(live)


def said_text(prompt: str) -> str:
    text = prompt.removeprefix("Remember that ")
    return text[0].upper() + text[1:]


def learnings_told(live: Live, id: str, session: str, second: float) -> None:
    event = row(
        "UserPromptSubmit", session=session, second=second, prompt="Where?", origin="user_typed"
    )
    timeline.append(live.run, events=[event])
    learnings.deliver(
        live.run,
        session_id=session,
        event_key=event["event_key"],
        hook_event="UserPromptSubmit",
        ids=[id],
        block_sha="x",
        at=event["at"],
    )


@requirement("SEC-81", "SEC-82")
def test_a_project_goes_whole_and_leaves_its_neighbour_alone(live: Live) -> None:
    say(live, FACT, session="s1")
    say(live, FACT, session="t1", second=60, project="host/acme/other")
    told(live, "s1", "t1")
    gone(live, "project", SHOP, refuse="none")
    assert live.value("MATCH (p:Project) RETURN collect(p.id)") == ["host/acme/other"]
    assert live.value("MATCH (e:SessionEvent) RETURN collect(DISTINCT e.session_id)") == ["t1"]
    assert live.value("MATCH (n) WHERE n.project_id = $p RETURN count(n)", p=SHOP) == 0
    assert live.value("MATCH (l:Learning) RETURN count(l)") == 1
    whole(live)


@requirement("SEC-81", "MEM-W26")
def test_a_user_goes_with_what_only_that_user_said(live: Live) -> None:
    say(live, FACT, session="s1", user="ann")
    say(live, OTHER, session="s2", user="ann", second=60)
    say(live, OTHER, session="s3", user="bob", second=120)
    told(live, "s1", "s2", "s3")
    gone(live, "user", "ann")
    assert holding(live) == {}
    assert live.value("MATCH (u:User) RETURN collect(u.id)") == ["bob"]
    (left,) = live.rows(
        "MATCH (l:Learning) RETURN l.support_count AS n, l.user_id AS user, l.last_user_id AS last"
    )
    assert left == {"n": 1, "user": None, "last": "bob"}
    assert holding(live, "ann") == {}
    whole(live)


@requirement("SEC-81")
def test_a_chain_of_values_closes_over_the_gap_and_the_old_value_stays_closed(live: Live) -> None:
    for number, text in enumerate(("alpha", CANARY, "omega")):
        say(
            live,
            f"Remember that the staging host is called {text} by everybody in the team.",
            session=f"s{number}",
            second=number * 60,
        )
    live.run.execute(
        "CYPHER 25\nMATCH (a:Learning), (b:Learning), (c:Learning) WHERE a.text CONTAINS 'alpha'"
        " AND b.text CONTAINS $c AND c.text CONTAINS 'omega' SET a.status = 'rejected',"
        " a.rejected_reason = 'superseded_by:' + b.id CREATE (c)-[:SUPERSEDES {source: 'user',"
        " confirmed: true, at: datetime()}]->(b)-[:SUPERSEDES {source: 'user'}]->(a)",
        {"c": CANARY},
    )
    gone(live, "text", CANARY)
    (chain,) = live.rows(
        "MATCH (c:Learning)-[r:SUPERSEDES]->(a:Learning) RETURN a.status AS status,"
        " a.rejected_reason = 'superseded_by:' + c.id AS named, r.reason AS reason"
    )
    assert chain == {"status": "rejected", "named": True, "reason": "mended"}
    gone(live, "text", "omega")
    assert live.value("MATCH (a:Learning) RETURN a.rejected_reason") == "superseded"
    assert holding(live) == {}


@requirement("SEC-86")
def test_an_event_that_comes_while_its_session_is_forgotten_is_kept_and_read(live: Live) -> None:
    say(live, FACT, session="s1")
    selector = Selector("session", "s1")
    id = act.begin(live.run, selector, select(live.run, selector), refuse="person")
    timeline.append(
        live.run,
        events=[
            row("UserPromptSubmit", session="s1", second=30, prompt=OTHER, origin="user_typed")
        ],
    )
    act.resume(live.run, minilm(), id)
    assert holding(live) == {}
    assert live.rows("MATCH (e:SessionEvent) RETURN e.seq AS seq, e.prompt AS p ORDER BY seq") == [
        {"seq": 1, "p": None},
        {"seq": 2, "p": None},
        {"seq": 3, "p": OTHER},
    ]
    whole(live)
    learned = learn(live.run, minilm(), session_id="s1", owner=Owner(SHOP, "ann"))
    assert len(learned.approved) == 1


@requirement("SEC-86")
def test_a_session_that_starts_again_after_it_was_forgotten_is_read_from_its_first_event(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(act, "BATCH", 1)
    say(live, FACT, session="s1")
    gone(live, "session", "s1")
    assert live.value("MATCH (s:Session) RETURN count(s)") == 0
    assert len(say(live, OTHER, session="s1", second=90).approved) == 1
    whole(live)


@requirement("SEC-86")
@pytest.mark.parametrize("guard", [True, False])
def test_what_was_read_before_a_text_was_forgotten_does_not_bring_it_back(
    live: Live, monkeypatch: pytest.MonkeyPatch, guard: bool
) -> None:
    """Between the reading of a window and the writing of what it taught, the text is forgotten."""
    real = learnings.told
    calls: list[str] = []

    def between(run: Runner, **words: Any) -> list[learnings.Told]:
        if not calls:
            calls.append("x")
            gone(live, "text", CANARY)
        return real(run, **words)

    monkeypatch.setattr(learnings, "told", between)
    if not guard:
        monkeypatch.setattr(forget, "standing", lambda *a, **b: forget.Standing(10**6))
    say(live, FACT, session="s1")
    assert (holding(live) == {}) is guard
    whole(live) if guard else None


@requirement("SEC-86")
@pytest.mark.parametrize("guard", [True, False])
def test_an_episode_composed_before_a_text_was_forgotten_is_composed_again(
    live: Live, monkeypatch: pytest.MonkeyPatch, guard: bool
) -> None:
    say(live, OTHER, session="s1")
    say(live, FACT, session="s1", second=20)
    real, calls = episode.compose, list[str]()

    def between(found: timeline.Digest) -> episode.Composed:
        if not calls:
            calls.append("x")
            gone(live, "text", CANARY)
        return real(found)

    monkeypatch.setattr(episode, "compose", between)
    if not guard:
        upsert = timeline.upsert_episode
        monkeypatch.setattr(
            timeline,
            "upsert_episode",
            lambda run, **w: upsert(
                run, **{**w, "erased": live.value("MATCH (s:Session) RETURN coalesce(s.erased, 0)")}
            ),
        )
    told(live, "s1")
    assert (holding(live) == {}) is guard


@requirement("SEC-87")
def test_what_the_graph_keeps_of_a_wish_has_counts_and_hashes_and_no_text(live: Live) -> None:
    say(live, FACT, session="s1")
    gone(live, "text", CANARY)
    (kept,) = live.rows(
        "MATCH (f:Forgetting) RETURN f.kind AS kind, f.checks AS checks, f.events AS n"
    )
    assert kept["kind"] == "text" and kept["n"] == 1
    assert all(len(c) == 32 for c in kept["checks"])
    assert holding(live) == {}


@requirement("SEC-81")
def test_nothing_is_selected_by_what_is_not_there(live: Live) -> None:
    say(live, FACT, session="s1")
    kinds: list[Kind] = ["learning", "session", "project", "user", "text"]
    for kind in kinds:
        assert not select(live.run, Selector(kind, "nobody-knows")), kind
    assert not Targets()


class Killed(BaseException):
    """Stands for kill -9: the process does nothing any more."""


def _scene(live: Live) -> tuple[Selector, Targets]:
    """Two sessions that share a learning; the first is to go."""
    wipe(live.run)
    say(live, FACT, session="s1")
    say(live, FACT, session="s1", second=10)
    say(live, FACT, session="s2", second=60)
    say(live, OTHER, session="s2", second=70)
    told(live, "s1", "s2")
    selector = Selector("session", "s1")
    return selector, select(live.run, selector)


@requirement("SEC-86")
def test_a_kill_before_and_after_every_batch_leaves_marks_from_which_it_goes_on(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(act, "BATCH", 1)

    def attempt(stop: int, after: bool) -> bool:
        """Whether it was killed; the run is finished afterwards as a new process would."""
        selector, targets = _scene(live)
        count = 0
        with monkeypatch.context() as patch:
            real = live.run.fetch

            def fetch(query: QuerySpec, params: Mapping[str, Any]) -> list[dict[str, Any]]:
                nonlocal count
                if query.mode != "write":
                    return real(query, params)
                count += 1
                if count == stop and not after:
                    raise Killed
                done = real(query, params)
                if count == stop:
                    raise Killed
                return done

            patch.setattr(live.run, "fetch", fetch)
            try:
                act.resume(
                    live.run, minilm(), act.begin(live.run, selector, targets, refuse="none")
                )
                return False
            except Killed:
                pass
        open_ = act.unfinished(live.run)
        if not open_:
            # The marks were not whole: nothing was changed, and the person asks again.
            assert (
                live.value("MATCH (e:SessionEvent) WHERE e.erased_at IS NOT NULL RETURN count(e)")
                == 0
            )
            open_ = [act.begin(live.run, selector, select(live.run, selector), refuse="none")]
        for id in open_:
            act.resume(live.run, minilm(), id)
        assert live.value("MATCH (s:Session) RETURN collect(s.session_id)") == ["s2"]
        assert (
            live.value(
                "MATCH (l:Learning) WHERE l.text CONTAINS $c RETURN l.support_count", c=CANARY
            )
            == 1
        )
        whole(live)
        return True

    kills = 0
    while attempt(kills + 1, after=kills % 2 == 0):
        kills += 1
    assert kills > 12
