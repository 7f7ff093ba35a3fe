"""How far a migration of several transactions has come, kept in the graph beside its record.

A statement, the count of it and the check of the lock's token share one transaction: what a killed
runner had committed is never run again, and a runner that lost the lock commits nothing (NEO-90).
"""

import json
from dataclasses import dataclass
from typing import Any

from mkg.bundle import Runner, cypher
from mkg.errors import MigrationError
from mkg.migrate import lease
from mkg.migrate.source import MigrationFile


@dataclass(frozen=True, slots=True)
class Row:
    """The progress of one migration as it is stored."""

    done: int
    done_hash: str | None
    watermark: str | None
    predicted: str | None


@dataclass(frozen=True, slots=True)
class Advanced:
    """A progress that was stored."""

    done: int


@dataclass(frozen=True, slots=True)
class Begun:
    """A migration whose progress starts from nothing."""

    id: str


@dataclass(frozen=True, slots=True)
class Progress:
    """Statements that are done, and the last key of the batch that is under way."""

    done: int
    after: Any
    predicted: dict[str, int] | None


@cypher("ops.migration_progress")
def migration_progress(run: Runner, *, id: str) -> Row | None: ...


@cypher("ops.migration_advance")
def migration_advance(
    run: Runner,
    *,
    lock: str,
    owner: str,
    token: int,
    id: str,
    done: int,
    done_hash: str,
    watermark: str | None,
) -> Advanced | None: ...


@cypher("ops.migration_begin")
def migration_begin(
    run: Runner, *, lock: str, owner: str, token: int, id: str, predicted: str | None
) -> Begun | None: ...


def begin(
    run: Runner, held: lease.Lease, file: MigrationFile, predicted: dict[str, int] | None
) -> None:
    """Forget an earlier progress and keep what was foretold.

    Raises:
        MigrationLocked: the lock went to another runner.
    """
    text = None if predicted is None else json.dumps(predicted)
    begun = migration_begin(
        run, lock=held.name, owner=held.owner, token=held.token, id=file.id, predicted=text
    )
    if begun is None:
        raise lease.lost()


def read(run: Runner, file: MigrationFile) -> Progress:
    """What is behind an interrupted migration.

    Raises:
        MigrationError: the file's first statements are not the ones that ran.
    """
    row = migration_progress(run, id=file.id) or Row(0, None, None, None)
    if row.done and row.done_hash != file.begun(row.done):
        raise MigrationError(
            f"{file.path}: its first {row.done} statement(s) ran with another text; restore them, "
            f"or finish the work by hand and run: mkg migrate mark {file.id}"
        )
    return Progress(
        row.done,
        None if row.watermark is None else json.loads(row.watermark),
        None if row.predicted is None else json.loads(row.predicted),
    )


def advance(
    run: Runner, held: lease.Lease, file: MigrationFile, done: int, after: Any = None
) -> None:
    """Store how far it has come.

    Raises:
        MigrationLocked: the lock went to another runner; the transaction is to be rolled back.
    """
    advanced = migration_advance(
        run,
        lock=held.name,
        owner=held.owner,
        token=held.token,
        id=file.id,
        done=done,
        done_hash=file.begun(done),
        watermark=None if after is None else json.dumps(after),
    )
    if advanced is None:
        raise lease.lost()
