"""The runner on the real server: retries, bookmarks, metadata, access mode, errors."""

import dataclasses
import threading
import time

import pytest

from mkg.bundle import load_bundle, spec
from mkg.db import Neo4jRunner, Unit
from mkg.errors import (
    ConfigError,
    GraphConflict,
    GraphError,
    GraphRejected,
    GraphUnavailable,
)
from mkg.handshake import refuse_old
from tests.conftest import Live
from tests.support.requirement import requirement


def statement(text: str, mode: str = "write", name: str = "test.probe"):  # type: ignore[no-untyped-def]
    return dataclasses.replace(spec("ops.ping"), name=name, mode=mode, body=text)  # type: ignore[arg-type]


@requirement("SEC-01")
def test_a_read_query_cannot_write_and_a_write_query_can(live: Live) -> None:
    create = "CREATE (n:MkgProbe) RETURN 1 AS answer"
    with pytest.raises(GraphRejected):
        live.run.fetch(statement(create, "read"), {})
    assert live.run.fetch(statement(create), {}) == [{"answer": 1}]


def test_the_query_name_is_visible_on_the_server(live: Live) -> None:
    text = (
        "SHOW TRANSACTIONS YIELD metaData WHERE metaData.query = 'test.named' "
        "RETURN metaData.app AS app, metaData.caller AS caller"
    )
    assert live.run.fetch(statement(text, "read", "test.named"), {}) == [
        {"app": "mkg", "caller": "test"}
    ]


def test_a_second_runner_with_the_bookmarks_sees_the_first_ones_write(live: Live) -> None:
    live.run.fetch(statement("CREATE (n:MkgProbe {id: 7}) RETURN 1 AS answer"), {})
    assert live.run.bookmarks
    other = Neo4jRunner(
        live.server.uri,
        (live.server.username, live.server.password),
        "neo4j",
        bookmarks=live.run.bookmarks,
    )
    with other:
        found = other.fetch(statement("MATCH (n:MkgProbe) RETURN n.id AS answer", "read"), {})
    assert found == [{"answer": 7}]


@requirement("NEO-09")
def test_a_deadlock_is_retried_until_both_writers_are_through(live: Live) -> None:
    live.run.execute("CYPHER 25\nCREATE (:MkgProbe {id: 1, n: 0}), (:MkgProbe {id: 2, n: 0})")
    text = (
        "MATCH (a:MkgProbe {id: $a}) SET a.n = a.n + 1 "
        "WITH a MATCH (b:MkgProbe {id: $b}) SET b.n = b.n + 1 RETURN 1 AS answer"
    )

    def write(a: int, b: int) -> None:
        with live.server.runner() as run:
            for _ in range(15):
                run.fetch(statement(text), {"a": a, "b": b})

    threads = [threading.Thread(target=write, args=pair) for pair in ((1, 2), (2, 1)) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert live.rows("MATCH (n:MkgProbe) RETURN n.n AS times ORDER BY n.id") == [
        {"times": 60},
        {"times": 60},
    ]


def test_a_permanent_error_is_not_repeated(live: Live) -> None:
    started = time.monotonic()
    with pytest.raises(GraphRejected) as caught:
        live.run.fetch(statement("RETURN nonsense AS answer"), {})
    assert time.monotonic() - started < 2
    assert (caught.value.query, caught.value.status) == ("test.probe", "42001")


def test_a_broken_constraint_is_a_conflict(live: Live) -> None:
    live.run.execute("CYPHER 25\nCREATE (:Project {id: 'p'})")
    with pytest.raises(GraphConflict):
        live.run.execute("CYPHER 25\nCREATE (:Project {id: 'p'})")


@requirement("NEO-140")
def test_a_closed_port_is_unavailable_at_once() -> None:
    started = time.monotonic()
    run = Neo4jRunner("bolt://127.0.0.1:9", ("neo4j", "x" * 12), "neo4j")
    with run, pytest.raises(GraphUnavailable):
        run.verify()
    assert time.monotonic() - started < 3


def test_a_wrong_password_says_which_settings_to_check(live: Live) -> None:
    run = Neo4jRunner(live.server.uri, ("neo4j", "not-the-password"), "neo4j")
    with run, pytest.raises(ConfigError, match="NEO4J_PASSWORD"):
        run.verify()


def test_a_wrong_password_stays_one_when_the_server_only_names_the_many_tries(live: Live) -> None:
    for _ in range(6):
        with (
            Neo4jRunner(live.server.uri, ("nobody", "not-the-password"), "neo4j") as run,
            pytest.raises(ConfigError, match="NEO4J_PASSWORD"),
        ):
            run.verify()


def test_an_unknown_database_is_an_error_and_not_the_default_one(live: Live) -> None:
    auth = (live.server.username, live.server.password)
    with (
        Neo4jRunner(live.server.uri, auth, "nosuchdb") as run,
        pytest.raises(ConfigError, match="NEO4J_DATABASE"),
    ):
        run.verify()


def test_a_neo4j_uri_goes_through_routing_to_the_same_store(live: Live) -> None:
    uri = live.server.uri.replace("bolt://", "neo4j://")
    with Neo4jRunner(uri, (live.server.username, live.server.password), "neo4j") as run:
        run.verify()


def test_a_unit_that_raises_keeps_nothing(live: Live) -> None:
    with pytest.raises(RuntimeError), live.run.unit() as unit:
        unit.execute("CYPHER 25\nCREATE (:MkgProbe)")
        raise RuntimeError
    assert live.value("MATCH (n:MkgProbe) RETURN count(n)") == 0
    with live.run.unit() as unit:
        unit.execute("CYPHER 25\nCREATE (:MkgProbe)")
    assert live.value("MATCH (n:MkgProbe) RETURN count(n)") == 1


def test_no_error_text_carries_a_parameter(live: Live) -> None:
    with pytest.raises(GraphRejected) as caught:
        live.run.execute("CYPHER 25\nRETURN 1 + $secret.x AS answer", {"secret": "hunter2-hunter2"})
    assert "hunter2" not in str(caught.value)


def test_the_bundle_names_every_query_once() -> None:
    names = [query.name for query in load_bundle().queries.values()]
    assert len(names) == len(set(names)) > 20


@requirement("NEO-103", "MEM-W01")
def test_the_server_gets_the_files_own_text_whatever_the_values(live: Live) -> None:
    text = (
        "SHOW TRANSACTIONS YIELD currentQuery, metaData WHERE metaData.query = 'test.text' "
        "RETURN currentQuery AS answer, $value AS value"
    )
    asked = statement(text, "read", "test.text")
    for value in ("one", "two'}) //"):
        (row,) = live.run.fetch(asked, {"value": value})
        assert row == {"answer": f"CYPHER 25\n{asked.body}", "value": value}


@requirement("NEO-141")
def test_a_statement_over_the_memory_limit_is_not_tried_again(live: Live) -> None:
    tries: list[int] = []

    def work(unit: Unit) -> None:
        tries.append(1)
        assert len(tries) == 1
        unit.execute(
            "CYPHER 25\nUNWIND range(1, 200000000) AS i RETURN collect(toString(i) + $long) AS all",
            {"long": "x" * 9999},
        )

    auth = (live.server.username, live.server.password)
    with (
        # Long enough for another try, however slow the machine.
        Neo4jRunner(live.server.uri, auth, "neo4j", retry_seconds=600) as run,
        pytest.raises(GraphError),
    ):
        run.in_one(work, name="test.memory")
    assert tries == [1]


@requirement("MEM-W01", "MEM-T212")
def test_a_server_below_the_floor_is_refused_in_plain_words(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.run.verify()
    bundle = load_bundle()
    newer = dataclasses.replace(bundle, server="9999.01")
    monkeypatch.setattr("mkg.db.load_bundle", lambda: newer)
    with pytest.raises(ConfigError, match=r"is Neo4j/\S+; mkg needs Neo4j 9999\.01 or newer"):
        live.run.verify()


@requirement("MEM-W01")
@pytest.mark.parametrize(
    ("agent", "old"),
    [
        ("Neo4j/5.26.1", True),
        ("Neo4j/4.4.42", True),
        ("Neo4j/2025.12.0", True),
        ("Neo4j/2026.01.4", False),
        ("Neo4j/2027.02.0", False),
        ("Neo4j/5.27-aura", False),
        ("Other/1.0", False),
    ],
)
def test_the_floor_is_that_of_the_bundle(agent: str, old: bool) -> None:
    if old:
        with pytest.raises(ConfigError, match=r"mkg needs Neo4j 2026\.01 or newer"):
            refuse_old(agent, load_bundle().server)
    else:
        refuse_old(agent, load_bundle().server)


@requirement("NEO-03", "MEM-W75")
def test_what_everything_is_tested_on_is_the_community_edition(live: Live) -> None:
    kernel = "CALL dbms.components() YIELD name, edition WHERE name = 'Neo4j Kernel' RETURN edition"
    assert live.value(kernel) == "community"
    kinds = "SHOW CONSTRAINTS YIELD type RETURN collect(DISTINCT type) AS kinds"
    assert live.value(kinds) == ["NODE_PROPERTY_UNIQUENESS"]
