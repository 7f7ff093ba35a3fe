"""One runner at a time: races, dead holders, lost leases; each guard from both sides."""

import dataclasses
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mkg.bundle import spec
from mkg.errors import MigrationError, MigrationLocked
from mkg.migrate import apply_all, lease, status
from tests.migrate.conftest import rows, value
from tests.migrate.folder import BASELINE, folder
from tests.support.requirement import requirement

THINGS = "CREATE (:Thing {id: 'once'});"
HOLDER = {"by": "ann", "host": "elsewhere", "pid": 42}


def acquire(run, owner: str, *, name: str = "migration", ttl_ms: int = 60_000) -> lease.Grant:
    return lease.migration_lock(
        run, lock=name, owner=owner, by="ann", host="elsewhere", pid=42, ttl_ms=ttl_ms
    )


def until(condition, *, seconds: float = 5.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return found


@requirement("NEO-86", "NEO-91")
def test_of_many_runners_at_once_one_works_and_every_statement_runs_once(
    blank, unmigrated, tmp_path
):
    index = "CREATE INDEX thing_id IF NOT EXISTS FOR (n:Thing) ON (n.id);"
    root = folder(tmp_path, V0001__schema=index, V0002__data=THINGS)
    gate = threading.Barrier(32)

    def start(number: int) -> list[str] | str:
        with unmigrated.runner() as run:
            gate.wait(timeout=30)
            try:
                # Some wait for their turn, the others say at once who is at work.
                return apply_all(run, root=root, wait=60 if number % 4 else 0)
            except MigrationLocked as error:
                return str(error)

    with ThreadPoolExecutor(32) as pool:
        results = list(pool.map(start, range(32)))
    every = [BASELINE, "V0001__schema", "V0002__data"]
    assert [result for result in results if isinstance(result, list) and result] == [every]
    refused = [result for result in results if isinstance(result, str)]
    assert all("the migration lock is held by " in said for said in refused)
    assert value(blank, "MATCH (n:Thing) RETURN count(n) AS n") == 1
    assert value(blank, "MATCH (g:MkgMigrationLog) RETURN count(g) AS n") == 4
    assert [state.state for state in status(blank, root)] == ["applied"] * 3


def grants(server, query: str, *, callers: int = 6, names: int = 10) -> int:
    """How many callers are told that they hold a lock, over all names."""
    text = dataclasses.replace(spec("ops.migration_lock"), body=query)
    gate = threading.Barrier(callers)

    def call(number: int) -> int:
        with server.runner() as run:
            got = 0
            for name in range(names):
                gate.wait(timeout=30)
                params = {"lock": f"n{name}", "owner": f"o{number}", "ttl_ms": 60_000, **HOLDER}
                got += run.fetch(text, params)[0]["acquired"]
            return got

    with ThreadPoolExecutor(callers) as pool:
        return sum(pool.map(call, range(callers)))


@requirement("NEO-86")
def test_callers_queue_on_the_lock_node_and_without_that_several_get_the_lock(store, unmigrated):
    create = "UNWIND range(0, 9) AS i CREATE (l:MkgMigrationLock {name: 'n' + i, token: 0})"
    body = spec("ops.migration_lock").body
    queueing = "SET l.touched_by = $owner\n"
    assert queueing in body
    store.execute(create)
    assert grants(unmigrated, body) == 10
    store.execute("MATCH (l:MkgMigrationLock) SET l.owner = null, l.expires_at = null")
    assert grants(unmigrated, body.replace(queueing, "")) > 10


@requirement("NEO-86")
def test_the_lock_is_refused_with_its_holder_named_while_it_is_held(store, tmp_path):
    root = folder(tmp_path, V0001__data=THINGS)
    grant = acquire(store, "other")
    assert grant.acquired
    with pytest.raises(MigrationLocked, match=r"held by ann on elsewhere \(process 42\) since 20"):
        apply_all(store, root=root, wait=0.2)
    assert value(store, "MATCH (n) WHERE n:Thing OR n:MkgMigration RETURN count(n) AS n") == 1
    lease.migration_release(store, lock="migration", owner="other", token=grant.token)
    assert apply_all(store, root=root, wait=0.2) == ["V0001__data"]


@requirement("NEO-86")
def test_nothing_to_do_needs_no_lock(store, tmp_path):
    root = folder(tmp_path, V0001__data=THINGS)
    apply_all(store, root=root)
    acquire(store, "other")
    assert apply_all(store, root=root, wait=0) == []
    assert {state.state for state in status(store, root)} == {"applied"}


@requirement("NEO-86", "NEO-91")
def test_a_lock_left_by_a_dead_process_is_waited_for_and_then_taken(store, tmp_path):
    root = folder(tmp_path, V0001__data=THINGS)
    left = acquire(store, "dead", ttl_ms=700)
    said: list[str] = []
    assert apply_all(store, root=root, wait=5, progress=said.append) == ["V0001__data"]
    assert "waiting for the migration lock, held by ann on elsewhere" in said[0]
    assert value(store, "MATCH (l:MkgMigrationLock) RETURN l.token AS t") == left.token + 1
    assert value(store, "MATCH (l:MkgMigrationLock) RETURN l.owner IS NULL AS free") is True
    assert lease.migration_release(store, lock="migration", owner="dead", token=left.token) is None


@requirement("NEO-86")
@pytest.mark.parametrize(("clock", "got"), [("datetime.realtime()", True), ("datetime()", False)])
def test_expiry_is_read_from_the_clock_after_the_wait_and_not_from_the_one_before(
    store, unmigrated, clock, got
):
    acquire(store, "dead")
    body = spec("ops.migration_lock").body.replace("<= datetime.realtime()", f"<= {clock}")
    assert f"<= {clock} AS free" in body
    query = dataclasses.replace(spec("ops.migration_lock"), body=body)
    params = {"lock": "migration", "owner": "next", "ttl_ms": 1000, **HOLDER}
    queued = """SHOW TRANSACTIONS YIELD currentQuery, status
WHERE currentQuery CONTAINS 'AS free' AND status STARTS WITH 'Blocked'
RETURN status"""

    def call() -> bool:
        with unmigrated.runner() as run:
            return run.fetch(query, params)[0]["acquired"]

    with ThreadPoolExecutor(1) as pool:
        with store.unit() as unit:
            unit.execute("MATCH (l:MkgMigrationLock) SET l.touched_by = 'a long write'")
            answer = pool.submit(call)
            until(lambda: rows(store, queued))
            unit.execute("MATCH (l:MkgMigrationLock) SET l.expires_at = datetime.realtime()")
        assert answer.result(timeout=5) is got


@requirement("NEO-86")
def test_a_living_holder_keeps_the_lock_beyond_its_lease_and_a_silent_one_does_not(store):
    expiry = "MATCH (l:MkgMigrationLock) RETURN toString(l.expires_at) AS e"
    with lease.hold(store, ttl=1.5) as held:
        first = value(store, expiry)
        until(lambda: value(store, expiry) != first)
        assert not acquire(store, "other").acquired
        held.check()
        held._stop.set()
        until(lambda: acquire(store, "other").acquired)
        with pytest.raises(MigrationLocked, match="went to another runner"):
            until(lambda: held.check())
    assert value(store, "MATCH (l:MkgMigrationLock) RETURN l.owner AS o") == "other"


@requirement("NEO-86")
def test_a_runner_that_lost_its_lock_records_nothing_and_its_data_is_taken_back(store, tmp_path):
    root = folder(tmp_path, V0001__data=THINGS)
    steal = "MATCH (l:MkgMigrationLock) SET l.owner = 'thief', l.token = l.token + 1"

    def robbed(line: str) -> None:
        if line == "V0001__data: running":
            store.execute(steal)

    with pytest.raises(MigrationLocked, match="went to another runner"):
        apply_all(store, root=root, progress=robbed)
    assert rows(store, "MATCH (n:Thing) RETURN n.id AS id") == []
    assert rows(store, "MATCH (m:MkgMigration) RETURN m.id AS id") == [{"id": BASELINE}]
    assert value(store, "MATCH (l:MkgMigrationLock) RETURN l.owner AS o") == "thief"


@requirement("NEO-83")
def test_the_database_itself_refuses_a_second_record_of_one_place(store, tmp_path):
    apply_all(store, root=folder(tmp_path, V0001__data=THINGS))
    with pytest.raises(Exception, match="constraint"):
        store.execute("CREATE (:MkgMigration {id: 'V0001__other', seq: 1})")


def test_a_backend_without_the_lock_refuses_to_work(store, tmp_path):
    from mkg.migrate import Neo4jBackend, read_migrations

    root = folder(tmp_path, V0001__data=THINGS)
    backend = Neo4jBackend.over(store, root)
    with pytest.raises(MigrationError, match="take the migration lock first"):
        backend.apply_one(read_migrations(root)[0])
