"""A `.cypher` file as a migration of yoyo, which orders and runs it.

yoyo 9 reads `.py` and `.sql` only and hashes a migration's id: loading, steps and dependencies are
ours, ordering and running are yoyo's (NEO-80, NEO-82, NEO-84; style 4.12).
"""

# yoyo ships no types: what is used of it is annotated here and in backend.py, once.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from yoyo.migrations import Migration, StepBase, get_migration_hash

from mkg.errors import GraphError, MigrationError
from mkg.migrate import conditions, proof, schema, source
from mkg.migrate.explain import explained
from mkg.migrate.lexer import Statement

if TYPE_CHECKING:
    from mkg.migrate.backend import Neo4jBackend

Kind = Literal["schema", "data"]
_NO_SUCH_INDEX = "22N69"


class CypherMigration(Migration):
    """One migration file; `load` reads it, `classify` asks the server what kind it is."""

    id: str
    hash: str
    path: str
    file: source.MigrationFile

    def __init__(self, id: str, path: str, source_dir: str):
        super().__init__(id, path, source_dir)
        self.kind: Kind | None = None
        self.wanted: tuple[schema.Declared, ...] = ()
        self.resolved: frozenset[CypherMigration] = frozenset()

    def load(self) -> None:
        """Read the file once and turn its statements into steps.

        Raises:
            MigrationError: the file breaks the rules of its grammar.
        """
        if self.loaded:
            return
        self.file = source.read(Path(self.path))
        self.source = self.file.text
        if self.file.number is None:
            # A repeatable file is done only as long as its text is the one that ran.
            self.hash = repeat_hash(self.id, self.file.checksum(""))
        parts = enumerate(self.file.statements)
        self.steps = [
            PredictStep(self),
            *(StatementStep(self, part, index) for index, part in parts),
            SettleStep(self),
            FinishStep(self),
        ]

    @property
    def depends(self) -> set["CypherMigration"]:
        """What the file names in its header; yoyo's own table of ids outlives a folder."""
        self.load()
        return set(self.resolved)

    def classify(self, backend: "Neo4jBackend", *, later: bool = False) -> None:
        """Find out by EXPLAIN whether the file is schema or data, before anything is written.

        With `later`, a statement that needs an index of an earlier file is left for its own turn.

        Raises:
            MigrationError: a statement is refused, or schema and data are mixed.
        """
        self.load()
        try:
            types = [
                (part, self._type(backend, part, f"{self.path}:{part.line}"))
                for part in self.file.statements
            ]
            proof.check(backend, self.file)
            conditions.check(backend, self.file)
        except MigrationError as error:
            cause = error.__cause__
            if later and isinstance(cause, GraphError) and cause.status == _NO_SUCH_INDEX:
                return
            raise
        self.kind = self._kind(types)
        tx = self.file.tx or ("each" if self.kind == "schema" else "one")
        if self.kind == "schema" and tx != "each":
            raise MigrationError(f"{self.path}:1: schema statements run one by one; @tx is each")
        self.use_transactions = tx == "one"

    def _type(self, backend: "Neo4jBackend", part: Statement, where: str) -> str:
        found = explained(backend.run, part.text, where)
        if source.is_batched(part) and found.columns != ("after",):
            raise MigrationError(
                f"{where}: a batch returns one column, after: the last key it did, null at the end"
            )
        return found.query_type

    def _kind(self, types: list[tuple[Statement, str]]) -> Kind:
        changes = [part for part, type in types if type == "s"]
        writes = [part for part, type in types if "w" in type]
        self.wanted = tuple(schema.declared(part, self.path) for part in changes)
        if changes and writes:
            raise MigrationError(
                f"{self.path}:{writes[0].line}: schema and data cannot share a file; "
                "move the data into a file with the next number"
            )
        return "schema" if changes else "data"


class ForwardStep(StepBase):
    """A step of ours; migrations only go forward, so taking one back does nothing."""

    def __init__(self, migration: CypherMigration):
        self.migration = migration

    def rollback(self, backend: Any, force: bool = False) -> None:
        """Nothing: yoyo calls this for the steps before a failed one."""


class PredictStep(ForwardStep):
    """Asks what will come out, before anything is written."""

    def apply(self, backend: "Neo4jBackend", force: bool = False) -> None:
        """Keep the counts for the comparison."""
        backend.running = None
        backend.foretell(self.migration)


class StatementStep(ForwardStep):
    """Runs one statement of the file."""

    def __init__(self, migration: CypherMigration, part: Statement, index: int):
        super().__init__(migration)
        self.part = part
        self.index = index

    def apply(self, backend: "Neo4jBackend", force: bool = False) -> None:
        """Run it, inside the transaction if the file has one."""
        backend.running = self.part
        backend.statement(self.migration, self.part, self.index)


class SettleStep(ForwardStep):
    """Waits for what a schema file declared."""

    def apply(self, backend: "Neo4jBackend", force: bool = False) -> None:
        """Return when every declared object is there, equal and online."""
        backend.running = None
        if self.migration.wanted:
            backend.settle(self.migration)


class FinishStep(ForwardStep):
    """Compares, verifies and writes the record, in one transaction: the file's if it has one."""

    def apply(self, backend: "Neo4jBackend", force: bool = False) -> None:
        """Mark the migration applied, unless what came out contradicts it."""
        backend.running = None
        backend.finish(self.migration)


def repeat_hash(id: str, checksum: str) -> str:
    """What yoyo compares for a repeatable file: its name and its text."""
    return get_migration_hash(f"{id}@{checksum}") or ""


def read_migrations(root: Path) -> list[CypherMigration]:
    """Read a whole folder; nothing of it is usable unless all of it is.

    Raises:
        MigrationError: a file cannot be read, or a dependency is unknown or comes later.
    """
    migrations = [
        CypherMigration(path.name.removesuffix(".cypher"), str(path), str(root))
        for path in source.discover(root)
    ]
    for migration in migrations:
        migration.load()
    by_id = {migration.id: migration for migration in migrations}
    for migration in migrations:
        migration.resolved = frozenset(_resolve(migration, by_id))
    return migrations


def _resolve(
    migration: CypherMigration, by_id: dict[str, CypherMigration]
) -> Iterable[CypherMigration]:
    for id in migration.file.depends:
        at = f"{migration.path}:1: @depends {id}"
        other = by_id.get(id)
        if other is None:
            raise MigrationError(f"{at}: there is no such migration")
        number, theirs = migration.file.number, other.file.number
        if theirs is None or (number is not None and theirs >= number):
            raise MigrationError(f"{at}: only a smaller number can be depended on")
        yield other
