"""What is yoyo's and what is ours: its entry point, its planning, its vocabulary."""

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from yoyo.connections import parse_uri
from yoyo.migrations import MigrationList, heads, topological_sort

from mkg.errors import GraphRejected, MigrationError, MigrationLocked
from mkg.migrate import Neo4jBackend, read_migrations
from tests.migrate.conftest import rows, value
from tests.migrate.folder import BASELINE, folder
from tests.support.requirement import requirement


def backend_class(scheme: str) -> type[Neo4jBackend]:
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    target = project["project"]["entry-points"]["yoyo.backends"][scheme]
    return EntryPoint(scheme, target, "yoyo.backends").load()


def strictly(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter where a warning is an error."""
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True)


@requirement("NEO-06")
def test_yoyo_orders_what_we_loaded(tmp_path):
    depends = "// @migration V0003__c\n// @depends V0001__a V0002__b\nRETURN 1;"
    root = folder(tmp_path, V0001__a="RETURN 1;", V0002__b="RETURN 1;", V0003__c=depends)
    found = read_migrations(root)
    ids = [migration.id for migration in topological_sort([found[3], found[2], found[1], found[0]])]
    assert ids.index("V0003__c") > max(ids.index("V0001__a"), ids.index("V0002__b"))
    assert {migration.id for migration in heads(MigrationList(found))} == {BASELINE, "V0003__c"}


@requirement("NEO-06")
def test_yoyo_can_open_our_backend_by_a_uri_and_apply_under_its_lock(store, unmigrated, tmp_path):
    root = folder(tmp_path, V0001__a="CREATE (:Thing);", V0002__b="CREATE (:Thing);")
    host = unmigrated.uri.split("://")[1]
    uri = parse_uri(f"bolt://{unmigrated.username}:{unmigrated.password}@{host}/neo4j")
    migrations = MigrationList(read_migrations(root))
    with backend_class("bolt")(uri, "ignored") as backend:
        backend.init_database()
        with backend.lock(timeout=5):
            backend.apply_migrations(backend.to_apply(migrations))
            assert list(backend.to_apply(migrations)) == []
            assert backend.is_applied(migrations[1])
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 2
    assert rows(store, "MATCH (l:MkgMigrationLock) RETURN l.owner AS o") == [{"o": None}]
    assert backend_class("neo4j") is Neo4jBackend


def test_a_transaction_of_the_backend_keeps_nothing_when_its_block_fails(store, tmp_path):
    backend = Neo4jBackend.over(store, folder(tmp_path))
    with pytest.raises(GraphRejected), backend.transaction():
        backend.execute("CREATE (:Thing)")
        with backend.transaction():
            backend.execute("RETURN 1 / 0 AS x")
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 0
    with backend.transaction():
        backend.execute("CREATE (:Thing)")
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 1


def test_yoyos_words_for_going_back_and_for_the_lock_do_what_ours_do(store, tmp_path):
    root = folder(tmp_path, V0001__a="CREATE (:Thing);")
    backend = Neo4jBackend.over(store, root)
    migrations = MigrationList(read_migrations(root))
    with backend.lock():
        backend.apply_migrations(backend.to_apply(migrations))
        with pytest.raises(MigrationError, match="only go forward"):
            backend.rollback_migrations(backend.to_rollback(migrations))
        assert value(store, "MATCH (m:MkgMigration {seq: 1}) RETURN m.state AS s") == "APPLIED"
        with pytest.raises(MigrationError, match="only the last"):
            backend.unmark_one(migrations[0])
        backend.unmark_one(migrations[1])
        assert [migration.id for migration in backend.to_apply(migrations)] == ["V0001__a"]
        backend.break_lock()
        with pytest.raises(MigrationLocked):
            backend.apply_migrations(backend.to_apply(migrations))
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 1


def test_reading_how_migrations_stand_does_not_load_yoyo():
    check = "import sys, mkg.migrate; print('yoyo' in sys.modules, 'neo4j' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", check], capture_output=True, text=True
    )
    assert (done.stdout.strip(), done.stderr) == ("False False", "")


def test_yoyo_is_imported_without_a_warning():
    check = "from mkg.migrate import Neo4jBackend, apply_all"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", check], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
