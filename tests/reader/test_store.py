"""The gate in front of a real store: plans, READ mode, limits, and what comes out."""

import json
import threading
import time

import pytest

from mkg.db import raw as raw_module
from mkg.db.raw import Plan, RawReader
from mkg.errors import MkgError, RawFailed, Refused
from mkg.features.reader import plan, proof, rules, verdicts
from mkg.features.reader.meter import Meter
from mkg.features.reader.policy import load_policy
from mkg.features.reader.reader import Asked, Reader
from mkg.features.reader.rows import MOST_BYTES, MOST_CELL, MOST_ROWS, take
from tests.reader.cases import HONEST_PARAMETERS, honest, rows
from tests.reader.conftest import raw_on
from tests.support.requirement import requirement

POLICY = load_policy()
SLOW = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(*) AS n"


def held_by_server(raw: RawReader, query: str, params: dict) -> bool:
    """Whether plan and server alone refuse a text that no text layer has seen."""
    try:
        with raw.unit({"query": "test"}) as unit:
            return plan.objection(unit.explain(query, params), POLICY) != ""
    except RawFailed:
        return True


def refused(reader: Reader, query: str, params: dict | None = None) -> Refused:
    with pytest.raises(Refused) as caught:
        reader.read(Asked(query, params or {}))
    return caught.value


@requirement("AD13", "B29")
def test_every_row_and_every_honest_query_is_judged_right(reader):
    wrong = [
        row["id"]
        for row in rows()
        if (reader.judge(Asked(row["query"], row["parameters"])) == "")
        != (row["expected"] == "allow")
    ]
    assert wrong == []
    assert [q for q in honest() if reader.judge(Asked(q, HONEST_PARAMETERS))] == []


@requirement("SEC-43", "NEO-139", "SEC-13")
def test_plan_and_server_alone_hold_every_row_that_is_theirs(graph, patient):
    theirs = [r for r in rows() if r["expected"] == "refuse" and "S" in r["layers"]]
    assert len(theirs) >= 35
    assert [
        r["id"] for r in theirs if not held_by_server(patient, r["query"], r["parameters"])
    ] == []


@requirement("SEC-43", "ENC-W20", "SEC-02")
@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Plan("r", (("ProduceResults", ""), ("Filter", ""))), ""),
        (Plan("r", (("ProcedureCall", "db.labels() :: (label :: STRING)"),)), ""),
        (Plan("rw", (("ProduceResults", ""),)), "type rw"),
        (Plan("s", (("ProduceResults", ""),)), "type s"),
        (Plan("", (("ProduceResults", ""),)), "type unknown"),
        (Plan("r", ()), "no plan"),
        (Plan("r", (("ProduceResults", ""), ("LoadCSV", "row"))), "operator LoadCSV"),
        (Plan("r", (("SomethingNew(<x>)", ""),)), "operator SomethingNew(x)"),
        (Plan("r", (("ProcedureCall", "db.labelsX() :: ()"),)), "procedure"),
        (Plan("r", (("ProcedureCall", "apoc.load.json($x)"),)), "procedure"),
        (Plan("r", (("ProcedureCall", ""),)), "procedure"),
    ],
)
def test_a_plan_passes_only_with_listed_operators_and_procedures(found, told):
    said = plan.objection(found, POLICY)
    assert told in said if told else said == ""


@requirement("SEC-44")
def test_read_mode_alone_refuses_every_write_and_changes_nothing(graph, patient):
    before = graph.value("MATCH (n) RETURN count(n) AS n")
    codes = set()
    for query in ("CREATE (:X)", "MATCH (n) SET n.x = 1", "MATCH (n) DETACH DELETE n"):
        with pytest.raises(RawFailed) as caught, patient.unit({"query": "test"}) as unit:
            unit.stream(query, {})
        codes.add(caught.value.code)
    assert codes == {"Neo.ClientError.Statement.AccessMode"}
    assert graph.value("MATCH (n) RETURN count(n) AS n") == before


@requirement("SEC-44", "ENC-W20")
def test_a_slow_query_ends_at_the_time_limit_and_not_before(graph, raw):
    begun = time.monotonic()
    error = refused(Reader(raw, Meter()), SLOW)
    assert error.code == "timeout" and "TransactionTimedOut" in str(error)
    assert 0.9 < time.monotonic() - begun < 5
    with raw_on(graph.server, seconds=30) as patient:
        error = refused(Reader(patient, Meter(), watchdog=2.5), SLOW)
    assert "cut off" in str(error)


@requirement("SEC-44")
def test_the_server_sees_who_asks_and_two_connections_at_most(graph, raw):
    seen: list[dict[str, str]] = []

    def look() -> None:
        deadline = time.monotonic() + 5
        while not seen and time.monotonic() < deadline:
            seen.extend(
                row["metaData"]
                for row in graph.rows("SHOW TRANSACTIONS YIELD metaData, status RETURN metaData")
                if row["metaData"].get("query") == "neo4j_read_cypher"
            )

    watcher = threading.Thread(target=look)
    watcher.start()
    with pytest.raises(Refused):
        Reader(raw, Meter()).read(Asked(SLOW, {}, "neo4j_read_cypher", "session-1"))
    watcher.join()
    call = seen[0].pop("call")
    assert len(call) == 32
    assert seen[0] == {"app": "mkg", "query": "neo4j_read_cypher", "session": "session-1"}
    assert (raw_module.CONNECTIONS, raw_module.SECONDS) == (2, 10.0)


@requirement("SEC-45", "ENC-W20")
def test_rows_stop_at_two_hundred(reader):
    exact = reader.read(Asked(f"UNWIND range(1, {MOST_ROWS}) AS i RETURN i", {}))
    assert (len(exact.rows), exact.truncated) == (MOST_ROWS, "")
    over = reader.read(Asked("UNWIND range(1, 100000000) AS i RETURN i", {}))
    assert len(over.rows) == MOST_ROWS and "200 rows" in over.truncated


@requirement("SEC-45")
def test_an_answer_stops_at_its_bytes_and_a_cell_at_its_own(reader):
    row = "reduce(s = 'word ', i IN range(1, 11) | s + s)"
    found = reader.read(Asked(f"UNWIND range(1, 100) AS i RETURN {row} AS t", {}))
    size = sum(len(line.encode()) for line in found.rows)
    assert MOST_BYTES - 12_000 < size <= MOST_BYTES and "bytes" in found.truncated
    big = reader.read(
        Asked("RETURN reduce(s = 'ab', i IN range(1, 15) | s + s) AS cell, 1 AS x", {})
    )
    (line,) = big.rows
    cell = json.loads(line)["cell"]
    assert len(cell) <= MOST_CELL and "[cut:" in cell and json.loads(line)["x"] == 1
    fits = reader.read(Asked("RETURN reduce(s = 'ab', i IN range(1, 12) | s + s) AS cell", {}))
    assert json.loads(fits.rows[0])["cell"] == "ab" * 4096 and fits.dropped == {}


@requirement("SEC-45", "ENC-W21")
def test_lists_are_cut_and_vectors_are_left_out_by_name_and_by_length(reader):
    found = reader.read(
        Asked(
            "MATCH (l:Learning {id: 'l1'}) RETURN l, l.embedding AS numbers, "
            "[x IN range(1, 64) | x / 2.0] AS short, range(1, 101) AS list, "
            "range(1, 100) AS fits, {embedding: [0.5], other: [0.5]} AS map",
            {},
        )
    )
    row = json.loads(found.rows[0])
    assert "embedding" not in row["l"]["properties"] and row["l"]["properties"]["text"] == "words 1"
    assert row["numbers"] is None and len(row["short"]) == 64
    assert (len(row["list"]), len(row["fits"])) == (100, 100)
    assert row["map"] == {"other": [0.5]}
    assert found.dropped == {"vectors": 3, "ends of lists": 1}


@requirement("CG-Q89")
def test_every_type_of_value_becomes_plain_data(reader):
    found = reader.read(
        Asked(
            "MATCH p = (a:Project)-[r:HAS_SESSION]->(b) RETURN 0.0/0.0 AS nan, 1.0/0.0 AS inf, "
            "point({x: 1, y: 2}) AS at, datetime('2026-01-02T03:04:05Z') AS now, "
            "duration('P1D') AS day, r, p, true AS yes, null AS none, localtime('10:00') AS time",
            {},
        )
    )
    row = json.loads(found.rows[0])
    assert (row["nan"], row["inf"]) == ("nan", "inf")
    assert row["at"] == {"srid": 7203, "coordinates": [1.0, 2.0]}
    assert row["now"].startswith("2026-01-02T03:04:05") and row["day"] == "P1D"
    assert row["r"]["type"] == "HAS_SESSION" and len(row["p"]["nodes"]) == 2
    assert (row["yes"], row["none"], row["time"][:5]) == (True, None, "10:00")


@requirement("CG-Q77", "CG-Q83", "CG-Q85", "CG-Q87", "B31")
@pytest.mark.parametrize("row", [r for r in rows() if r.get("bounded")], ids=lambda r: r["id"])
def test_a_bounded_row_ends_with_an_answer_or_a_typed_error_and_the_next_is_quick(graph, raw, row):
    reader = Reader(raw, Meter())
    begun = time.monotonic()
    try:
        found = reader.read(Asked(row["query"], row["parameters"]))
        assert len(found.rows) <= MOST_ROWS
    except Refused as error:
        assert error.code in {"timeout", "refused"}
    assert time.monotonic() - begun < 12
    begun = time.monotonic()
    assert reader.read(Asked("RETURN 1 AS one", {})).rows == ['{"one":1}']
    assert time.monotonic() - begun < 3


@requirement("SEC-47")
def test_an_error_tells_code_and_place_and_nothing_else(reader):
    error = refused(reader, "MATCH (n)\nRETURN n.text + $secret AND", {"secret": "hunter2"})
    assert str(error) == (
        "the server refuses this query: Neo.ClientError.Statement.SyntaxError at line 2, column 28"
    )
    error = refused(reader, "RETURN 1 / $zero AS hunter2", {"zero": 0})
    assert str(error) == (
        "the server refuses this query: Neo.ClientError.Statement.ArithmeticError"
    )


@requirement("SEC-47")
def test_rows_are_masked_and_escaped(reader):
    query = "MATCH (e:SessionEvent) RETURN e.prompt AS prompt, e.prompt + ' ' + e.prompt AS twice"
    (line,) = reader.read(Asked(query, {})).rows
    assert "AKIA" not in line and "<" not in line and "\\u003cb" in line
    assert json.loads(line)["prompt"].startswith("the <b>key</b> is [REDACTED")


def test_a_verdict_is_kept_for_the_same_everything_and_for_nothing_else(graph, patient):
    reader = Reader(patient, Meter())
    asked = {"n": 0}
    explain = raw_module.RawUnit.explain

    def counted(self, text, params):
        asked["n"] += 1
        return explain(self, text, params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw_module.RawUnit, "explain", counted)
        query = Asked("MATCH (n:Learning {id: $id}) RETURN n.text AS t", {"id": "l1"})
        assert reader.judge(query) == reader.judge(query) == "" and asked["n"] == 1
        assert reader.judge(Asked(query.text, {"id": 1})) == "" and asked["n"] == 2
        graph.run.execute("CYPHER 25 CREATE INDEX reader_test FOR (n:Learning) ON (n.use_count)")
        try:
            assert reader.judge(query) == "" and asked["n"] == 3
        finally:
            graph.run.execute("CYPHER 25 DROP INDEX reader_test")


def test_the_name_of_a_verdict_depends_on_every_part():
    parts = {"policy": "p", "store": "s", "server": "v", "indexes": ("a", "b")}
    names = {verdicts.key("t", "{}", **parts)}
    for change in (
        {"policy": "q"},
        {"store": "u"},
        {"server": "w"},
        {"indexes": ("ab",)},
        {"indexes": ("a", "b", "c")},
    ):
        names.add(verdicts.key("t", "{}", **{**parts, **change}))
    names |= {verdicts.key("t2", "{}", **parts), verdicts.key("t", '{"a":1}', **parts)}
    names.add(verdicts.key("t{", "}", **parts))
    assert len(names) == 9


def test_a_verdict_is_forgotten_in_time_and_in_number():
    now = [0.0]
    kept = verdicts.Verdicts(clock=lambda: now[0])
    kept.keep("a", "no")
    now[0] = verdicts.SECONDS - 1
    assert kept.get("a") == "no"
    now[0] = verdicts.SECONDS
    assert kept.get("a") is None
    for i in range(verdicts.MOST + 1):
        kept.keep(f"k{i}", "")
    assert kept.get("k0") is None and kept.get("k1") == ""


@requirement("SEC-41")
def test_the_self_test_passes_here_and_names_the_layer_that_does_not_hold(graph, patient):
    raw = patient
    before = graph.value("MATCH (n) RETURN count(n) AS n")
    assert proof.prove(raw) is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw_module.neo4j, "READ_ACCESS", raw_module.neo4j.WRITE_ACCESS)
        assert proof.prove(raw) == proof.Failed("session", "create")
        assert "self-test failed" in str(refused(Reader(raw, Meter()), "RETURN 1 AS x"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "objection", lambda found, policy: "")
        assert proof.prove(raw) == proof.Failed("plan", "file")
        patch.setattr(plan, "objection", lambda found, policy: "no")
        assert proof.prove(raw) == proof.Failed("plan", "match")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proof, "decide", lambda text, policy: rules.Verdict(True, ""))
        assert proof.prove(raw) == proof.Failed("text", "escape")
    assert graph.value("MATCH (n) RETURN count(n) AS n") == before


def test_whoever_stops_early_leaves_the_rest_on_the_server(graph, patient):
    begun = time.monotonic()
    with patient.unit({"query": "test"}) as unit:
        columns, found = unit.stream("UNWIND range(1, 1000000000) AS i RETURN i", {})
        assert len(take(columns, found).rows) == MOST_ROWS
    # Asked to forget the rest, the server would produce it until the time limit.
    assert time.monotonic() - begun < 5


def test_a_store_that_does_not_answer_is_an_error_of_its_own(tmp_path):
    with RawReader("bolt://127.0.0.1:1", ("neo4j", "x"), "neo4j", connection_timeout=0.3) as away:
        with pytest.raises(MkgError) as caught:
            Reader(away, Meter()).judge(Asked("RETURN 1 AS x", {}))
        assert type(caught.value).__name__ == "GraphUnavailable"
