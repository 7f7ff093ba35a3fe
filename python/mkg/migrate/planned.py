"""Says what `apply` would do, asking the server about every statement and writing nothing."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mkg.bundle import files
from mkg.errors import GraphError, MigrationUnverified
from mkg.migrate import chain, conditions, proof
from mkg.migrate.backend import Neo4jBackend
from mkg.migrate.yoyo_migration import CypherMigration, read_migrations

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner


@dataclass(frozen=True, slots=True)
class Planned:
    """One migration that would run: `predicted` and `notes` are about the database as it is now."""

    id: str
    path: str
    kind: str | None
    tx: str
    statements: int
    batch: int | None = None
    verified: bool = False
    predicted: dict[str, int] | None = None
    notes: list[str] = field(default_factory=list[str])


def plan(run: "Neo4jRunner", *, root: Path | None = None, retry: bool = False) -> list[Planned]:
    """What `apply` would run, in order; nothing is written and no lock is taken.

    Raises:
        MigrationError: files, history or a statement forbid it.
        MigrationTampered: an applied file was edited, renamed or is gone.
    """
    folder = root or files.root("migrations")
    backend = Neo4jBackend.over(run, folder)
    backend.again = retry
    migrations = read_migrations(folder)
    records = chain.migration_list(run)
    states = chain.compare([migration.file for migration in migrations], records)
    chain.check_applicable(states, records, retry=retry)
    wanted = backend.plan(migrations)
    for migration in wanted:
        migration.classify(backend, later=True)
    return [_planned(backend, migration) for migration in wanted]


def _planned(backend: Neo4jBackend, migration: CypherMigration) -> Planned:
    file, notes = migration.file, list[str]()
    if migration.kind is None:
        notes.append("needs an index of an earlier file, and is checked at its turn")
    elif migration.kind == "data" and file.number is not None:
        missing = [name for name in ("predict", "verify") if not getattr(file, name)]
        if missing:
            notes.append(f"changes data without .{' or .'.join(missing)}.cypher")
    predicted = None
    try:
        predicted = proof.predict(backend, file)
        skipped = conditions.skipped_by(file.conditions, backend)
        if skipped is not None:
            notes.append(f"would be skipped: {skipped}")
        else:
            notes += [f"would stop the run: {why}" for why in conditions.refused_by(backend, file)]
    except (GraphError, MigrationUnverified) as error:
        notes.append(f"cannot be foretold yet: {error}")
    return Planned(
        id=file.id,
        path=str(file.path),
        kind=migration.kind,
        tx=file.tx or ("each" if migration.kind == "schema" else "one"),
        statements=len(file.statements),
        batch=file.batch,
        verified=bool(file.verify),
        predicted=predicted,
        notes=notes,
    )
