"""Applying migrations to a real server: what runs, what is recorded, and what a failure leaves."""

from pathlib import Path

import pytest

from mkg.errors import (
    GraphUnavailable,
    MigrationError,
    MigrationTampered,
    MigrationUnverified,
)
from mkg.migrate import apply_all, newest_applied, pending, status
from tests.migrate.conftest import empty, rows, value
from tests.migrate.folder import BASELINE, folder, write
from tests.support.requirement import requirement

SCHEMA = "CREATE CONSTRAINT thing_id IF NOT EXISTS FOR (n:Thing) REQUIRE n.id IS UNIQUE;"
INDEXES = """CREATE INDEX thing_at IF NOT EXISTS FOR (n:Thing) ON (n.at);
CREATE FULLTEXT INDEX thing_text IF NOT EXISTS FOR (n:Thing) ON EACH [n.text];"""
DATA = "CREATE (:Thing {id: 'a'});\nMATCH (n:Thing {id: 'a'}) SET n.n = coalesce(n.n, 0) + 1;"
CHAIN = """MATCH (m:MkgMigration)
OPTIONAL MATCH (m)<-[:NEXT]-(before)
RETURN m.id AS id, m.seq AS seq, m.state AS state, m.kind AS kind, before.id AS before
ORDER BY seq"""
LOG = """MATCH (g:MkgMigrationLog)
WHERE g.operation <> 'begin'
RETURN g.operation AS did, g.migration AS id
ORDER BY g.at"""


def schema(run) -> list[dict[str, object]]:
    found = rows(run, "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, state")
    return sorted(
        (row for row in found if row["type"] != "LOOKUP"), key=lambda row: str(row["name"])
    )


def refused(kind: type[MigrationError], run, root, **options) -> str:
    with pytest.raises(kind) as caught:
        apply_all(run, root=root, **options)
    return str(caught.value)


@requirement("NEO-83", "NEO-91", "MEM-W70")
def test_an_empty_database_is_migrated_and_a_second_run_changes_nothing(blank, tmp_path):
    root = folder(tmp_path, V0001__schema=SCHEMA, V0002__more=INDEXES, V0003__data=DATA)
    every = [BASELINE, "V0001__schema", "V0002__more", "V0003__data"]
    assert pending(blank, root) == every
    said: list[str] = []
    assert apply_all(blank, root=root, progress=said.append) == every
    assert rows(blank, CHAIN) == [
        {"id": id, "seq": seq, "state": "APPLIED", "kind": kind, "before": before}
        for seq, (id, kind, before) in enumerate(
            zip(every, ["schema", "schema", "schema", "data"], [None, *every], strict=False)
        )
    ]
    assert rows(blank, LOG) == [
        {"did": "apply" if id != BASELINE else "baseline", "id": id} for id in every
    ]
    assert {row["state"] for row in schema(blank)} == {"ONLINE"}
    assert [line.split(":")[0] for line in said[::2]] == every
    before = rows(blank, "MATCH (n) RETURN properties(n) AS p ORDER BY elementId(n)")
    assert apply_all(blank, root=root) == []
    assert rows(blank, "MATCH (n) RETURN properties(n) AS p ORDER BY elementId(n)") == before
    assert pending(blank, root) == [] and newest_applied(blank) == "V0003__data"


@requirement("NEO-91")
def test_an_older_store_brought_forward_equals_a_fresh_one(store, tmp_path):
    new = {"V0001__schema": SCHEMA, "V0002__more": INDEXES.splitlines()[0], "V0003__data": DATA}
    fresh = folder(tmp_path / "new", **new)
    apply_all(store, root=fresh)
    things = "MATCH (n:Thing) RETURN properties(n) AS p"
    checks = "MATCH (m:MkgMigration) RETURN m.id AS id, m.checksum AS c ORDER BY m.seq"
    expected = schema(store), rows(store, things), rows(store, checks)
    empty(store, below=False)
    apply_all(store, root=folder(tmp_path / "old", V0001__schema=SCHEMA))
    assert apply_all(store, root=fresh) == ["V0002__more", "V0003__data"]
    assert (schema(store), rows(store, things), rows(store, checks)) == expected


@requirement("NEO-81")
def test_semicolons_in_strings_and_comments_reach_the_server_untouched(store, tmp_path):
    text = Path("tests/support/migration_files/comment_pile.cypher").read_text(encoding="utf-8")
    apply_all(store, root=folder(tmp_path, V0001__comment_pile=text))
    found = rows(store, "MATCH (n) WHERE n:Odd OR n:`Odd;Label` RETURN n.text AS t, n.escaped AS e")
    assert sorted(str(row["t"]) for row in found) == [
        "// no comment; /* none */",
        "a;b",
        "https://example.org/;x",
        "line one;\nline two; 'three'",
    ]
    assert 'it\'s; "so"' in [row["e"] for row in found]


@requirement("NEO-85", "NEO-91")
def test_an_edited_file_is_refused_and_its_text_restored_is_accepted(store, tmp_path):
    root = folder(tmp_path, V0001__schema=SCHEMA)
    apply_all(store, root=root)
    path = root / "V0001__schema.cypher"
    was = path.read_text()
    path.write_text(was + "// a comment\n")
    write(root, {"V0002__data": DATA})
    said = refused(MigrationTampered, store, root)
    assert str(path) in said and "was edited after it was applied" in said
    assert {state.id: state.state for state in status(store, root)}["V0001__schema"] == "edited"
    assert rows(store, "MATCH (n:Thing) RETURN n.id AS id") == []
    path.write_bytes(was.replace("\n", "\r\n").encode())
    assert apply_all(store, root=root) == ["V0002__data"]


@requirement("NEO-91")
def test_a_missing_file_is_refused_and_a_newer_database_is_read(store, tmp_path):
    root = folder(tmp_path, V0001__schema=SCHEMA, V0002__data=DATA)
    apply_all(store, root=root)
    (root / "V0002__data.cypher").unlink()
    write(root, {"R__policy": "MERGE (:Policy);"})
    assert "newer than this program: it has V0002__data" in refused(MigrationError, store, root)
    assert [state.state for state in status(store, root)] == [
        "applied",
        "applied",
        "newer",
        "pending",
    ]
    write(root, {"V0003__c": "RETURN 1;"})
    assert "V0002__data was applied" in refused(MigrationTampered, store, root)
    assert newest_applied(store) == "V0002__data"


@requirement("NEO-82")
def test_a_file_of_schema_and_data_is_refused_before_anything_is_written(blank, tmp_path):
    root = folder(tmp_path, V0001__schema=SCHEMA, V0002__mixed=f"{INDEXES}\nCREATE (:Thing);")
    said = refused(MigrationError, blank, root)
    assert "V0002__mixed.cypher:4: schema and data cannot share a file" in said
    assert rows(blank, CHAIN) == [] and schema(blank) == []


@requirement("NEO-84")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("MATCH (n) RETRUN n;", "V0002__bad.cypher:2: Invalid input 'RETRUN'"),
        ("RETURN 1;\nCALL no.such();", "V0002__bad.cypher:3: There is no procedure"),
        ("CREATE USER u SET PASSWORD 'x12345678';", ":2: only indexes and constraints"),
        ("CREATE INDEX i FOR (n:A) ON (n.a);", ":2: write IF NOT EXISTS"),
        ("// @migration V0002__bad\n// @tx one\n" + SCHEMA, "schema statements run one by one"),
    ],
)
def test_a_statement_the_server_refuses_stops_everything_before_the_first_write(
    blank, tmp_path, body, said
):
    root = folder(tmp_path, V0001__schema=SCHEMA, V0002__bad=body)
    assert said in refused(MigrationError, blank, root)
    assert (
        schema(blank) == [] and rows(blank, "MATCH (n) WHERE NOT n:MkgTestStore RETURN n.id") == []
    )


@requirement("NEO-84", "NEO-91")
def test_a_data_file_that_fails_in_the_middle_leaves_nothing_but_a_line_in_the_log(store, tmp_path):
    body = (
        "CREATE (:Thing {id: 'a'});\nMATCH (n:Thing) SET n.x = 1 / 0;\nCREATE (:Thing {id: 'b'});"
    )
    root = folder(tmp_path, V0001__data=body, V0002__after=SCHEMA)
    assert "V0001__data.cypher:3: / by zero" in refused(MigrationError, store, root)
    assert rows(store, "MATCH (n:Thing) RETURN n.id AS id") == []
    assert [row["id"] for row in rows(store, CHAIN)] == [BASELINE]
    assert rows(store, LOG)[-1] == {"did": "failed", "id": "V0001__data"}
    write(root, {"V0001__data": DATA})
    assert apply_all(store, root=root) == ["V0001__data", "V0002__after"]


@requirement("NEO-84", "NEO-91")
def test_a_schema_file_that_fails_in_the_middle_stands_as_failed_until_a_retry(store, tmp_path):
    store.execute("UNWIND [1, 2] AS i CREATE (:Thing {id: 'same'})")
    root = folder(tmp_path, V0001__schema=f"{INDEXES}\n{SCHEMA}", V0002__data="CREATE (:Thing);")
    said = refused(MigrationError, store, root)
    assert "V0001__schema.cypher:4: Unable to create Constraint" in said
    assert rows(store, CHAIN)[1]["state"] == "FAILED"
    failed = status(store, root)[1]
    assert failed.state == "failed" and failed.message == said
    assert "mkg migrate apply --retry" in refused(MigrationError, store, root)
    assert len(rows(store, "MATCH (n:Thing) RETURN n.id AS id")) == 2
    store.execute("MATCH (n:Thing) DELETE n")
    assert apply_all(store, root=root, retry=True) == ["V0001__schema", "V0002__data"]
    assert [row["seq"] for row in rows(store, CHAIN)] == [0, 1, 2]


@requirement("NEO-84")
def test_a_verification_that_finds_a_row_takes_the_data_back(store, tmp_path):
    verify = "MATCH (n:Thing) WHERE n.n <> 1 RETURN n.id AS id;"
    wrong = DATA + "\nMATCH (n:Thing) SET n.n = 7;"
    root = folder(tmp_path, V0001__data=wrong, V0001__data__verify=verify)
    said = refused(MigrationUnverified, store, root)
    assert "V0001__data.verify.cypher:2: 1 row(s) contradict the migration" in said
    assert rows(store, "MATCH (n:Thing) RETURN n.id AS id") == []
    write(root, {"V0001__data": DATA})
    assert apply_all(store, root=root) == ["V0001__data"]


def test_a_verification_that_writes_or_returns_nothing_is_refused(store, tmp_path):
    for verify in ("MATCH (n:Thing) SET n.x = 1 RETURN n.id AS id;", "MATCH (n:Thing) FINISH;"):
        root = folder(tmp_path, V0001__data=DATA, V0001__data__verify=verify)
        assert "a verification only reads" in refused(MigrationError, store, root)


@requirement("NEO-84")
def test_an_object_kept_from_before_is_compared_with_the_declaration(store, tmp_path):
    store.execute("CREATE INDEX thing_at IF NOT EXISTS FOR (n:Other) ON (n.at)", mode="schema")
    root = folder(tmp_path, V0001__more=INDEXES)
    said = refused(MigrationUnverified, store, root)
    assert "V0001__more.cypher:2: index thing_at exists with labels Other; drop it" in said
    assert rows(store, CHAIN)[1]["state"] == "FAILED"
    store.execute("DROP INDEX thing_at", mode="schema")
    assert apply_all(store, root=root, retry=True) == ["V0001__more"]


@requirement("MEM-T030", "MEM-T031")
def test_an_outdated_index_is_replaced_by_its_migration_and_a_current_one_is_left(store, tmp_path):
    root = folder(tmp_path, V0001__more=INDEXES)
    apply_all(store, root=root)
    ids = "SHOW INDEXES YIELD name, id, properties WHERE name STARTS WITH 'thing' RETURN *"
    before = {row["name"]: row for row in rows(store, ids)}
    again = "DROP INDEX thing_at IF EXISTS;\n" + INDEXES.replace("(n.at)", "(n.at, n.id)")
    write(root, {"V0002__again": again})
    assert apply_all(store, root=root) == ["V0002__again"]
    after = {row["name"]: row for row in rows(store, ids)}
    assert after["thing_at"]["properties"] == ["at", "id"]
    assert after["thing_text"] == before["thing_text"]
    assert after["thing_at"]["id"] != before["thing_at"]["id"]


def test_an_equal_object_under_another_name_is_said_instead_of_passed_over(store, tmp_path):
    store.execute("CREATE INDEX old_name IF NOT EXISTS FOR (n:Thing) ON (n.at)", mode="schema")
    said = refused(MigrationUnverified, store, folder(tmp_path, V0001__more=INDEXES))
    assert "index thing_at is not there" in said


@requirement("NEO-89")
def test_a_repeatable_file_runs_again_when_its_text_changes_and_stays_out_of_the_chain(
    store, tmp_path
):
    root = folder(
        tmp_path, V0001__schema=SCHEMA, R__policy="MERGE (p:Thing {id: 'p'}) SET p.v = 1;"
    )
    assert apply_all(store, root=root) == ["V0001__schema", "R__policy"]
    assert apply_all(store, root=root) == []
    write(root, {"R__policy": "MERGE (p:Thing {id: 'p'}) SET p.v = 2;", "V0002__data": DATA})
    assert apply_all(store, root=root) == ["V0002__data", "R__policy"]
    assert value(store, "MATCH (p:Thing {id: 'p'}) RETURN p.v AS v") == 2
    assert [row["id"] for row in rows(store, CHAIN)] == [BASELINE, "V0001__schema", "V0002__data"]
    assert value(store, "MATCH (r:MkgRepeatable) RETURN collect(r.id) AS ids") == ["R__policy"]


def test_a_file_without_transaction_may_commit_in_batches(store, tmp_path):
    body = """// @migration V0001__many
// @tx none
UNWIND range(1, 25) AS i
CALL (i) {
  MATCH (l:MkgMigrationLock {name: 'migration'})
  SET l.touched_by = $owner
  WITH i, l
  WHERE l.owner = $owner AND l.token = $token
  CREATE (:Thing {id: i})
} IN TRANSACTIONS OF 10 ROWS;
"""
    apply_all(store, root=folder(tmp_path, V0001__many=body))
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 25


@requirement("NEO-84")
def test_data_statements_in_transactions_of_their_own_need_a_retry_once_one_failed(store, tmp_path):
    body = "// @migration V0001__each\n// @tx each\nMERGE (:Thing {id: 'a'});\nRETURN 1 / 0;"
    root = folder(tmp_path, V0001__each=body)
    refused(MigrationError, store, root)
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 1
    assert "--retry" in refused(MigrationError, store, root)
    write(root, {"V0001__each": body.replace("1 / 0", "1 / 1")})
    assert apply_all(store, root=root, retry=True) == ["V0001__each"]


def test_a_statement_that_needs_an_index_of_an_earlier_file_waits_for_its_turn(store, tmp_path):
    vector = (
        "CREATE VECTOR INDEX thing_v IF NOT EXISTS FOR (n:Thing) ON (n.v) "
        "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}};"
    )
    search = (
        "MATCH (n:Thing) SEARCH n IN (VECTOR INDEX thing_v FOR [1.0, 0.0] LIMIT 1) "
        "SET n.found = true;"
    )
    root = folder(tmp_path, V0001__vector=vector, V0002__search=search)
    assert apply_all(store, root=root) == ["V0001__vector", "V0002__search"]
    (root / "V0003__wrong.cypher").write_text(
        "// @migration V0003__wrong\n" + search.replace("thing_v", "none_such")
    )
    assert "V0003__wrong.cypher:2" in refused(MigrationError, store, root)


def test_dependencies_order_what_numbers_leave_open(store, tmp_path):
    root = folder(
        tmp_path,
        R__a="// @migration R__a\n// @depends V0001__x\nMATCH (n:Thing) SET n.seen = true;",
        V0001__x=DATA,
    )
    apply_all(store, root=root)
    assert value(store, "MATCH (n:Thing) RETURN n.seen AS seen") is True


@requirement("NEO-84")
def test_a_transaction_that_is_repeated_after_its_commit_landed_writes_its_data_once(
    store, tmp_path, monkeypatch
):
    once = store.in_one

    def twice(work, *, name):
        once(work, name=name)
        return once(work, name=name)

    monkeypatch.setattr(store, "in_one", twice)
    apply_all(store, root=folder(tmp_path, V0001__data=DATA))
    assert rows(store, "MATCH (n:Thing) RETURN n.n AS n") == [{"n": 1}]


def test_a_database_that_goes_away_is_not_taken_for_a_bad_migration(store, tmp_path, monkeypatch):
    def away(work, *, name):
        raise GraphUnavailable("the database does not answer")

    root = folder(tmp_path, V0001__data=DATA)
    with monkeypatch.context() as patch:
        patch.setattr(store, "in_one", away)
        with pytest.raises(GraphUnavailable):
            apply_all(store, root=root)
    assert rows(store, "MATCH (g:MkgMigrationLog {operation: 'failed'}) RETURN g.id AS id") == []
    assert apply_all(store, root=root) == ["V0001__data"]
