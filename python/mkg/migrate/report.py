"""Reads how the migrations stand, without the lock and without writing (NEO-87, NEO-88)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mkg import __version__
from mkg.bundle import Runner, files, load_bundle
from mkg.errors import MigrationError, SchemaAhead, SchemaBehind
from mkg.migrate import chain, lease, schema, source

_PASSED = ("APPLIED", "SKIPPED")
_OURS = f"mkg {__version__}"


@dataclass(frozen=True, slots=True)
class Verified:
    """What `mkg migrate verify` found: problems, and objects that no migration declares."""

    checked: int
    problems: list[str]
    undeclared: list[str]


def status(run: Runner, root: Path | None = None) -> list[chain.MigrationState]:
    """Every migration that a file or the database knows; a newer database is no error here.

    Raises:
        MigrationError: the files themselves cannot be read.
    """
    return chain.compare(_files(root), chain.migration_list(run))


def hindrance(run: Runner, root: Path | None = None) -> str | None:
    """Why `apply` would refuse the history of the database, and the ways out; None when it fits."""
    records = chain.migration_list(run)
    try:
        chain.check_applicable(chain.compare(_files(root), records), records)
    except MigrationError as error:
        return str(error)
    return None


def holder(run: Runner) -> lease.Holder | None:
    """Who holds the migration lock."""
    return lease.holder(run)


def pending(run: Runner, root: Path | None = None, *, again: bool = False) -> list[str]:
    """Ids that `apply` would run; with `again`, also those that were skipped.

    Raises:
        MigrationError: the files themselves cannot be read.
    """
    return chain.waiting(status(run, root), again=again)


def newest_applied(run: Runner) -> str | None:
    """The last numbered migration that is done; None when nothing but the baseline is."""
    found = _newest(chain.migration_list(run))
    return found.id if found is not None else None


def check_schema(run: Runner) -> None:
    """Compare the newest applied migration with what the bundle needs.

    Raises:
        SchemaBehind: the store was never migrated, or not far enough.
        SchemaAhead: a program of another major version has migrated it further.
    """
    needed = load_bundle().schema
    newest = _newest(chain.migration_list(run))
    have = source.number_of(newest.id) if newest else None
    floor = source.number_of(needed) or 0
    if newest is None or have is None or have < floor:
        raise SchemaBehind(
            f"the database stands at {newest.id if newest else 'nothing'}, this version needs "
            f"{needed}; run: mkg migrate apply"
        )
    theirs = newest.tool
    if have > max(floor, _shipped()) and theirs is not None and _major(theirs) != _major(_OURS):
        raise SchemaAhead(
            f"the database stands at {newest.id}, applied by {theirs}; this is {_OURS}, "
            "which does not know it; update the program"
        )


def verify(run: Runner, root: Path | None = None) -> Verified:
    """Compare hashes with the files, and the declared schema with what the database has.

    Raises:
        MigrationError: the files themselves cannot be read.
    """
    found = _files(root)
    by_id = {file.id: file for file in found}
    problems: list[str] = []
    declared: dict[tuple[str, str], tuple[schema.Declared, str]] = {}
    for state in chain.compare(found, chain.migration_list(run)):
        if state.state in ("edited", "renamed", "missing", "newer", "failed", "interrupted"):
            problems.append(f"{state.id}: {state.state}")
        file = by_id.get(state.id)
        if file is None or state.state != "applied" or state.kind != "schema":
            continue
        for part in file.statements:
            if schema.declares(part):
                item = schema.declared(part, str(file.path))
                declared[item.what, item.name] = (item, str(file.path))
    problems += schema.differences(run, declared.values())
    undeclared = schema.others(run, {name for _, name in declared})
    return Verified(len(declared), problems, undeclared)


def _files(root: Path | None) -> list[source.MigrationFile]:
    return [source.read(path) for path in source.discover(root or files.root("migrations"))]


def _newest(records: Iterable[chain.Record]) -> chain.Record | None:
    done = [
        record
        for record in records
        if record.seq is not None and record.state in _PASSED and source.number_of(record.id)
    ]
    return done[-1] if done else None


def _shipped() -> int:
    """The number of the newest migration that this program brings along."""
    paths = source.discover(files.root("migrations"))
    return max(source.number_of(path.name.removesuffix(".cypher")) or 0 for path in paths)


def _major(tool: str) -> str:
    return tool.removeprefix("mkg ").split(".")[0]
