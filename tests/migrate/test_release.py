"""From empty and from the last release: the same schema; and nobody migrates but a person."""

import shutil

import pytest

from mkg import localdb
from mkg.bundle import files
from mkg.cli import basics, query, worker
from mkg.errors import SchemaBehind
from mkg.migrate import apply_all, status, verify
from mkg.server.connection import Connection
from mkg.settings import Settings
from tests.conftest import Live, Server
from tests.migrate import releases
from tests.migrate.conftest import empty, rows
from tests.support.requirement import requirement


def schema(run) -> list[object]:
    """Every index and constraint with its options, and the chain, without times and ids."""
    asked = (
        "SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, options, "
        "indexProvider, owningConstraint, state RETURN * ORDER BY name",
        "SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties RETURN * "
        "ORDER BY name",
        "MATCH (m:MkgMigration) RETURN m.id AS id, m.seq AS seq, m.checksum AS c, m.state AS s "
        "ORDER BY seq",
    )
    return [rows(run, text) for text in asked]


@requirement("NEO-91")
def test_the_last_release_brought_forward_has_the_schema_of_a_fresh_store(blank, tmp_path):
    before = releases.last(tmp_path)
    applied = apply_all(blank, root=before)
    later = apply_all(blank)
    brought = schema(blank)
    assert applied[0] == "B0000__baseline" and not set(applied) & set(later)
    assert later or before.parent == releases.RELEASES
    found = verify(blank)
    assert (found.problems, found.undeclared) == ([], []) and found.checked > 20
    empty(blank)
    assert apply_all(blank) == applied + later
    assert schema(blank) == brought
    assert {state.state for state in status(blank)} == {"applied"}


def test_what_a_release_shipped_is_shipped_unchanged_ever_after(tmp_path):
    made = tmp_path / "releases"
    for version in ("0.9.0", "0.10.0"):
        releases.keep(version, made)
    kept = [path for path in (releases.RELEASES, made) if path.is_dir()]
    shipped = files.root("migrations")
    assert releases.last(tmp_path, made).name == "0.10.0"
    for release in (path for root in kept for path in root.iterdir() if path.is_dir()):
        assert releases.broken(release, shipped) == []
    copy = tmp_path / "next"
    shutil.copytree(shipped, copy)
    (copy / "V0001__timeline.cypher").write_text("// @migration V0001__timeline\nRETURN 1;\n")
    (copy / "V0002__learnings.cypher").unlink()
    found = releases.broken(made / "0.9.0", copy)
    assert found == ["V0001__timeline", "V0002__learnings"]


@pytest.fixture
def foreign(blank, unmigrated: Server, own_home) -> Settings:
    """The settings of somebody whose own, never migrated database this is."""
    unmigrated.write_user_file(own_home)
    return Live(unmigrated, blank).settings(own_home)


def serve(settings: Settings) -> None:
    Connection("user", settings=lambda who, where: settings)._made()


def work(settings: Settings) -> None:
    # Hooks and the model's jobs reach the store through the worker alone.
    worker._connect(settings)


def why(settings: Settings) -> None:
    basics.why("abc")


def run_query(settings: Settings) -> None:
    query.run("timeline.recent", ["project_id=p", "limit=1"])


@requirement("MEM-W70")
@pytest.mark.parametrize("program", [serve, work, why, run_query])
def test_a_program_refuses_a_store_that_nobody_migrated_and_names_the_command(
    foreign, blank, program
):
    with pytest.raises(SchemaBehind, match="run: mkg migrate apply"):
        program(foreign)
    assert untouched(blank)


def test_db_up_tells_what_a_foreign_store_lacks_and_leaves_it_so(foreign, blank):
    found = localdb.up(foreign)
    assert found.migrated is False and len(found.pending) == len(status(blank))
    assert untouched(blank)


def untouched(run) -> bool:
    left = "MATCH (n) WHERE NOT n:MkgTestStore RETURN labels(n) AS l"
    return not rows(run, "SHOW CONSTRAINTS YIELD name") and not rows(run, left)
