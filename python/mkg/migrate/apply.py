"""Applies what is pending: read all, check all, then write under the lock (NEO-84)."""

from pathlib import Path
from typing import TYPE_CHECKING

from mkg.bundle import files
from mkg.errors import MigrationError
from mkg.migrate import chain, lease, source
from mkg.migrate.backend import Neo4jBackend, Progress
from mkg.migrate.yoyo_migration import CypherMigration, read_migrations

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner


def apply_all(
    run: "Neo4jRunner",
    *,
    root: Path | None = None,
    progress: Progress | None = None,
    retry: bool = False,
    to: str | None = None,
    wait: float = lease.WAIT_SECONDS,
) -> list[str]:
    """Apply every pending migration in order and return the ids of those this call came to.

    Args:
        run: the database.
        root: the folder of migrations; the shipped one by default.
        progress: called with a line for a person at every step.
        retry: run what failed again, and look again at what was skipped.
        to: the last migration to apply; later ones and other repeatable files wait.
        wait: seconds to wait for another runner.

    Raises:
        MigrationError: files, history or a statement forbid it; nothing later was run.
        MigrationLocked: another runner still holds the lock after `wait` seconds.
        MigrationTampered: an applied file was edited, renamed or is gone.
        MigrationUnverified: a migration ran and left something else than it declares or predicts.
    """
    folder = root or files.root("migrations")
    backend = Neo4jBackend.over(run, folder, progress)
    backend.again = retry
    migrations = read_migrations(folder)
    plan = _plan(backend, migrations, retry, to)
    for migration in plan:
        migration.classify(backend, later=True)
    if plan:
        with backend.lock(wait):
            # Whoever held the lock before may have done the work, or left it half done.
            plan = _plan(backend, migrations, retry, to)
            backend.apply_migrations_only(plan)
    return [migration.id for migration in plan]


def _plan(
    backend: Neo4jBackend, migrations: list[CypherMigration], retry: bool, to: str | None
) -> list[CypherMigration]:
    records = chain.migration_list(backend.run)
    states = chain.compare([migration.file for migration in migrations], records)
    chain.check_applicable(states, records, retry=retry)
    wanted = backend.plan(migrations)
    if to is None:
        return wanted
    if to not in {migration.id for migration in migrations}:
        raise MigrationError(f"there is no migration {to}; see: mkg migrate status")
    return [migration for migration in wanted if _up_to(migration.id, to)]


def _up_to(id: str, to: str) -> bool:
    number, last = source.number_of(id), source.number_of(to)
    if number is None or last is None:
        # A repeatable file runs after all others, so to ask for one is to ask for them too.
        return id == to or (last is None and number is not None)
    return number <= last
