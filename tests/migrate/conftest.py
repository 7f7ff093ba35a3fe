"""A database without migrations: emptied down to its schema, and given back migrated."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg.db import Neo4jRunner
from mkg.migrate import apply_all
from tests.conftest import Server
from tests.migrate.folder import BASELINE, folder

GROUND = frozenset(
    {
        "mkg_migration_lock_name",
        "mkg_migration_id",
        "mkg_migration_seq",
        "mkg_repeatable_id",
        "mkg_migration_log_id",
    }
)


def rows(run: Neo4jRunner, text: str, **params: object) -> list[dict[str, object]]:
    """Look into the database as a person would."""
    return run.execute(f"CYPHER 25\n{text}", params, mode="read").rows


def value(run: Neo4jRunner, text: str, **params: object) -> object:
    """The single value of a single row."""
    (row,) = rows(run, text, **params)
    return next(iter(row.values()))


def empty(run: Neo4jRunner, *, below: bool = True) -> None:
    """Remove nodes, constraints and indexes; without `below`, the baseline stays."""
    kept = "n:MkgTestStore" if below else f"(n:MkgTestStore OR coalesce(n.id, '') = '{BASELINE}')"
    run.execute(f"CYPHER 25\nMATCH (n) WHERE NOT {kept} DETACH DELETE n")
    for kind, shown in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        for row in rows(run, f"SHOW {shown} YIELD name, type"):
            if row["type"] != "LOOKUP" and (below or row["name"] not in GROUND):
                run.execute(f"CYPHER 25\nDROP {kind} `{row['name']}` IF EXISTS", mode="schema")


@pytest.fixture(scope="package")
def unmigrated(server: Server) -> Iterator[Server]:
    """The shared server for a while; the tests after this package find it migrated again."""
    yield server
    with server.runner() as run:
        empty(run)
        apply_all(run)


@pytest.fixture
def blank(unmigrated: Server) -> Iterator[Neo4jRunner]:
    """A runner on a database that no runner of migrations has ever seen."""
    with unmigrated.runner() as run:
        empty(run)
        yield run


@pytest.fixture
def store(unmigrated: Server, tmp_path: Path) -> Iterator[Neo4jRunner]:
    """A runner on a database with the baseline and nothing else."""
    with unmigrated.runner() as run:
        empty(run, below=False)
        apply_all(run, root=folder(tmp_path / "baseline"))
        yield run
