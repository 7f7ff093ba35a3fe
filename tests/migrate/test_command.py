"""`mkg migrate` as a person uses it."""

import json

import pytest
from typer.testing import CliRunner, Result

from mkg.bundle import files
from mkg.cli.migrate import app
from mkg.errors import Refused
from tests.migrate.conftest import value
from tests.migrate.folder import folder


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
