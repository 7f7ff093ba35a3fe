"""What a person may do to the records by hand: the ways out of a state that `apply` refuses.

Each is done under the lock, changes records only, and leaves a line in the log.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mkg.bundle import files
from mkg.errors import MigrationError, MigrationTampered
from mkg.migrate import chain
from mkg.migrate.backend import Neo4jBackend
from mkg.migrate.record import Book
from mkg.migrate.source import MigrationFile
from mkg.migrate.yoyo_migration import CypherMigration, read_migrations

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner, Unit


def mark(run: "Neo4jRunner", id: str, *, root: Path | None = None) -> None:
    """Record a migration as applied without running it.

    Raises:
        MigrationError: there is no such file, or it is neither the next one nor unfinished.
        MigrationTampered: an applied file was edited, renamed or is gone.
        MigrationLocked: another runner holds the lock.
    """
    backend, migrations = _opened(run, root)
    with backend.lock() as held:
        states = _states(run, migrations)
        # What failed or was cut short is just what a person marks, so it is no hindrance here.
        chain.check_applicable(states, chain.migration_list(run), retry=True)
        _check_next(states, id)
        migration = next(migration for migration in migrations if migration.id == id)
        state = next(state for state in states if state.id == id)
        Book(run, held).write(
            run,
            migration.file,
            kind=state.kind or _kind(backend, migration),
            state="APPLIED",
            message="marked by hand",
            operation="mark",
        )


def unmark(run: "Neo4jRunner", id: str, *, root: Path | None = None) -> None:
    """Take the last record of the chain back; what the migration did stays.

    Raises:
        MigrationError: it is not the last one.
        MigrationLocked: another runner holds the lock.
    """
    backend, _ = _opened(run, root)
    with backend.lock() as held:
        Book(run, held).forget(run, id)


def to_repair(run: "Neo4jRunner", *, root: Path | None = None) -> list[chain.MigrationState]:
    """The applied migrations whose files are not what they were.

    Raises:
        MigrationTampered: a file is gone, so that there is nothing to accept.
    """
    _, migrations = _opened(run, root)
    return _repairable(_states(run, migrations))


def repair(run: "Neo4jRunner", *, root: Path | None = None) -> list[str]:
    """Accept the files as what was applied: records get their names and hashes. Returns their ids.

    Raises:
        MigrationTampered: a file is gone, so that there is nothing to accept.
        MigrationLocked: another runner holds the lock.
    """
    backend, migrations = _opened(run, root)
    with backend.lock() as held:
        changed = {state.id: state for state in _repairable(_states(run, migrations))}
        records = [record for record in chain.migration_list(run) if record.seq is not None]
        by_number = _by_number(migration.file for migration in migrations)
        book = Book(run, held)

        def work(unit: "Unit") -> None:
            previous = ""
            for record in records:
                seq = record.seq or 0
                file = by_number[chain.number_of(record.id)]
                checksum = file.checksum(previous)
                if (file.id, checksum) != (record.id, record.checksum):
                    state = changed.get(record.id)
                    said = f"{record.id} was {state.state}" if state is not None else None
                    book.accept(unit, seq, file.id, checksum, said)
                previous = checksum

        if changed:
            run.in_one(work, name="migration.repair")
    return list(changed)


def _opened(run: "Neo4jRunner", root: Path | None) -> tuple[Neo4jBackend, list[CypherMigration]]:
    folder = root or files.root("migrations")
    return Neo4jBackend.over(run, folder), read_migrations(folder)


def _states(run: "Neo4jRunner", migrations: list[CypherMigration]) -> list[chain.MigrationState]:
    return chain.compare([m.file for m in migrations], chain.migration_list(run))


def _check_next(states: list[chain.MigrationState], id: str) -> None:
    state = next((state for state in states if state.id == id), None)
    if state is None:
        raise MigrationError(f"there is no migration {id}; see: mkg migrate status")
    if state.state in ("failed", "interrupted", "skipped"):
        return
    if state.state != "pending":
        raise MigrationError(f"{id} is {state.state}; there is nothing to mark")
    number = chain.number_of(id)
    first = next(s.id for s in states if s.state in ("pending", "failed", "interrupted"))
    if number is not None and first != id:
        raise MigrationError(f"{first} comes before {id}; apply or mark it first")


def _kind(backend: Neo4jBackend, migration: CypherMigration) -> str:
    try:
        migration.classify(backend)
    except MigrationError:
        # A file that this server refuses may be just what the person did by hand.
        return "data"
    return migration.kind or "data"


def _repairable(states: list[chain.MigrationState]) -> list[chain.MigrationState]:
    for state in states:
        if state.state == "missing" and state.seq is not None:
            raise MigrationTampered(
                f"{state.id} was applied and its file is gone: there is nothing to accept; "
                f"restore {state.id}.cypher, or install the version that ships it"
            )
    return [state for state in states if state.state in ("edited", "renamed")]


def _by_number(found: Iterable[MigrationFile]) -> dict[int | None, MigrationFile]:
    return {file.number: file for file in found if file.number is not None}
