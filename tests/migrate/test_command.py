"""`mkg migrate` as a person uses it."""

import json

import pytest
from typer.testing import CliRunner, Result

from mkg.bundle import files
from mkg.cli.migrate import app
from mkg.errors import MigrationUnverified, Refused
from mkg.migrate import holder
from tests.migrate.conftest import value
from tests.migrate.folder import folder, write
from tests.migrate.test_lock import acquire
from tests.support.requirement import requirement


@pytest.fixture
def mkg(store, unmigrated, monkeypatch, tmp_path):
    """The command, pointed at the test database and at a small folder of migrations."""
    shipped = files.root
    small = folder(tmp_path / "small", V0001__thing="CREATE (:Thing);")
    chosen = {"migrations": small}
    monkeypatch.setattr(files, "root", lambda kind: chosen.get(kind) or shipped(kind))
    monkeypatch.setenv("NEO4J_URI", unmigrated.uri)
    monkeypatch.setenv("NEO4J_USERNAME", unmigrated.username)
    monkeypatch.setenv("NEO4J_PASSWORD", unmigrated.password)

    def call(*words: str) -> Result:
        return CliRunner().invoke(app, list(words))

    call.root = small
    return call


def test_nothing_is_applied_unless_a_person_agrees(mkg, store, unmigrated):
    answer = mkg("apply")
    assert isinstance(answer.exception, Refused) and "add --yes" in str(answer.exception)
    assert "To apply to bolt://127.0.0.1" in answer.output
    assert "V0001__thing" in answer.output and unmigrated.password not in answer.output
    assert value(store, "MATCH (m:MkgMigration) WHERE m.seq > 0 RETURN count(m) AS n") == 0


def test_apply_says_what_it_does_and_status_shows_how_it_stands(mkg, store):
    waiting = json.loads(mkg("status", "--json").output)
    assert [state["state"] for state in waiting] == ["applied", "pending"]
    first = mkg("apply", "--yes")
    assert first.exit_code == 0 and "1 migration(s) done" in first.output
    assert "V0001__thing: applied in" in first.output
    assert mkg("apply").output == "nothing to apply\n"
    found = json.loads(mkg("status", "--json").output)
    assert [state["id"] for state in found] == [state["id"] for state in waiting]
    assert {state["state"] for state in found} == {"applied"}
    assert found[0]["id"] == "B0000__baseline" and found[0]["seq"] == 0
    shown = mkg("status").output.splitlines()
    assert len(shown) == len(found) and all("applied" in line for line in shown)
    store.execute("MATCH (m:MkgMigration {seq: 1}) SET m.state = 'FAILED', m.message = 'no room'")
    assert "FAILED, see --retry" in mkg("status").output and "no room" in mkg("status").output


@requirement("NEO-87")
def test_plan_shows_each_step_and_its_prediction_and_writes_nothing(mkg, store):
    body = "// @migration V0002__b\n// @assert query RETURN false\nMATCH (n:Thing) SET n.x = 1;"
    predict = "MATCH (n:Thing) RETURN 7 AS seen; MATCH (n:Thing) RETURN count(n.x) AS seen;"
    write(mkg.root, {"V0002__b": body, "V0002__b__predict": predict})
    store.execute("CREATE (:Thing)")
    before = value(store, "MATCH (n) RETURN count(n) AS n")
    first, second = json.loads(mkg("plan", "--json").output)
    assert (first["id"], first["kind"], first["tx"]) == ("V0001__thing", "data", "one")
    assert second["predicted"] == {"seen": 7} and second["statements"] == 1
    assert second["notes"][-1].startswith("would stop the run: @assert query RETURN false")
    shown = mkg("plan").output
    assert "predicts seen 7" in shown and shown.endswith("checked against the schema of now\n")
    assert value(store, "MATCH (n) RETURN count(n) AS n") == before
    assert json.loads(mkg("apply", "--yes", "--to", "V0001__thing", "--json").stdout) == {
        "done": ["V0001__thing"]
    }


@requirement("NEO-87")
def test_verify_is_silent_about_a_store_as_declared_and_fails_for_another(mkg, store):
    assert mkg("verify").output == "5 index(es) and constraint(s) compared\n"
    store.execute("DROP CONSTRAINT mkg_repeatable_id", mode="schema")
    answer = mkg("verify", "--json")
    assert isinstance(answer.exception, MigrationUnverified) and answer.exception.exit_code == 5
    assert "mkg_repeatable_id is not there" in json.loads(answer.output)["problems"][0]


@requirement("NEO-87")
def test_what_changes_records_by_hand_asks_first_and_then_does_it(mkg, store):
    state = "MATCH (m:MkgMigration {seq: 1}) RETURN count(m) AS n"
    acquire(store, "dead")
    shown = mkg("break-lock")
    assert isinstance(shown.exception, Refused)
    assert "The lock is held by ann on elsewhere (process 42)" in shown.output
    assert "the migration lock is held by ann" in mkg("status").output
    assert "taken away from ann" in mkg("break-lock", "--yes").output and holder(store) is None
    assert mkg("break-lock").output == "nobody holds the migration lock\n"
    assert isinstance(mkg("mark", "V0001__thing").exception, Refused)
    assert value(store, state) == 0
    assert "nothing of it was run" in mkg("mark", "V0001__thing", "--yes").output
    assert value(store, state) == 1 and value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 0
    assert mkg("repair").output == "nothing to repair\n"
    write(mkg.root, {"V0001__thing": "CREATE (:Other);"})
    assert "apply would refuse: " in mkg("status").output
    refused = mkg("repair")
    assert isinstance(refused.exception, Refused) and "V0001__thing (edited: /" in refused.output
    assert mkg("repair", "--yes").output == "accepted: V0001__thing\n"
    assert isinstance(mkg("unmark", "V0001__thing").exception, Refused)
    assert value(store, state) == 1
    assert "what it did is still there" in mkg("unmark", "V0001__thing", "--yes").output
    assert value(store, state) == 0
