"""F9: clocks that jump. Order comes from numbers, and a cooldown is late by one period at most."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mkg.features import gate, learnings, timeline
from mkg.features.gate.sweep import HOLD, REST
from mkg.features.learnings import windows
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from mkg.features.lease import TTL_MS, lease_take
from tests.conftest import Live
from tests.support.events import row
from tests.support.learned import SHOP
from tests.support.requirement import requirement

DAY = 86_400
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def jumping(count: int, seed: int) -> list[dict[str, Any]]:
    """Prompts of one session whose clock leaps, stands still and goes back, by up to a day."""
    dice, second, events = random.Random(seed), 0.0, list[dict[str, Any]]()
    for n in range(count):
        second += dice.choice([0, 1, 1, 1, 60, -DAY, DAY, -3600])
        fields: dict[str, Any] = {"key": f"k{n}", "second": second, "origin": "user_typed"}
        prompt = f"Remember that host number {n} is called zanzibar{n} by everybody."
        events.append(row("UserPromptSubmit", prompt=prompt, project=SHOP, **fields))
    return events


@requirement("SEC-10")
@pytest.mark.parametrize("seed", range(3))
def test_every_event_is_read_once_in_its_order_whatever_the_clock_did(
    live: Live, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(windows, "WINDOW", 7)
    timeline.append(live.run, events=jumping(40, seed))
    seen: list[int] = []
    while events := learnings.window(live.run, session_id="s1", limit=7):
        seen += [event.seq for event in events]
        live.run.execute(
            "CYPHER 25\nMATCH (s:Session) SET s.processed_seq = $upto",
            {"upto": max(event.seq for event in events)},
        )
    assert seen == list(range(1, 41))
    live.run.execute("CYPHER 25\nMATCH (s:Session) SET s.processed_seq = 0")
    assert learn(live.run, None, session_id="s1", owner=Owner(SHOP, "ann")).events == 40
    once = "MATCH (e:SessionEvent) RETURN COUNT { (e)<-[:PROCESSED_EVENT]-() } AS n, count(e) AS c"
    assert live.rows(once) == [{"n": 1, "c": 40}]


def turn(live: Live, at: datetime) -> bool:
    return gate.sweep_turn(
        live.run,
        key="sweep:x",
        owner=at.isoformat(),
        at=at.isoformat(),
        expires_at=(at + HOLD).isoformat(),
        rested=(at - REST).isoformat(),
    ).taken


def done(live: Live, took: datetime, at: datetime) -> None:
    gate.sweep_done(live.run, key="sweep:x", owner=took.isoformat(), ids=[], at=at.isoformat())


@requirement("SEC-10")
@pytest.mark.parametrize("back", [5.0, 29.0, 3600.0, DAY])
def test_a_clock_that_goes_back_makes_a_sweep_late_by_one_rest_and_lets_none_run_twice(
    live: Live, back: float
) -> None:
    assert turn(live, NOW)
    done(live, NOW, NOW + timedelta(seconds=1))
    then = NOW + timedelta(seconds=2 - back)
    assert not turn(live, then)
    assert not turn(live, then + REST / 2)
    assert turn(live, then + REST)


@requirement("SEC-10")
def test_a_sweep_whose_holder_died_before_the_clock_went_back_is_passed_over_in_time(
    live: Live,
) -> None:
    assert turn(live, NOW)
    then = NOW - timedelta(days=1)
    assert not turn(live, then)
    assert not turn(live, then + HOLD / 2)
    assert turn(live, then + HOLD)


@requirement("SEC-10")
def test_a_leap_forward_ends_a_rest_once(live: Live) -> None:
    assert turn(live, NOW)
    done(live, NOW, NOW + timedelta(seconds=1))
    leapt = NOW + timedelta(days=1)
    assert turn(live, leapt)
    done(live, leapt, leapt + timedelta(seconds=1))
    assert not turn(live, leapt + timedelta(seconds=1))


@requirement("SEC-10", "MEM-W66")
def test_a_lease_that_a_clock_ahead_left_lasts_one_period_at_most(live: Live) -> None:
    assert lease_take(live.run, key="window:s1", owner="dead", ttl_ms=TTL_MS).acquired
    live.run.execute(
        "CYPHER 25\nMATCH (l:Lease) SET l.expires_at = l.expires_at + duration({days: 1}),"
        " l.taken_at = l.taken_at + duration({days: 1})"
    )
    assert not lease_take(live.run, key="window:s1", owner="next", ttl_ms=TTL_MS).acquired
    left = "MATCH (l:Lease) RETURN l.expires_at <= datetime.realtime() + duration({seconds: 30})"
    assert live.value(left) is True
    live.run.execute("CYPHER 25\nMATCH (l:Lease) SET l.expires_at = datetime.realtime()")
    assert lease_take(live.run, key="window:s1", owner="next", ttl_ms=TTL_MS).fence == 2
