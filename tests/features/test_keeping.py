"""What is over its time goes, what nobody uses fades, and what rests on it stays."""

from datetime import UTC, datetime, timedelta

import pytest

from mkg.errors import ConfigError
from mkg.features import forget
from mkg.features.forget import keeping
from mkg.features.timeline import episode
from mkg.settings import load_settings
from tests.conftest import Live
from tests.features.test_forget import CANARY, FACT, OTHER, holding, whole
from tests.support.embedding import minilm
from tests.support.learned import say
from tests.support.requirement import requirement

LATER = datetime(2027, 12, 1, tzinfo=UTC)
EARLIER = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_kind_that_is_not_named_or_zero_is_kept() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert keeping.cutoffs("events=0,outputs=30", now) == {"outputs": now - timedelta(days=30)}
    assert keeping.cutoffs("", now) == {}


@requirement("MEM-W25")
def test_texts_of_old_events_go_and_the_quote_of_a_learning_stays(live: Live) -> None:
    say(live, FACT, session="s1")
    episode.record(live.run, minilm(), session_id="s1")
    assert keeping.batch(live.run, {"events": EARLIER, "episodes": EARLIER}) == {}
    before = {"events": LATER, "episodes": LATER}
    assert keeping.counted(live.run, before) == {"events": 2, "episodes": 1}
    assert "SessionEvent" in holding(live)
    assert keeping.batch(live.run, before) == {"events": 2, "episodes": 1}
    assert keeping.batch(live.run, before) == {}
    assert set(holding(live)) == {"Learning", "EVIDENCED_BY"}
    assert live.value("MATCH (e:Episode) RETURN count(e)") == 0
    whole(live)


@requirement("MEM-W25")
def test_outputs_of_tools_and_deliveries_have_times_of_their_own(live: Live) -> None:
    say(live, FACT, session="s1")
    live.run.execute(
        "CYPHER 25\nMATCH (e:SessionEvent {seq: 2}) SET e.tool_output = 'much'"
        " WITH e MATCH (l:Learning), (s:Session) CREATE (l)-[:INJECTED_IN {epoch: 0,"
        " last_injected_at: datetime('2026-11-01T00:00:00Z')}]->(s)"
    )
    assert keeping.batch(live.run, {"outputs": LATER, "deliveries": LATER}) == {
        **{"outputs": 1, "deliveries": 1}
    }
    assert live.value("MATCH (e:SessionEvent) WHERE e.prompt IS NOT NULL RETURN count(e)") == 1


@requirement("MEM-W32")
@pytest.mark.parametrize("keep", [None, "reviewed_by", "last_used_at", "last_confirmed_at"])
def test_what_nobody_used_is_archived_and_comes_back_when_it_is_said_again(
    live: Live, keep: str | None
) -> None:
    say(live, FACT, session="s1")
    if keep == "reviewed_by":
        live.run.execute("CYPHER 25\nMATCH (l:Learning) SET l.reviewed_by = 'human'")
    elif keep is not None:
        live.run.execute("CYPHER 25\nMATCH (l:Learning) SET l[$k] = $at", {"k": keep, "at": LATER})
    assert keeping.batch(live.run, {"unused": EARLIER}) == {}
    gone = keeping.batch(live.run, {"unused": LATER})
    assert gone == ({} if keep else {"unused": 1})
    (row,) = live.rows("MATCH (l:Learning) RETURN l.status AS s, l.injectable AS i, l.live AS v")
    assert row == (
        {"s": "approved", "i": True, "v": True}
        if keep
        else {"s": "archived", "i": False, "v": False}
    )
    say(live, FACT, session="s2", second=60)
    (row,) = live.rows(
        "MATCH (l:Learning) RETURN l.status AS s, l.injectable AS i, l.archived_at AS a"
    )
    assert row == {"s": "approved", "i": True, "a": None}


@requirement("MEM-W32")
def test_a_person_brings_an_archived_one_back_as_a_candidate(live: Live) -> None:
    say(live, OTHER, session="s1")
    keeping.batch(live.run, {"unused": LATER})
    short = str(live.value("MATCH (l:Learning) RETURN l.short_id"))
    assert forget.revive(live.run, keys=["nobody", short]).revived == 1
    assert live.value("MATCH (l:Learning) RETURN l.status") == "candidate"
    assert forget.revive(live.run, keys=[short]).revived == 0
    assert CANARY not in short


@requirement("MEM-W25")
def test_the_worker_does_it_in_idle_time_and_one_at_a_time(live: Live) -> None:
    say(live, FACT, session="s1")
    assert not keeping.step(live.run, "events=0")
    assert not keeping.step(live.run, "events=9999")
    live.run.execute("CYPHER 25\nMATCH (e:SessionEvent) SET e.timestamp = datetime('2001-01-01')")
    with keeping.leased(live.run, "keeping"):
        assert not keeping.step(live.run, "events=30")
    assert keeping.step(live.run, "events=30")
    assert not keeping.step(live.run, "events=30")


def test_the_setting_has_a_default_and_refuses_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert load_settings().retain == "unused=365"
    monkeypatch.setenv("MKG_RETAIN", "events=90,outputs=30")
    assert load_settings().retain == "events=90,outputs=30"
    # A repository reaches a client's environment: it must not make a memory short.
    assert load_settings(origin="client").retain == "unused=365"
    for bad in ("events", "events=x", "all=3", "events=1 outputs=2"):
        monkeypatch.setenv("MKG_RETAIN", bad)
        with pytest.raises(ConfigError, match="MKG_RETAIN"):
            load_settings()
