"""What a person can do by hand: mark, unmark, repair, break the lock; each way has limits."""

import pytest

from mkg.errors import MigrationError, MigrationLocked, MigrationTampered
from mkg.migrate import (
    apply_all,
    break_lock,
    hindrance,
    holder,
    lease,
    mark,
    repair,
    status,
    to_repair,
    unmark,
    verify,
)
from tests.migrate.conftest import rows, value
from tests.migrate.folder import BASELINE, folder, write
from tests.migrate.test_lock import acquire
from tests.support.requirement import requirement

THING = "CREATE (:Thing);"
INDEX = "CREATE INDEX thing_at IF NOT EXISTS FOR (n:Thing) ON (n.at);"
CHAIN = """MATCH (m:MkgMigration)
OPTIONAL MATCH (before)-[:NEXT]->(m)
RETURN m.id AS id, m.seq AS seq, m.state AS state, before.id AS before
ORDER BY seq"""
LOG = "MATCH (g:MkgMigrationLog) RETURN g.operation AS o, g.message AS m ORDER BY g.at"


def refused(kind: type[MigrationError], call, *values, **options) -> str:
    with pytest.raises(kind) as caught:
        call(*values, **options)
    return str(caught.value)


def states(run, root) -> list[str]:
    return [state.state for state in status(run, root)]


@requirement("NEO-87")
def test_what_failed_and_was_finished_by_hand_is_marked_and_the_chain_goes_on(store, tmp_path):
    root = folder(tmp_path, V0001__a=f"{INDEX}\nCREATE INDEX no IF NOT EXISTS FOR (n:T) ON (n.x);")
    store.execute("CREATE INDEX no IF NOT EXISTS FOR (n:Other) ON (n.x)", mode="schema")
    assert "exists with labels Other" in refused(MigrationError, apply_all, store, root=root)
    assert "mkg migrate mark V0001__a" in str(hindrance(store, root))
    write(root, {"V0002__b": THING, "V0003__c": THING})
    assert "V0001__a comes before V0002__b" in refused(
        MigrationError, mark, store, "V0002__b", root=root
    )
    mark(store, "V0001__a", root=root)
    mark(store, "V0002__b", root=root)
    assert hindrance(store, root) is None
    assert apply_all(store, root=root) == ["V0003__c"]
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 1
    ids = [BASELINE, "V0001__a", "V0002__b", "V0003__c"]
    assert rows(store, CHAIN) == [
        {"id": id, "seq": seq, "state": "APPLIED", "before": ids[seq - 1] if seq else None}
        for seq, id in enumerate(ids)
    ]
    assert [row["o"] for row in rows(store, LOG)].count("mark") == 2
    assert "there is nothing to mark" in refused(MigrationError, mark, store, ids[3], root=root)
    assert "no migration V0009__x" in refused(MigrationError, mark, store, "V0009__x", root=root)


@requirement("NEO-87")
def test_the_newest_record_is_taken_back_and_no_other(store, tmp_path):
    root = folder(tmp_path, V0001__a=THING, V0002__b=THING)
    apply_all(store, root=root)
    for id in ("V0001__a", BASELINE):
        said = refused(MigrationError, unmark, store, id, root=root)
        assert "only the last migration of the chain" in said and "V0002__b" in said
    (root / "V0002__b.cypher").unlink()
    assert "mkg migrate unmark V0002__b" in str(hindrance(store, root))
    unmark(store, "V0002__b", root=root)
    assert hindrance(store, root) is None and states(store, root) == ["applied", "applied"]
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 2
    assert rows(store, LOG)[-1]["o"] == "unmark"
    unmark(store, "V0001__a", root=root)
    assert "only the last" in refused(MigrationError, unmark, store, BASELINE, root=root)


@requirement("NEO-85", "NEO-87", "NEO-91")
def test_edited_and_renamed_files_are_refused_until_a_person_accepts_them(store, tmp_path):
    root = folder(tmp_path, V0001__a=THING, V0002__b=THING, V0003__c=THING)
    apply_all(store, root=root)
    assert to_repair(store, root=root) == [] and repair(store, root=root) == []
    (root / "V0002__b.cypher").unlink()
    write(root, {"V0002__renamed": THING, "V0001__a": THING + " // why"})
    assert states(store, root) == ["applied", "edited", "renamed", "applied"]
    assert "or accept it as it is: mkg migrate repair" in refused(
        MigrationTampered, apply_all, store, root=root
    )
    assert [state.id for state in to_repair(store, root=root)] == ["V0001__a", "V0002__b"]
    assert repair(store, root=root) == ["V0001__a", "V0002__b"]
    assert states(store, root) == ["applied"] * 4 and hindrance(store, root) is None
    ids = [row["id"] for row in rows(store, CHAIN)]
    assert ids == [BASELINE, "V0001__a", "V0002__renamed", "V0003__c"]
    said = [row["m"] for row in rows(store, LOG) if row["o"] == "repair"]
    assert said == ["V0001__a was edited", "V0002__b was renamed", None]
    write(root, {"V0004__d": THING})
    assert apply_all(store, root=root) == ["V0004__d"]


@requirement("NEO-91")
def test_a_renamed_file_is_named_with_its_old_and_its_new_name(store, tmp_path):
    root = folder(tmp_path, V0001__a=THING)
    apply_all(store, root=root)
    (root / "V0001__a.cypher").rename(root / "V0001__b.cypher")
    said = refused(MigrationError, apply_all, store, root=root)
    assert "V0001__b.cypher:1: the header must start with // @migration V0001__b" in said
    write(root, {"V0001__b": THING})
    said = refused(MigrationTampered, apply_all, store, root=root)
    assert "V0001__a was applied on 20" in said
    assert "V0001__b.cypher now has its number; call the file V0001__a.cypher again" in said
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 1


def test_a_file_that_is_gone_is_nothing_that_could_be_accepted(store, tmp_path):
    root = folder(tmp_path, V0001__a=THING, V0002__b=THING)
    apply_all(store, root=root)
    (root / "V0001__a.cypher").unlink()
    assert "restore V0001__a.cypher" in refused(MigrationTampered, repair, store, root=root)


@requirement("NEO-86", "NEO-87")
def test_a_broken_lock_is_free_at_once_and_its_former_holder_writes_nothing(store, tmp_path):
    assert holder(store) is None
    root = folder(tmp_path, V0001__a=THING)

    def broken(line: str) -> None:
        if line == "V0001__a: running":
            shown = holder(store)
            assert shown is not None and str(shown.pid) in str(shown) and not shown.expired
            assert break_lock(store, shown)
            # Shown once, broken once: whoever comes next keeps the lock.
            assert not break_lock(store, shown)
            assert acquire(store, "next").acquired
            assert not break_lock(store, shown)

    with pytest.raises(MigrationLocked, match="went to another runner"):
        apply_all(store, root=root, progress=broken)
    assert rows(store, "MATCH (n:Thing) RETURN n.id AS id") == []
    assert holder(store).owner == "next" and rows(store, LOG)[-1]["o"] == "break-lock"
    lease.migration_release(store, lock="migration", owner="next", token=holder(store).token)
    assert apply_all(store, root=root, wait=0) == ["V0001__a"]


@requirement("NEO-87")
def test_verify_names_what_differs_and_what_nobody_declared(store, tmp_path):
    root = folder(
        tmp_path,
        V0001__a=INDEX,
        V0002__b="CREATE INDEX gone IF NOT EXISTS FOR (n:T) ON (n.x);",
        V0003__c="DROP INDEX gone IF EXISTS;",
    )
    apply_all(store, root=root)
    found = verify(store, root)
    assert (found.problems, found.undeclared, found.checked) == ([], [], 7)
    for text in (
        "DROP INDEX thing_at",
        "CREATE INDEX thing_at FOR (n:Thing) ON (n.other)",
        "CREATE INDEX gone FOR (n:T) ON (n.x)",
        "CREATE INDEX mine FOR (n:Mine) ON (n.x)",
        "DROP CONSTRAINT mkg_repeatable_id",
    ):
        store.execute(text, mode="schema")
    write(root, {"V0002__b": "CREATE INDEX gone IF NOT EXISTS FOR (n:T) ON (n.y);"})
    found = verify(store, root)
    problems = [line.split("/")[-1] for line in found.problems]
    assert [line for line in problems if "V0002__b: edited" in line]
    assert [line for line in problems if "thing_at exists with properties other" in line]
    assert [line for line in problems if "mkg_repeatable_id is not there" in line]
    assert [line for line in problems if "V0003__c.cypher:2: index gone is dropped, yet" in line]
    assert len(problems) == 4 and found.undeclared == ["mine"]
    assert rows(store, "SHOW INDEXES YIELD name WHERE name = 'mine' RETURN name") != []


def test_apply_stops_after_the_migration_that_was_named(store, tmp_path):
    root = folder(tmp_path, V0001__a=THING, V0002__b=THING, R__p="MERGE (:P);", R__q="MERGE (:Q);")
    assert apply_all(store, root=root, to="V0001__a") == ["V0001__a"]
    assert apply_all(store, root=root, to="R__p") == ["V0002__b", "R__p"]
    assert "no migration V0009__x" in refused(
        MigrationError, apply_all, store, root=root, to="V0009__x"
    )
    assert apply_all(store, root=root) == ["R__q"]
