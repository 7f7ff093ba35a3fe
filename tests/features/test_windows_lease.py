"""One reader a window: leases, fences, and readers that are killed."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mkg.features import lease
from mkg.features.lease import Lease, LeaseLost, lease_hold, lease_release, lease_take, leased
from tests.conftest import Live
from tests.hooks.launching import wait_until
from tests.support.requirement import requirement
from tests.support.windows import PORT, proposal, read, rules, scripted, session

KEY = "window:s1"
ROOT = Path(__file__).parents[2]


def taken(live: Live, owner: str, ttl_ms: int = 60_000) -> tuple[bool, int]:
    found = lease_take(live.run, key=KEY, owner=owner, ttl_ms=ttl_ms)
    return found.acquired, found.fence


def test_a_lease_is_granted_once_until_it_is_given_back(live: Live) -> None:
    assert taken(live, "a") == (True, 1)
    assert taken(live, "b") == (False, 1)
    assert not lease_release(live.run, key=KEY, owner="b", fence=1).released
    assert taken(live, "b") == (False, 1)
    assert lease_release(live.run, key=KEY, owner="a", fence=1).released
    assert taken(live, "b") == (True, 2)


def test_a_lease_whose_time_is_over_goes_to_the_next_and_its_holder_cannot_commit(
    live: Live,
) -> None:
    assert taken(live, "a", ttl_ms=0) == (True, 1)
    assert taken(live, "b") == (True, 2)
    with pytest.raises(LeaseLost):
        Lease(KEY, "a", 1).check(live.run)
    Lease(KEY, "b", 2).check(live.run)
    assert not lease_release(live.run, key=KEY, owner="a", fence=1).released


def test_a_holder_that_is_late_but_has_no_successor_may_commit(live: Live) -> None:
    taken(live, "a", ttl_ms=0)
    assert lease_hold(live.run, key=KEY, owner="a", fence=1, ttl_ms=60_000).held
    assert taken(live, "b") == (False, 1)


def test_of_many_takers_at_once_one_has_it(live: Live) -> None:
    got: list[bool] = []
    threads = [
        threading.Thread(target=lambda n=n: got.append(taken(live, f"o{n}")[0])) for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(got) == [False] * 15 + [True]


def test_a_lease_is_renewed_while_its_block_lasts(live: Live) -> None:
    with leased(live.run, KEY, ttl_ms=600) as mine:
        assert mine is not None
        first = live.value("MATCH (l:Lease) RETURN l.expires_at")
        wait_until(lambda: live.value("MATCH (l:Lease) RETURN l.expires_at") != first)
        with leased(live.run, KEY) as other:
            assert other is None
    assert live.value("MATCH (l:Lease) RETURN l.owner") is None


@requirement("MEM-W66", "MEM-T211")
def test_stops_of_sixteen_sessions_at_once_read_each_window_once(
    live: Live, tmp_path: Path
) -> None:
    names = [f"s{n}" for n in range(16)]
    for n, name in enumerate(names):
        session(live, f"{PORT} This is session number {n}.", name=name, start=10 * n)
    with scripted(tmp_path, rules(episodes=[])) as (stub, model):
        threads = [
            threading.Thread(target=read, args=(live, model, name)) for name in names for _ in "abc"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        asked = [e for e in stub.entries if e["rule"] == "extract"]
    assert len(asked) == 16
    assert live.rows(
        "MATCH (p:ProjectProcessing) RETURN count(p) AS runs, sum(p.times) AS times, "
        "count { (:ProjectProcessing)-[:PROCESSED_EVENT]->() } AS events"
    ) == [{"runs": 16, "times": 16, "events": 32}]


@requirement("MEM-W66")
def test_a_reader_that_lost_its_lease_writes_nothing(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(live, PORT)

    def steal() -> None:
        live.run.execute("CYPHER 25\nMATCH (l:Lease) SET l.owner = 'other', l.fence = l.fence + 1")

    with scripted(tmp_path, rules(proposal())) as (stub, model):
        choose = stub.choose

        def chosen(api: str, body: object) -> object:
            steal()
            return choose(api, body)

        monkeypatch.setattr(stub, "choose", chosen)
        assert read(live, model).events == 0
        assert live.value("MATCH (l:Learning) RETURN count(l)") == 0
        # Without the check the same load is written although another holds the lease.
        monkeypatch.setattr(lease.Lease, "check", lambda self, unit: None)
        live.run.execute("CYPHER 25\nMATCH (l:Lease) SET l.owner = null")
        read(live, model)
        assert live.value("MATCH (l:Learning) RETURN count(l)") == 1


@requirement("MEM-W66")
def test_a_reader_killed_in_the_middle_is_succeeded_and_the_window_is_read_once(
    live: Live, tmp_path: Path
) -> None:
    session(live, PORT)
    slow = [{"times": 1, "then": {"delay": 60}}, *rules(proposal())]
    with scripted(tmp_path, slow) as (stub, model):
        words = [sys.executable, "-m", "tests.features.reading_process", live.server.uri]
        words += [live.server.password, f"{stub.url}/v1", "s1"]
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE)
        try:
            wait_until(lambda: bool(stub.entries), seconds=60)
            # It is at work: nobody else reads its window.
            assert read(live, model).events == 0
        finally:
            process.kill()
            process.communicate()
        assert read(live, model).events == 0
        live.run.execute("CYPHER 25\nMATCH (l:Lease) SET l.expires_at = datetime.realtime()")
        assert read(live, model).events == 2
    assert live.value("MATCH (l:Learning) RETURN count(l)") == 1
    assert live.value("MATCH (p:ProjectProcessing) RETURN sum(p.times)") == 1


@requirement("MEM-W66")
def test_processes_at_once_read_a_window_once(live: Live, tmp_path: Path) -> None:
    session(live, PORT)
    with scripted(tmp_path, rules(proposal())) as (stub, _):
        words = [sys.executable, "-m", "tests.features.reading_process", live.server.uri]
        words += [live.server.password, f"{stub.url}/v1", "s1"]
        processes = [
            subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)
        ]
        told = [int(process.communicate(timeout=120)[0] or 0) for process in processes]
        assert sorted(told) == [0, 0, 2]
        assert len([e for e in stub.entries if e["rule"] == "extract"]) == 1
