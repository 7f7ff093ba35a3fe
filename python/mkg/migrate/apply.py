"""Applies what is pending: read all, check all, then write under the lock (NEO-84)."""

from pathlib import Path
from typing import TYPE_CHECKING

from mkg.bundle import files
from mkg.migrate import chain, lease
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
    wait: float = lease.WAIT_SECONDS,
) -> list[str]:
    """Apply every pending migration in order and return the ids of those this call applied.

    Raises:
        MigrationError: files, history or a statement forbid it; nothing later was run.
        MigrationLocked: another runner still holds the lock after `wait` seconds.
        MigrationTampered: an applied file was edited or is gone.
        MigrationUnverified: a migration ran and left something else than it declares.
    """
    folder = root or files.root("migrations")
    backend = Neo4jBackend.over(run, folder, progress)
    migrations = read_migrations(folder)
    plan = _plan(backend, migrations, retry)
    for migration in plan:
        migration.classify(backend, later=True)
    if plan:
        with backend.lock(wait):
            # Whoever held the lock before may have done the work, or left it half done.
            plan = _plan(backend, migrations, retry)
            backend.apply_migrations_only(plan)
    return [migration.id for migration in plan]


def _plan(
    backend: Neo4jBackend, migrations: list[CypherMigration], retry: bool
) -> list[CypherMigration]:
    records = chain.migration_list(backend.run)
    states = chain.compare([migration.file for migration in migrations], records)
    chain.check_applicable(states, records, retry=retry)
    return backend.plan(migrations)
