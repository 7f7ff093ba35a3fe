"""`@assert` and `@assume`: what stops a run and what skips a migration."""

import pytest

from mkg.errors import MigrationError
from mkg.migrate import apply_all, newest_applied, pending, plan, read_migrations, status
from tests.migrate.conftest import rows, value
from tests.migrate.folder import BASELINE, folder, write
from tests.support.requirement import requirement

THING = "CREATE (:Thing {id: 'a'});"


def head(id: str, *lines: str, body: str = THING) -> str:
    return "\n".join([f"// @migration {id}", *(f"// {line}" for line in lines), body])


def refused(run, root, **options) -> str:
    with pytest.raises(MigrationError) as caught:
        apply_all(run, root=root, **options)
    return str(caught.value)


def written(run) -> list[object]:
    found = rows(run, "MATCH (n) WHERE n:Thing OR n:MkgMigration RETURN n.id AS id ORDER BY id")
    return [row["id"] for row in found]


@requirement("NEO-80")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@assert x", ":2: write // @assert  version, edition, procedure or query"),
        ("@assume version new", ":2: new is not a version"),
        ("@assert query RETURN 'a", ":2: this string is not closed"),
        ("@assert query RETURN 1; RETURN 2", ":2: write one query"),
        ("@assert query RETURN $x", "a migration has no parameters"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused_with_its_line(tmp_path, line, said):
    with pytest.raises(MigrationError) as caught:
        read_migrations(folder(tmp_path, V0001__a=head("V0001__a", line)))
    assert said in str(caught.value)


@requirement("NEO-80")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@assert version 9999.1", "@assert version 9999.1 does not hold: it is 2"),
        ("@assert edition enterprise", "@assert edition enterprise does not hold: it is community"),
        ("@assert procedure no.such", "procedure no.such does not hold: the server does not have"),
        ("@assert query CREATE (n) RETURN true", "a condition only reads"),
        ("@assume query RETURN 1 AS a, 2 AS b", "a condition only reads and returns one column"),
        ("@assert query RETRUN true", "V0002__b.cypher:2: Invalid input"),
    ],
)
def test_what_can_be_known_of_the_server_stops_a_run_before_the_first_write(
    store, tmp_path, line, said
):
    root = folder(tmp_path, V0001__a=THING, V0002__b=head("V0002__b", line))
    assert said in refused(store, root)
    assert written(store) == [BASELINE]


@requirement("NEO-80")
def test_an_assertion_about_the_graph_is_asked_at_its_turn_and_stops_there(store, tmp_path):
    ask = "@assert query MATCH (n:Thing) RETURN count(n) = 1"
    asserts = ["@assert version 2025.1", "@assert procedure apoc.lock.nodes", ask]
    root = folder(
        tmp_path,
        V0001__a=THING,
        V0002__b=head("V0002__b", *asserts, body="CREATE (:Thing {id: 'b'});"),
        V0003__c=head("V0003__c", "@tx each", ask),
    )
    said = refused(store, root)
    assert "V0003__c.cypher:3: @assert query MATCH (n:Thing) RETURN count(n) = 1" in said
    assert "does not return true; nothing of V0003__c was run" in said
    assert written(store) == [BASELINE, "V0001__a", "V0002__b", "a", "b"]
    assert [state.state for state in status(store, root)][-1] == "pending"
    (step,) = plan(store, root=root)
    assert step.notes[-1].startswith("would stop the run: @assert query MATCH")
    store.execute("MATCH (n:Thing {id: 'b'}) DELETE n")
    assert apply_all(store, root=root) == ["V0003__c"]


@requirement("NEO-80")
@pytest.mark.parametrize("tx", ["one", "each"])
def test_an_assumption_that_does_not_hold_skips_the_migration_and_those_that_depend_on_it(
    store, tmp_path, tx
):
    assume = "@assume query MATCH (n:Old) RETURN count(n) > 0"
    root = folder(
        tmp_path,
        # Its assertion would fail, but a migration that is skipped asserts nothing.
        V0001__a=head("V0001__a", f"@tx {tx}", "@assert version 9999.1", "@assume version 9999.1"),
        V0002__b=head("V0002__b", f"@tx {tx}", assume),
        V0003__c=head("V0003__c", "@depends V0002__b"),
        V0004__d="CREATE (:Thing {id: 'd'});",
    )
    assert [step.notes[-1] for step in plan(store, root=root)][1].startswith("would be skipped")
    said: list[str] = []
    apply_all(store, root=root, progress=said.append)
    assert "V0003__c: skipped: it depends on V0002__b, which was skipped" in said
    assert [s.state for s in status(store, root)] == ["applied", *["skipped"] * 3, "applied"]
    assert status(store, root)[2].message == f"{assume} does not hold: it does not return true"
    assert written(store)[-1] == "d" and "a" not in written(store)
    # Decided once: the assumption holds later, and the chain goes on as it is.
    store.execute("CREATE (:Old)")
    write(root, {"V0005__e": "RETURN 1;"})
    assert apply_all(store, root=root) == ["V0005__e"] and pending(store, root) == []
    # A person may ask for another look.
    assert pending(store, root, again=True) == ["V0001__a", "V0002__b", "V0003__c"]
    apply_all(store, root=root, retry=True)
    states = [state.state for state in status(store, root)]
    assert states == ["applied", "skipped", "applied", "applied", "applied", "applied"]
    assert value(store, "MATCH (n:Thing {id: 'a'}) RETURN count(n) AS n") == 2


@requirement("NEO-80", "NEO-89")
def test_a_skipped_migration_counts_as_passed_and_a_skipped_repeatable_one_waits_for_a_change(
    store, tmp_path
):
    root = folder(
        tmp_path,
        V0001__a=head("V0001__a", "@assume edition enterprise"),
        R__p=head("R__p", "@assume edition enterprise"),
    )
    apply_all(store, root=root)
    assert newest_applied(store) == "V0001__a" and pending(store, root) == []
    write(root, {"R__p": head("R__p", "@assume edition community")})
    assert apply_all(store, root=root) == ["R__p"]
    assert {s.id: s.state for s in status(store, root)}["R__p"] == "applied"
