"""What a schema statement declares, and how the server's answer is compared with it; no server."""

import pytest

from mkg.errors import MigrationError, MigrationUnverified
from mkg.migrate.lexer import split
from mkg.migrate.schema import declared, settle
from tests.support.fake_runner import FakeRunner
from tests.support.requirement import requirement

VECTOR = """CREATE VECTOR INDEX v IF NOT EXISTS // a comment
FOR (n:A) ON n.embedding
WITH [n.owner, n.live]
OPTIONS {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine'}}"""


def declare(text: str):
    return declared(split(text, where="f")[0], "f")


def shape(text: str):
    found = declare(text)
    return (found.what, found.name, found.type, found.labels, found.properties, found.options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CREATE CONSTRAINT c IF NOT EXISTS FOR (n:A) REQUIRE n.id IS UNIQUE",
            ("constraint", "c", "UNIQUENESS", ("A",), ("id",), {}),
        ),
        (
            "create constraint `c d` if not exists for (:A) require (n.a, n.`b c`) is unique",
            ("constraint", "c d", "UNIQUENESS", ("A",), ("a", "b c"), {}),
        ),
        (
            "CREATE CONSTRAINT c IF NOT EXISTS FOR ()-[r:R]-() REQUIRE r.a IS NOT NULL",
            ("constraint", "c", "", ("R",), ("a",), {}),
        ),
        (
            "CREATE INDEX i IF NOT EXISTS\nFOR (n : A)\nON (n.a, n.b)",
            ("index", "i", "RANGE", ("A",), ("a", "b"), {}),
        ),
        (
            "CREATE FULLTEXT INDEX f IF NOT EXISTS FOR (n:A|`B C`) ON EACH [n.x, n.y]",
            ("index", "f", "FULLTEXT", ("A", "B C"), ("x", "y"), {}),
        ),
        (
            VECTOR,
            (
                "index",
                "v",
                "VECTOR",
                ("A",),
                ("embedding", "owner", "live"),
                {"vector.dimensions": "384", "vector.similarity_function": "cosine"},
            ),
        ),
        (
            "CREATE LOOKUP INDEX l IF NOT EXISTS FOR (n) ON EACH labels(n)",
            ("index", "l", "LOOKUP", (), (), {}),
        ),
    ],
)
def test_a_statement_tells_what_it_declares(text, expected):
    assert shape(text) == expected


@requirement("NEO-84")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE INDEX i FOR (n:A) ON (n.a)", "f:1: write IF NOT EXISTS"),
        ("DROP INDEX i", "f:1: write IF NOT EXISTS .or IF EXISTS."),
        ("CREATE INDEX IF NOT EXISTS FOR (n:A) ON (n.a)", "f:1: give the index a name"),
        ("CREATE USER u SET PASSWORD 'x'", "only indexes and constraints"),
        ("SHOW DATABASES", "only indexes and constraints"),
    ],
)
def test_a_statement_that_cannot_be_repeated_or_is_no_schema_is_refused(text, said):
    with pytest.raises(MigrationError, match=said):
        declare(text)


def server(**index) -> FakeRunner:
    found = {
        "name": "v",
        "type": "VECTOR",
        "state": "ONLINE",
        "labels": ["A"],
        "properties": ["embedding", "owner", "live"],
        "options": {
            "indexConfig": {"vector.dimensions": 384, "vector.similarity_function": "COSINE"}
        },
        "failure": "",
    }
    return FakeRunner({"ops.schema_indexes": [{**found, **index}], "ops.schema_constraints": []})


@requirement("NEO-84")
def test_an_index_as_declared_is_accepted(tmp_path):
    settle(server(), [declare(VECTOR)], "f", patience=0)


@requirement("NEO-84", "NEO-41", "MEM-W02")
@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"name": "w"}, "f:1: index v is not there"),
        ({"labels": ["B"]}, "exists with labels B"),
        ({"type": "RANGE"}, "exists with type RANGE"),
        ({"properties": ["embedding"]}, "exists with properties embedding"),
        (
            {
                "options": {
                    "indexConfig": {
                        "vector.dimensions": 768,
                        "vector.similarity_function": "COSINE",
                    }
                }
            },
            "exists with vector.dimensions 768",
        ),
        ({"state": "FAILED", "failure": "no room"}, "index v failed: no room"),
        ({"state": "POPULATING"}, "v not online after 0 s"),
    ],
)
def test_an_index_that_is_missing_different_failed_or_late_is_said(index, said):
    with pytest.raises(MigrationUnverified, match=said):
        settle(server(**index), [declare(VECTOR)], "f", patience=0)


@requirement("NEO-41")
def test_an_index_that_comes_online_while_we_wait_is_accepted():
    run = server()
    answers = [[{**run.answers["ops.schema_indexes"][0], "state": "POPULATING"}]] * 2
    online = run.answers["ops.schema_indexes"]
    run.answers["ops.schema_indexes"] = lambda _: answers.pop() if answers else online
    settle(run, [declare(VECTOR)], "f", patience=5)
    assert run.names().count("ops.schema_indexes") == 3


def test_of_an_object_dropped_and_made_again_the_last_word_counts():
    gone = declare("DROP INDEX v IF EXISTS")
    settle(server(), [gone, declare(VECTOR)], "f", patience=0)
    settle(server(name="w"), [declare(VECTOR), gone], "f", patience=0)
