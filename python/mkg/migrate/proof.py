"""Predictions and verifications: what a migration foretells, and what must not be left.

A `.predict.cypher` holds two statements that return one row of counts under the same names: the
first is asked before anything is written, the second afterwards; every count must be equal.
"""

from typing import TYPE_CHECKING, Any

from mkg.errors import GraphRejected, MigrationError, MigrationUnverified
from mkg.migrate.explain import explained, reason, worded
from mkg.migrate.lexer import Statement

if TYPE_CHECKING:
    from mkg.migrate.backend import Neo4jBackend
    from mkg.migrate.source import MigrationFile


def predict(backend: "Neo4jBackend", file: "MigrationFile") -> dict[str, int] | None:
    """What the file says will come out; None when it says nothing.

    Raises:
        MigrationUnverified: the prediction is no row of counts.
    """
    return _counts(backend, file, file.predict[0]) if file.predict else None


def compare(
    backend: "Neo4jBackend", file: "MigrationFile", predicted: dict[str, int] | None
) -> None:
    """Ask what came out and compare it with what was foretold.

    Raises:
        MigrationUnverified: a count differs.
    """
    if not file.predict or predicted is None:
        return
    found = _counts(backend, file, file.predict[1])
    wrong = [
        f"{name}: predicted {predicted.get(name)}, found {count}"
        for name, count in found.items()
        if predicted.get(name) != count
    ]
    if wrong:
        raise MigrationUnverified(f"{_where(file, 'predict', file.predict[1])}: {'; '.join(wrong)}")


def verify(backend: "Neo4jBackend", file: "MigrationFile") -> None:
    """Run every statement of the verification, which must find nothing.

    Raises:
        MigrationUnverified: a row came back, or a statement fails.
    """
    for part in file.verify:
        rows = _asked(backend, _where(file, "verify", part), part)
        if rows:
            where = _where(file, "verify", part)
            raise MigrationUnverified(f"{where}: {len(rows)} row(s) contradict the migration")


def check(backend: "Neo4jBackend", file: "MigrationFile") -> None:
    """Plan all of it, so that a mistake in it stops the run before the first write.

    Raises:
        MigrationError: a statement is refused, writes, or returns other columns than it should.
    """
    for part in file.verify:
        where = _where(file, "verify", part)
        found = explained(backend.run, part.text, where)
        if found.query_type != "r" or not found.columns:
            raise MigrationError(f"{where}: a verification only reads and returns rows")
    columns: list[set[str]] = []
    for part in file.predict:
        where = _where(file, "predict", part)
        found = explained(backend.run, part.text, where)
        if found.query_type != "r" or not found.columns:
            raise MigrationError(f"{where}: a prediction only reads and returns one row of counts")
        columns.append(set(found.columns))
    if columns and columns[0] != columns[1]:
        both = " and ".join(", ".join(sorted(names)) for names in columns)
        where = _where(file, "predict", file.predict[1])
        raise MigrationError(f"{where}: both statements return the same columns, not {both}")


def _counts(backend: "Neo4jBackend", file: "MigrationFile", part: Statement) -> dict[str, int]:
    where = _where(file, "predict", part)
    rows = _asked(backend, where, part)
    if len(rows) != 1 or not all(type(count) is int for count in rows[0].values()):
        raise MigrationUnverified(f"{where}: a prediction returns one row of whole numbers")
    return rows[0]


def _asked(backend: "Neo4jBackend", where: str, part: Statement) -> list[dict[str, Any]]:
    try:
        return backend.execute(worded(part.text)).rows
    except GraphRejected as error:
        raise MigrationUnverified(f"{where}: {reason(error)}") from error


def _where(file: "MigrationFile", kind: str, part: Statement) -> str:
    return f"{file.path.with_name(f'{file.id}.{kind}.cypher')}:{part.line}"
