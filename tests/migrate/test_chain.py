"""What files and records say together, and when that forbids a run; no server."""

import dataclasses

import pytest

from mkg.bundle import load_bundle
from mkg.errors import MigrationError, MigrationTampered, SchemaAhead, SchemaBehind
from mkg.migrate import check_schema, newest_applied, pending, read_migrations
from mkg.migrate.chain import Record, check_applicable, compare
from tests.migrate.folder import BASELINE, folder
from tests.support.fake_runner import FakeRunner
from tests.support.requirement import requirement


@pytest.fixture
def files(tmp_path):
    root = folder(
        tmp_path, V0001__a="RETURN 1;", V0002__b="RETURN 2;", V0003__c="RETURN 3;", R__p="RETURN 4;"
    )
    return [migration.file for migration in read_migrations(root)]


def chained(files, **changes) -> list[Record]:
    """Records of everything applied, with a change of some by id."""
    records, previous = [], ""
    for seq, file in enumerate(files):
        numbered = file.number is not None
        checksum = file.checksum(previous if numbered else "")
        records.append(
            Record(
                id=file.id,
                seq=seq if numbered else None,
                checksum=checksum,
                state="APPLIED",
                kind="schema",
                applied_at="2026",
                applied_by="ann",
                tool="mkg 1",
                duration_ms=3,
                message=None,
            )
        )
        previous = checksum
    return [dataclasses.replace(record, **changes.get(record.id, {})) for record in records]


def states(files, records) -> dict[str, str]:
    return {state.id: state.state for state in compare(files, records)}


def refusal(files, records, **options) -> MigrationError:
    with pytest.raises(MigrationError) as caught:
        check_applicable(compare(files, records), records, **options)
    return caught.value


def test_everything_applied_is_applied_and_may_be_run_again(files):
    records = chained(files)
    assert set(states(files, records).values()) == {"applied"}
    check_applicable(compare(files, records), records)


def test_what_is_new_is_pending_in_the_order_of_files_with_repeatables_last(files):
    records = chained(files)[:2]
    assert list(states(files, records).items()) == [
        (BASELINE, "applied"),
        ("V0001__a", "applied"),
        ("V0002__b", "pending"),
        ("V0003__c", "pending"),
        ("R__p", "pending"),
    ]
    check_applicable(compare(files, records), records)


@requirement("NEO-85", "NEO-91")
def test_an_edited_file_is_named_and_its_neighbours_are_not(files):
    records = chained(files)
    edited = [
        dataclasses.replace(f, text=f.text + "// x\n") if f.id == "V0002__b" else f for f in files
    ]
    found = states(edited, records)
    assert [id for id, state in found.items() if state == "edited"] == ["V0002__b"]
    error = refusal(edited, records)
    assert isinstance(error, MigrationTampered)
    assert "V0002__b.cypher was edited" in str(error)


@requirement("NEO-85")
def test_a_record_that_was_changed_in_the_database_is_noticed(files):
    records = chained(files, V0002__b={"checksum": "0" * 64})
    assert states(files, records)["V0002__b"] == "edited"
    assert isinstance(refusal(files, records), MigrationTampered)


@requirement("NEO-91")
def test_an_applied_file_that_is_gone_is_named(files):
    records = chained(files)
    rest = [file for file in files if file.id != "V0002__b"]
    error = refusal(rest, records)
    assert isinstance(error, MigrationTampered)
    assert "V0002__b was applied" in str(error) and "restore V0002__b.cypher" in str(error)


def test_a_repeatable_file_may_go_away(files):
    records = chained(files)
    rest = [file for file in files if file.number is not None]
    assert states(rest, records)["R__p"] == "missing"
    check_applicable(compare(rest, records), records)


@requirement("NEO-88", "NEO-91")
def test_a_database_newer_than_the_files_is_shown_but_not_touched(files):
    records = chained(files)
    older = [file for file in files if (file.number or 0) < 3]
    assert states(older, records)["V0003__c"] == "newer"
    error = refusal(older, records)
    assert "newer than this program: it has V0003__c, applied by mkg 1" in str(error)
    assert not isinstance(error, MigrationTampered)


@requirement("NEO-83")
def test_a_gap_in_the_chain_is_refused(files):
    records = [record for record in chained(files) if record.seq != 1]
    assert "has a gap" in str(refusal(files, records))


def test_a_number_below_an_applied_one_is_refused_and_a_higher_one_is_not(files):
    records = chained([file for file in files if file.id != "V0002__b"])
    assert "number 0002 comes before" in str(refusal(files, records))
    records = chained([file for file in files if file.id != "V0003__c"])
    check_applicable(compare(files, records), records)


@requirement("NEO-84")
def test_a_failed_migration_is_refused_until_a_retry_is_asked_for(files):
    last = {"V0003__c": {"state": "FAILED", "message": "no such thing"}}
    records = chained(files, **last)
    assert states(files, records)["V0003__c"] == "failed"
    assert "no such thing; mend the cause, then run: mkg migrate apply --retry" in str(
        refusal(files, records)
    )
    check_applicable(compare(files, records), records, retry=True)


@requirement("NEO-84")
def test_an_interrupted_file_is_finished_and_one_with_another_text_needs_a_retry(files):
    for change, expected in (
        ({"kind": "schema"}, "interrupted"),
        ({"kind": "data"}, "interrupted"),
        ({"kind": "schema", "checksum": "0" * 64}, "failed"),
    ):
        records = chained(files, V0003__c={"state": "PENDING", **change})
        assert states(files, records)["V0003__c"] == expected
        if expected == "failed":
            assert "may have run in part" in str(refusal(files, records))
            check_applicable(compare(files, records), records, retry=True)


@requirement("NEO-89")
def test_a_repeatable_file_waits_when_its_text_changed_or_it_did_not_finish(files):
    for change in ({"checksum": "0" * 64}, {"state": "FAILED"}, {"state": "PENDING"}):
        records = chained(files, R__p=change)
        assert states(files, records)["R__p"] == "pending"
        check_applicable(compare(files, records), records)


def test_the_newest_applied_is_the_last_numbered_one_that_finished(files):
    def run(records):
        return FakeRunner({"ops.migration_list": [dataclasses.asdict(r) for r in records]})

    assert newest_applied(run(chained(files))) == "V0003__c"
    assert newest_applied(run(chained(files, V0003__c={"state": "FAILED"}))) == "V0002__b"
    assert newest_applied(run(chained(files)[:1])) is None
    assert newest_applied(run([])) is None


def test_pending_names_what_apply_would_run(files, tmp_path):
    records = chained(files, V0003__c={"state": "FAILED"}, R__p={"checksum": "0" * 64})
    run = FakeRunner({"ops.migration_list": [dataclasses.asdict(r) for r in records]})
    assert pending(run, tmp_path) == ["V0003__c", "R__p"]


@requirement("NEO-88")
def test_a_program_carries_on_with_a_newer_database_of_its_own_major_version_only(files):
    needed = load_bundle().schema

    def standing(id: str, tool: str | None) -> FakeRunner:
        record = dataclasses.replace(chained(files)[0], id=id, seq=1, tool=tool)
        return FakeRunner({"ops.migration_list": [dataclasses.asdict(record)]})

    check_schema(standing(needed, "mkg 99.0"))
    for tool in ("mkg 0.9", None):
        check_schema(standing("V9999__later", tool))
    with pytest.raises(SchemaAhead, match=r"applied by mkg 99\.0.*update the program"):
        check_schema(standing("V9999__later", "mkg 99.0"))
    with pytest.raises(SchemaBehind, match=f"needs {needed}; run: mkg migrate apply"):
        check_schema(standing("V0001__a", "mkg 0.1"))
    with pytest.raises(SchemaBehind, match="stands at nothing"):
        check_schema(FakeRunner({"ops.migration_list": []}))
