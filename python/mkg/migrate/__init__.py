"""Migrations of the graph: `.cypher` files, chained records, one runner at a time.

yoyo is loaded only when something is applied; reading the state needs no more than the bundle.
"""

from typing import TYPE_CHECKING, Any

from mkg.migrate.chain import MigrationState
from mkg.migrate.lease import break_ as break_lock
from mkg.migrate.report import (
    Verified,
    check_schema,
    hindrance,
    holder,
    newest_applied,
    pending,
    status,
    verify,
)

if TYPE_CHECKING:
    from mkg.migrate.apply import apply_all
    from mkg.migrate.backend import Neo4jBackend
    from mkg.migrate.hands import mark, repair, to_repair, unmark
    from mkg.migrate.planned import Planned, plan
    from mkg.migrate.yoyo_migration import CypherMigration, read_migrations

__all__ = [
    "CypherMigration",
    "MigrationState",
    "Neo4jBackend",
    "Planned",
    "Verified",
    "apply_all",
    "break_lock",
    "check_schema",
    "hindrance",
    "holder",
    "mark",
    "newest_applied",
    "pending",
    "plan",
    "read_migrations",
    "repair",
    "status",
    "to_repair",
    "unmark",
    "verify",
]
_LAZY = {
    "CypherMigration": "yoyo_migration",
    "Neo4jBackend": "backend",
    "Planned": "planned",
    "plan": "planned",
    "mark": "hands",
    "repair": "hands",
    "to_repair": "hands",
    "unmark": "hands",
    "apply_all": "apply",
    "read_migrations": "yoyo_migration",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"mkg.migrate.{_LAZY[name]}"), name)
