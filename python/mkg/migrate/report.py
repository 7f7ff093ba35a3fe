"""Reads how the migrations stand, without the lock and without writing (NEO-87, NEO-88)."""

from pathlib import Path

from mkg.bundle import Runner, files, load_bundle
from mkg.errors import SchemaBehind
from mkg.migrate import chain, source


def status(run: Runner, root: Path | None = None) -> list[chain.MigrationState]:
    """Every migration that a file or the database knows; a newer database is no error here.

    Raises:
        MigrationError: the files themselves cannot be read.
    """
    found = [source.read(path) for path in source.discover(root or files.root("migrations"))]
    return chain.compare(found, chain.migration_list(run))


def pending(run: Runner, root: Path | None = None) -> list[str]:
    """Ids that `apply` would run.

    Raises:
        MigrationError: the files themselves cannot be read.
    """
    return chain.waiting(status(run, root))


def newest_applied(run: Runner) -> str | None:
    """The last applied numbered migration; None when only the baseline or nothing is there."""
    applied = [
        record.id
        for record in chain.migration_list(run)
        if record.seq is not None and record.state == "APPLIED" and source.number_of(record.id)
    ]
    return applied[-1] if applied else None


def check_schema(run: Runner) -> None:
    """Compare the newest applied migration with what the bundle needs.

    Raises:
        SchemaBehind: the store was never migrated, or not far enough.
    """
    needed = load_bundle().schema
    newest = newest_applied(run)
    have = source.number_of(newest) if newest else None
    if have is None or have < (source.number_of(needed) or 0):
        raise SchemaBehind(
            f"the database stands at {newest or 'nothing'}, this version needs {needed}; "
            "run: mkg migrate apply"
        )
