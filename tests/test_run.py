"""`mkg run` and `mkg explain`: every query without Python, with typed parameters."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mkg import db
from mkg.bundle import header, load_bundle
from mkg.bundle.header import Field, QuerySpec, parse_type
from mkg.cli import app
from mkg.cli.arguments import literal, parameters, pasted
from mkg.cli.query import plain, table
from mkg.errors import Refused
from tests.conftest import Live
from tests.support.learned import say

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def mkg(*words: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, list(words), input=answer)


def taking(**kinds: str) -> QuerySpec:
    """A query that takes parameters of these types."""
    params = tuple(Field(name, parse_type(kind, name)) for name, kind in kinds.items())
    good = load_bundle().queries["ops.ping"]
    assert isinstance(good, header.QuerySpec)
    return QuerySpec(**{**{s: getattr(good, s) for s in QuerySpec.__slots__}, "params": params})


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("STRING NOT NULL", "a=b c", "a=b c"),
        ("STRING NOT NULL", "null", "null"),
        ("STRING", "null", None),
        ("STRING", '"null"', "null"),
        ("STRING", '"two\\nlines"', "two\nlines"),
        ("STRING NOT NULL", "", ""),
        ("INTEGER NOT NULL", "-3", -3),
        ("INTEGER", "null", None),
        ("FLOAT NOT NULL", "2", 2.0),
        ("FLOAT NOT NULL", "2.5e-1", 0.25),
        ("BOOLEAN NOT NULL", "true", True),
        ("ZONED DATETIME NOT NULL", "2026-01-31T12:00:00Z", NOON),
        ("ZONED DATETIME NOT NULL", "2026-01-31T12:00:00+00:00", NOON),
        ("DATE NOT NULL", "2026-01-31", date(2026, 1, 31)),
        ("DURATION NOT NULL", "P1DT2H", db.duration("P1DT2H")),
        ("MAP NOT NULL", '{"a": [1, null]}', {"a": [1, None]}),
        ("ANY", "3", 3),
        ("ANY", "three", "three"),
        ("LIST<STRING NOT NULL> NOT NULL", '["a", "b,c"]', ["a", "b,c"]),
        ("LIST<STRING>", '["a", null]', ["a", None]),
        ("LIST<FLOAT>", "[1, 0.5]", [1.0, 0.5]),
        ("LIST<FLOAT>", "null", None),
        ("LIST<MAP NOT NULL> NOT NULL", '[{"id": 1}]', [{"id": 1}]),
        ("LIST<ZONED DATETIME NOT NULL>", '["2026-01-31T12:00:00Z"]', [NOON]),
    ],
)
def test_a_value_is_read_by_the_type_of_the_header(kind: str, text: str, value: object) -> None:
    assert parameters(taking(p=kind), [f"p={text}"]) == {"p": value}


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("INTEGER NOT NULL", "3.5", "3.5 is none"),
        ("INTEGER NOT NULL", "true", "true is none"),
        ("INTEGER NOT NULL", "9223372036854775808", "is none"),
        ("INTEGER NOT NULL", "null", "null is none"),
        ("INTEGER NOT NULL", "three", "'three' cannot be read"),
        ("FLOAT NOT NULL", "NaN", "is none"),
        ("BOOLEAN NOT NULL", "yes", "cannot be read"),
        ("BOOLEAN NOT NULL", "1", "1 is none"),
        ("ZONED DATETIME NOT NULL", "2026-01-31T12:00:00", "time zone is missing"),
        ("ZONED DATETIME NOT NULL", "yesterday", "Invalid isoformat"),
        ("DURATION NOT NULL", "two days", "must be in ISO format"),
        ("MAP NOT NULL", "[1]", "is none"),
        ("LIST<STRING NOT NULL> NOT NULL", "a,b", "cannot be read"),
        ("LIST<STRING NOT NULL> NOT NULL", '"a"', 'such as ["a", "b"]'),
        ("LIST<STRING NOT NULL> NOT NULL", '["a", 1]', "1 is none"),
        ("LIST<STRING NOT NULL> NOT NULL", '["a", null]', "null may not stand in it"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_name(kind: str, text: str, told: str) -> None:
    with pytest.raises(Refused) as caught:
        parameters(taking(p=kind), [f"p={text}"])
    assert "p is " in str(caught.value) and told in str(caught.value)


def test_every_fault_is_told_at_once_with_what_the_query_takes() -> None:
    query = taking(a="STRING NOT NULL", b="INTEGER NOT NULL", c="STRING")
    with pytest.raises(Refused) as caught:
        parameters(query, ["x=1", "b", "b=1", "b=2"])
    text = str(caught.value)
    for told in ("no parameter 'x'", "'b' is not name=value", "b is given twice", "a is missing"):
        assert told in text
    assert text.endswith("It takes a STRING NOT NULL, b INTEGER NOT NULL, c STRING")
    assert parameters(query, ["b=1", "a=z"]) == {"a": "z", "b": 1, "c": None}


def test_the_list_shows_every_query_with_its_parameters() -> None:
    shown = json.loads(mkg("run", "--list", "--json").stdout)
    assert [row["query"] for row in shown] == list(load_bundle().queries)
    plainly = mkg("run", "--list").stdout
    assert "timeline.scope" in plainly and "session_id=<STRING NOT NULL>" in plainly


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run"], "name a query"),
        (["run", "scope"], "did you mean timeline.scope"),
        (["run", "timeline.scope"], "session_id is missing"),
        (["run", "timeline.scope", "--json", "--print"], "choose one of"),
        (["explain", "nothing.at_all"], "there is no query"),
    ],
)
def test_a_command_that_cannot_be_run_says_what_is_wrong(
    own_home: Path, words: list[str], told: str
) -> None:
    done = mkg(*words)
    assert isinstance(done.exception, Refused) and told in str(done.exception)


def test_what_is_printed_for_a_query_tool_gives_the_same_rows(live: Live) -> None:
    values: dict[str, Any] = {
        "s": "it's\\ \n“é”\u2028",
        "n": None,
        "i": -1,
        "f": 0.5,
        "b": True,
        "t": NOON,
        "d": date(2026, 1, 31),
        "l": [1, "x", None],
        "m": {"odd key`": [NOON], "k": {}},
    }
    for name, value in values.items():
        assert live.value(f"RETURN {literal(value)} AS v") == value, name
    query = load_bundle().queries["timeline.recent"]
    text = pasted(query, {"project_id": "it's", "without_session": None, "limit": 3})
    first, selector, body = text.split("\n", 2)
    assert first == ":param {project_id: 'it\\'s', without_session: null, limit: 3}"
    assert (selector, body) == ("CYPHER 25", f"{query.body};")


def test_rows_come_as_a_table_or_as_json_with_times_and_vectors(live: Live, own_home: Path) -> None:
    live.server.write_user_file(own_home)
    say(live, "Remember that we deploy with make ship.")
    owner = str(live.value("MATCH (l:Learning) RETURN l.owner_key AS v"))
    words = ["run", "gate.blocked_recently", "--param", "project_id=p", "--param", "limit=3"]
    assert json.loads(mkg(*words, "--json").stdout) == []
    asked = ["--param", f"owner_key={owner}", "--param", 'statuses=["approved"]']
    asked += ["--param", "injectable_only=false", "--param", "excluded=[]", "--param", "limit=3"]
    (known,) = json.loads(mkg("run", "learnings.recent", *asked, "--json").stdout)
    assert 0 <= known["age_seconds"] < 600
    why = mkg("run", "learnings.why", "--param", f"id={known['id']}", "--json")
    (row,) = json.loads(why.stdout)
    assert datetime.fromisoformat(row["created_at"]).tzinfo is not None
    lines = mkg("run", "learnings.recent", *asked).stdout.splitlines()
    assert lines[0].split()[:3] == ["id", "short_id", "text"] and "make ship" in lines[2]


def test_values_without_a_json_form_are_told_by_their_name() -> None:
    row = {"t": NOON, "d": date(2026, 1, 31), "n": float("nan"), "v": [0.1] * 384, "x": None}
    assert plain(row) == {
        "t": "2026-01-31T12:00:00+00:00",
        "d": "2026-01-31",
        "n": "nan",
        "v": [0.1] * 384,
        "x": None,
    }
    lines = list(table(["v", "s"], [{"v": [0.1] * 384, "s": "a\x1b[2J" + "b" * 99}]))
    assert lines[2].startswith("[384 numbers]  a\\u001b[2Jbbb") and lines[2].endswith("…")


def test_a_query_that_writes_asks_first(live: Live, own_home: Path) -> None:
    live.server.write_user_file(own_home)
    say(live, "Remember that we deploy with make ship.")
    id = str(live.value("MATCH (l:Learning) RETURN l.id AS v"))
    words = [
        "run",
        "learnings.serve",
        "--param",
        f'ids=["{id}"]',
        "--param",
        "at=2026-01-31T12:00Z",
    ]
    refused = mkg(*words, answer="n\n")
    assert isinstance(refused.exception, Refused) and "nothing was run" in str(refused.exception)
    count = "MATCH (l:Learning) RETURN l.retrieval_count AS v"
    assert live.value(count) == 0
    done = mkg(*words, "--yes", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, [{"served": 1}])
    assert live.value(count) == 1


def test_explain_shows_the_plan_and_runs_nothing(live: Live, own_home: Path) -> None:
    live.server.write_user_file(own_home)
    told = mkg("explain", "timeline.scope").stdout
    assert "type r, columns project_id, user_id, epoch" in told
    assert "NodeUniqueIndexSeek" in told
    plan = json.loads(mkg("explain", "timeline.append", "--json").stdout)
    assert plan["type"] == "rw" and plan["columns"] == ["event_id", "session_id", "seq"]
    assert live.value("MATCH (s:Session) RETURN count(s) AS v") == 0
