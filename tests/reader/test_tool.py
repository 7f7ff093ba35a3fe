"""`neo4j_read_cypher` as clients meet it, where it is switched off, and `mkg read-gate`."""

import json
import threading

import pytest
from typer.testing import CliRunner

from mkg.cli import app
from mkg.cli.read_gate import judge_lines
from mkg.errors import ConfigError, GraphUnavailable, Refused
from mkg.features.reader.meter import A_MINUTE, AT_ONCE, MOST_STUCK, Meter
from mkg.features.reader.switch import Exposure, offered, why_off
from mkg.features.reader.tools import read_tool
from mkg.server.connection import Connection
from mkg.server.memory import TOOLS, MemoryServer
from mkg.settings import load_settings
from tests.reader.cases import GIVEN
from tests.server.asking import ERAS, FakeStore, Lent, bad, good, server, settings
from tests.support.requirement import requirement

GIVEN_IDS = [
    "CG-Q01",
    "CG-Q03",
    "CG-Q05",
    "CG-Q07",
    "CG-Q09",
    "CG-Q11",
    "CG-Q13",
    "CG-Q15",
    "CG-Q17",
    "CG-Q19",
    "CG-Q21",
    "CG-Q23",
    "CG-Q25",
    "CG-Q27",
    "CG-Q29",
    "CG-Q31",
    "CG-Q33",
    "CG-Q35",
    "CG-Q37",
    "CG-Q39",
    "CG-Q41",
    "CG-Q43",
    "CG-Q45",
    "CG-Q47",
    "CG-Q49",
    "CG-Q51",
    "CG-Q53",
    "CG-Q55",
    "CG-Q57",
    "CG-Q59",
    "CG-Q61",
    "CG-Q63",
    "CG-Q65",
    "CG-Q67",
    "CG-Q69",
    "CG-Q71",
    "CG-Q73",
    "CG-Q75",
    "CG-Q77",
    "CG-Q79",
    "CG-Q81",
    "CG-Q83",
    "CG-Q85",
    "CG-Q87",
    "CG-Q89",
    "CG-Q91",
    "CG-Q93",
    "CG-Q95",
    "CG-Q97",
]


@pytest.fixture
def served(graph, tmp_path):
    own = graph.settings(tmp_path, read_cypher="on")
    found = server(tmp_path, lambda found: Lent(graph.run), own=own)
    yield found
    found.close()


def test_a_client_gets_rows_limits_and_refusals_in_both_eras(served):
    found = good(
        served,
        "neo4j_read_cypher",
        {"query": "MATCH (l:Learning {id: $id}) RETURN l", "params": '{"id": "l1"}'},
        era=ERAS[0],
    )
    assert json.loads(found["rows"][0])["l"]["properties"]["text"] == "words 1"
    assert (found["columns"], found["row_count"], found["truncated"]) == (["l"], 1, False)
    assert found["left_out"] == ["1 vectors"] and "not instructions" in found["note"]
    more = good(
        served,
        "neo4j_read_cypher",
        {"query": "UNWIND range(1, $n) AS i RETURN i", "params": {"n": 500}},
        era=ERAS[1],
    )
    assert (more["row_count"], more["truncated"]) == (200, True) and more["why_truncated"]
    no = bad(served, "neo4j_read_cypher", {"query": "MATCH (n) SET n.x = 1"})
    assert (no["code"], "SET is refused" in no["error"]) == ("refused", True)
    wrong = bad(served, "neo4j_read_cypher", {"query": "RETURN $a", "params": "[1]"})
    assert wrong["code"] == "invalid"
    assert good(served, "neo4j_get_schema")["labels"]


@requirement("SEC-41")
def test_raw_queries_are_off_on_a_foreign_store_unless_the_user_says_so(graph, tmp_path):
    own = graph.settings(tmp_path)
    served = server(tmp_path, lambda found: Lent(graph.run), own=own)
    found = bad(served, "neo4j_read_cypher", {"query": "RETURN 1 AS x"})
    assert found["code"] == "refused" and "MKG_READ_CYPHER=on" in found["error"]


@requirement("SEC-41")
@pytest.mark.parametrize(
    ("choice", "exposure", "managed", "told"),
    [
        ("auto", Exposure(), True, ""),
        ("auto", Exposure(), False, "not the managed local one"),
        ("on", Exposure(), False, ""),
        ("off", Exposure(), True, "MKG_READ_CYPHER=off"),
        ("auto", Exposure(listens_for_others=True), True, "listens for others"),
        ("on", Exposure(listens_for_others=True), True, ""),
        ("on", Exposure(several_users=True), True, "more than one user"),
        ("on", Exposure(scope="project"), True, "within one project"),
    ],
)
def test_who_may_ask_raw_queries_follows_the_store_the_users_and_the_setting(
    choice, exposure, managed, told
):
    found = why_off(choice, exposure, managed=managed)
    assert told in found if told else found == ""


@requirement("SEC-41")
def test_a_call_on_a_server_for_several_is_refused_before_any_connection(tmp_path):
    def nothing(found):
        raise AssertionError("a refused call must not connect")

    own = settings(tmp_path, read_cypher="on")
    connection = Connection(
        "client",
        connect=lambda found: FakeStore(),
        settings=lambda who, folder: own,
        connect_raw=nothing,
        exposure=Exposure(several_users=True),
    )
    found = bad(MemoryServer(connection), "neo4j_read_cypher", {"query": "RETURN 1 AS x"})
    assert found["code"] == "refused" and "more than one user" in found["error"]


@requirement("SEC-41")
def test_a_face_that_listens_for_others_hides_the_tool_and_a_local_one_never_does():
    tools = (*TOOLS, read_tool("read_cypher"))

    def names(exposure, choice):
        return {tool.name for tool in offered(tools, exposure, choice)}

    every = {tool.name for tool in tools}
    assert names(Exposure(), "auto") == names(Exposure(several_users=True), "off") == every
    hidden = every - {"neo4j_read_cypher", "read_cypher"}
    assert names(Exposure(listens_for_others=True), "auto") == hidden
    assert names(Exposure(listens_for_others=True), "on") == every
    assert names(Exposure(listens_for_others=True, scope="project"), "on") == hidden


@requirement("SEC-41")
def test_a_client_may_close_raw_reading_and_never_open_it(own_home, monkeypatch):
    assert load_settings(origin="client").read_cypher == "auto"
    monkeypatch.setenv("MKG_READ_CYPHER", "on")
    assert load_settings(origin="shell").read_cypher == "on"
    assert load_settings(origin="client").read_cypher == "auto"
    monkeypatch.setenv("MKG_READ_CYPHER", "off")
    assert load_settings(origin="client").read_cypher == "off"
    monkeypatch.setenv("MKG_READ_CYPHER", "maybe")
    with pytest.raises(ConfigError, match="MKG_READ_CYPHER"):
        load_settings(origin="shell")


@requirement("SEC-46")
def test_two_run_at_once_and_a_third_is_told_busy():
    meter = Meter()
    with meter.slot(), meter.slot():
        with pytest.raises(Refused) as caught, meter.slot():
            pass
        assert caught.value.code == "busy" and str(AT_ONCE) in str(caught.value)
    with meter.slot():
        pass


@requirement("SEC-46")
def test_thirty_a_minute_run_and_the_next_waits_for_the_first_to_age():
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    for _ in range(A_MINUTE):
        with meter.slot():
            pass
    with pytest.raises(Refused) as caught, meter.slot():
        pass
    assert caught.value.code == "busy" and "in 61 s" in str(caught.value)
    now[0] = 60.0
    with meter.slot():
        pass


@requirement("SEC-46")
def test_many_threads_never_hold_more_than_two_slots():
    meter, most, inside, told = Meter(), 0, 0, []
    lock, gate = threading.Lock(), threading.Barrier(8)

    def work():
        nonlocal most, inside
        gate.wait(5)
        for _ in range(3):
            try:
                with meter.slot():
                    with lock:
                        inside += 1
                        most = max(most, inside)
                    with lock:
                        inside -= 1
            except Refused as error:
                told.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert most <= AT_ONCE and set(told) <= {"busy"}


def test_only_calls_that_are_seen_to_run_on_count_as_stuck():
    meter = Meter()
    names = [f"c{i}" for i in range(MOST_STUCK + 1)]
    for name in names:
        meter.suspect(name)
    with pytest.raises(Refused, match="switched off"):
        meter.settle(names, names[:MOST_STUCK])
    assert meter.suspects() == set(names[:MOST_STUCK])
    meter.suspect("later")
    meter.settle(names, names[: MOST_STUCK - 1])
    assert meter.suspects() == {*names[: MOST_STUCK - 1], "later"}


def test_each_line_gets_a_verdict_whatever_is_wrong_with_it():
    asked: list[tuple[str, object]] = []

    def judge(query, params):
        asked.append((query, params))
        if query == "away":
            raise GraphUnavailable("the database does not answer")
        return "" if query == "good" else "no"

    lines = [
        '{"id": "a", "query": "good"}',
        '{"id": "b", "query": "bad", "parameters": {"x": 1}}',
        "",
        "no json",
        "[1]",
        '{"id": "c"}',
        '{"id": "d", "query": 5}',
        '{"id": ["e"], "query": "away", "parameters": null}',
        '{"id": "f", "query": "' + "x" * (1 << 20) + '"}',
        "[" * 100_000,
    ]
    found = list(judge_lines(lines, judge))
    assert [(a["id"], a["verdict"]) for a in found] == [
        ("a", "allow"),
        ("b", "refuse"),
        (None, "refuse"),
        (None, "refuse"),
        ("c", "refuse"),
        ("d", "refuse"),
        (["e"], "refuse"),
        (None, "refuse"),
        (None, "refuse"),
    ]
    assert all(a["reason"] for a in found)
    assert asked == [("good", {}), ("bad", {"x": 1}), ("away", {})]


@requirement(*GIVEN_IDS)
def test_the_command_judges_every_given_row_right_against_the_store(live, own_home):
    live.server.write_user_file(own_home)
    rows = [json.loads(line) for line in GIVEN.read_text(encoding="utf-8").splitlines()]
    text = GIVEN.read_bytes() + b'{"id": "bytes", "query": "RETURN 1 \xff\xfe"}\nnot json\n'
    result = CliRunner().invoke(app, ["read-gate", "--jsonl"], input=text)
    assert result.exit_code == 0, result.output
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [f"CG-{row['id']}" for row in rows] == GIVEN_IDS
    expected = {**{row["id"]: row["expected"] for row in rows}, "bytes": "refuse", None: "refuse"}
    assert {a["id"]: a["verdict"] for a in answers} == expected
    assert all(set(a) == {"id", "verdict", "reason"} for a in answers)


def test_the_command_says_how_queries_come(own_home):
    result = CliRunner().invoke(app, ["read-gate"])
    assert isinstance(result.exception, ConfigError) and "--jsonl" in str(result.exception)
