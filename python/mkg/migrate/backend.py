"""yoyo's backend for Neo4j: its vocabulary over the chain, the lock and the runner.

yoyo's own backend assumes DB-API, SQL bookkeeping and a lock table, and goes on after a bad
migration. Planning (`to_apply`) is inherited; the rest is overridden (style 4.12, NEO-83, NEO-84).
"""

# yoyo ships no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import contextlib
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yoyo.backends.base import DatabaseBackend
from yoyo.migrations import MigrationList, get_migration_hash

from mkg.bundle import files
from mkg.errors import GraphError, GraphUnavailable, MigrationError, MigrationUnverified
from mkg.migrate import chain, conditions, lease, progress, proof, schema, source
from mkg.migrate.explain import reason, worded
from mkg.migrate.lexer import Statement
from mkg.migrate.record import Book
from mkg.migrate.yoyo_migration import CypherMigration, repeat_hash

if TYPE_CHECKING:
    from mkg.db import Executed, Neo4jRunner, Unit

Progress = Callable[[str], None]


class Neo4jBackend(DatabaseBackend):
    """Applies `.cypher` migrations to one database."""

    DatabaseError = GraphError
    has_transactional_ddl = False

    def __init__(self, dburi: Any, migration_table: str = "", *, run: "Neo4jRunner | None" = None):
        # Not calling the base: it opens a DB-API connection and probes for transactional DDL.
        self.uri = dburi
        self.migration_table = migration_table
        self.running: Statement | None = None
        self.progress: Progress = _quiet
        self._owned = run is None
        self.run = run if run is not None else self.connect(dburi)
        self.root = files.root("migrations")
        self._unit: Unit | None = None
        self._lease: lease.Lease | None = None
        self._records: Book | None = None
        self._started = 0.0
        self._predicted: dict[str, int] | None = None
        self.facts = conditions.Facts(self.run)
        self.again = False

    @classmethod
    def over(
        cls, run: "Neo4jRunner", root: Path, progress: Progress | None = None
    ) -> "Neo4jBackend":
        """A backend on a runner that somebody else opened and will close."""
        backend = cls(None, run=run)
        backend.root = root
        backend.progress = progress or _quiet
        return backend

    def connect(self, dburi: Any) -> "Neo4jRunner":
        """Open a runner for a URI that yoyo has taken apart."""
        from mkg.db import Neo4jRunner

        auth = (dburi.username, dburi.password or "") if dburi.username else None
        where = f"{dburi.scheme}://{dburi.hostname}:{dburi.port or 7687}"
        return Neo4jRunner(where, auth, dburi.database or "neo4j", caller="migrate")

    def init_database(self) -> None:
        """Nothing to prepare: the baseline migration makes what the runner stands on."""

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self.run.close()

    def execute(self, sql: str, params: Any = None) -> "Executed":
        """Run one statement in the open transaction, or in one of its own."""
        if self._unit is not None:
            return self._unit.execute(sql, params)
        return self.run.execute(sql, params)

    def statement(self, migration: CypherMigration, part: Statement, index: int) -> None:
        """Run one statement of a file in the way the file asks for."""
        if self._unit is not None:
            self._unit.execute(worded(part.text))
        elif migration.kind == "schema":
            # Schema and records cannot share a transaction: the lock is looked at right before.
            self._held().check(now=True)
            self.run.execute(worded(part.text), mode="schema", name=f"migration.{migration.id}")
        elif migration.file.tx == "none":
            self._in_transactions(migration, part, index)
        else:
            batches = 0
            while not self._one_step(migration, part, index):
                batches += 1
                if batches % 20 == 0:
                    self.progress(f"{migration.id}: {batches} batches of {migration.file.batch}")

    def _one_step(self, migration: CypherMigration, part: Statement, index: int) -> bool:
        """Run a statement or its next batch, and count it in the same transaction."""
        file, batched = migration.file, source.is_batched(part)

        def work(unit: "Unit") -> bool:
            # Asked each time: a commit whose answer got lost has happened all the same.
            at = progress.read(unit, file)
            if at.done > index:
                return True
            given = {"after": at.after, "size": file.batch} if batched else {}
            rows = unit.execute(worded(part.text), given).rows
            after = rows[0]["after"] if batched and rows else None
            if after is not None and after == at.after:
                raise MigrationUnverified(
                    f"{file.path}:{part.line}: the batch after {after!r} ends at {after!r}: it "
                    "would never come to an end; take keys greater than $after, in their order"
                )
            done = index if after is not None else index + 1
            progress.advance(unit, self._held(), file, done, after)
            return after is None

        return self.run.in_one(work, name=f"migration.{migration.id}")

    def _in_transactions(self, migration: CypherMigration, part: Statement, index: int) -> None:
        """Run CALL .. IN TRANSACTIONS, whose inside compares owner and token with the lock."""
        if progress.read(self.run, migration.file).done > index:
            return
        held = self._held()
        held.check(now=True)
        fence = {"owner": held.owner, "token": held.token}
        name = f"migration.{migration.id}"
        self.run.execute(worded(part.text), fence, mode="auto", name=name)
        progress.advance(self.run, held, migration.file, index + 1)

    def foretell(self, migration: CypherMigration) -> None:
        """Ask for the prediction of a file of one transaction; others asked when they began."""
        if self._unit is not None:
            self._predicted = proof.predict(self, migration.file)

    def finish(self, migration: CypherMigration) -> None:
        """Compare and verify what came out and record it, all in one transaction.

        Raises:
            MigrationUnverified: a count is not the predicted one, or a verification finds rows.
        """
        if self._unit is None:
            at = progress.read(self.run, migration.file)
            self._predicted = at.predicted
        with self.transaction():
            proof.compare(self, migration.file, self._predicted)
            proof.verify(self, migration.file)
            self.mark_one(migration)

    def settle(self, migration: CypherMigration) -> None:
        """Wait for the indexes of a schema file and compare the result with the file."""
        schema.settle(self.run, migration.wanted, migration.path, patience=schema.AWAIT_SECONDS)

    @contextlib.contextmanager
    def transaction(  # pyright: ignore[reportIncompatibleMethodOverride]  (yoyo's is a class)
        self, rollback_on_exit: bool = False
    ) -> Generator[None]:
        """One transaction for the block; inside one that is open, the block joins it."""
        if self._unit is not None:
            yield
            return
        with self.run.unit(name="migration") as unit, self._inside(unit):
            yield

    @contextlib.contextmanager
    def disable_transactions(self) -> Generator[None]:
        """Every statement of the block runs by itself."""
        yield

    @contextlib.contextmanager
    def lock(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, timeout: float = lease.WAIT_SECONDS
    ) -> Generator[lease.Lease]:
        """Hold the migration lock for the block.

        Raises:
            MigrationLocked: another runner still holds it after `timeout` seconds.
        """
        self.ensure_internal_schema_updated()
        with lease.hold(self.run, wait=timeout, progress=self.progress) as held:
            self._lease, self._started = held, time.monotonic()
            try:
                yield held
            finally:
                self._lease = self._records = None

    def break_lock(self) -> None:
        """Take the lock away from whoever holds it; nothing that holder does counts any more."""
        holder = lease.holder(self.run)
        if holder is not None:
            lease.break_(self.run, holder)

    def ensure_internal_schema_updated(self) -> None:
        """Make the constraints that lock and records stand on, before either is used.

        Raises:
            MigrationUnverified: they are not there afterwards.
        """
        if chain.migration_ready(self.run).ready:
            return
        baseline = source.read(source.discover(self.root)[0])
        for part in baseline.statements:
            self.run.execute(worded(part.text), mode="schema", name="migration.baseline")
        if not chain.migration_ready(self.run).ready:
            raise MigrationUnverified(
                f"{baseline.path}: the runner's constraints are not all there; look for objects of "
                "the same names"
            )

    def get_applied_migration_hashes(self) -> list[str]:
        """What is applied, in yoyo's terms."""
        hashes: list[str] = []
        for record in chain.migration_list(self.run if self._unit is None else self._unit):
            if record.state == "APPLIED" or (record.state == "SKIPPED" and not self.again):
                repeated = repeat_hash(record.id, record.checksum)
                plain = get_migration_hash(record.id) or ""
                hashes.append(repeated if record.seq is None else plain)
        return hashes

    def plan(self, migrations: Iterable[CypherMigration]) -> list[CypherMigration]:
        """What yoyo would run, in the order it would run it."""
        return list(self.to_apply(MigrationList(migrations)))

    def apply_migrations_only(
        self, migrations: Iterable[CypherMigration], force: bool = False
    ) -> None:
        """Apply in order and stop at the first that fails; yoyo would go on after a bad one."""
        for migration in migrations:
            self.apply_one(migration)

    def apply_one(self, migration: CypherMigration, force: bool = False, mark: bool = True) -> None:
        """Run one migration and record it.

        Raises:
            MigrationError: it was refused or failed, and nothing of it is recorded as applied.
            GraphUnavailable: the database went away; the next run finds out how far it came.
        """
        self._held().check()
        self._started, self.running = time.monotonic(), None
        self.progress(f"{migration.id}: running")
        if migration.kind is None:
            migration.classify(self)
        try:
            self._process(migration)
        except GraphUnavailable:
            raise
        except (GraphError, MigrationUnverified) as error:
            raise self._failed(migration, error) from error
        if migration.id not in self._book().skipped:
            self.progress(f"{migration.id}: applied in {time.monotonic() - self._started:.1f} s")

    def mark_one(self, migration: CypherMigration, log: bool = True) -> None:
        """Record a migration as applied, under the lock's token."""
        self._write(migration, "APPLIED", None)

    def rollback_one(self, migration: CypherMigration, force: bool = False) -> None:
        """Refused: a memory is not un-lived.

        Raises:
            MigrationError: always.
        """
        raise MigrationError("migrations only go forward; write a new one")

    def unmark_one(self, migration: CypherMigration, log: bool = True) -> None:
        """Forget that the newest migration was applied; what it did stays.

        Raises:
            MigrationError: it is not the last of the chain.
        """
        self._book().forget(self.run, migration.id)

    def _process(self, migration: CypherMigration) -> None:
        if migration.file.number == 0:
            # Its statements had to run before there was a lock; only the record is left to write.
            self.settle(migration)
            self.mark_one(migration)
        elif migration.use_transactions:
            self._in_one_transaction(migration)
        else:
            self._in_steps(migration)
        self._book().keep(migration.file)

    def _in_one_transaction(self, migration: CypherMigration) -> None:
        tries = 0

        def work(unit: "Unit") -> None:
            nonlocal tries
            tries += 1
            with self._inside(unit):
                # Repeated because its connection died: the commit may have landed all the same.
                if tries > 1 and self.is_applied(migration):
                    return
                if not self._skipped(migration):
                    migration.process_steps(self, "apply")

        self.run.in_one(work, name=f"migration.{migration.id}")

    def _in_steps(self, migration: CypherMigration) -> None:
        if self._skipped(migration):
            return
        resumed = self._book().resumes(migration.file, migration.kind)

        def work(unit: "Unit") -> None:
            with self._inside(unit):
                self._write(migration, "PENDING", None)
                if not resumed:
                    foretold = proof.predict(self, migration.file)
                    progress.begin(unit, self._held(), migration.file, foretold)

        self.run.in_one(work, name=f"migration.{migration.id}")
        self._book().keep(migration.file)
        migration.process_steps(self, "apply")

    def _skipped(self, migration: CypherMigration) -> bool:
        """Record a migration as skipped if an assumption of it does not hold."""
        self._book().skipped.discard(migration.id)
        ahead = [id for id in migration.file.depends if id in self._book().skipped]
        reason = f"it depends on {ahead[0]}, which was skipped" if ahead else None
        reason = reason or conditions.unmet(self, migration.file)
        if reason is None:
            return False
        self._write(migration, "SKIPPED", reason)
        self._book().skipped.add(migration.id)
        self.progress(f"{migration.id}: skipped: {reason}")
        return True

    def _failed(self, migration: CypherMigration, error: Exception) -> MigrationError:
        part, said = self.running, str(error)
        if isinstance(error, GraphError):
            said = reason(error)
            if part is not None:
                said = f"{migration.path}:{part.line}: {said}"
        with contextlib.suppress(GraphError):
            if migration.use_transactions:
                self._book().note_failure(self.run, migration.file, said)
            else:
                self._write(migration, "FAILED", said)
        kind = MigrationUnverified if isinstance(error, MigrationUnverified) else MigrationError
        return kind(said)

    def _write(self, migration: CypherMigration, state: str, message: str | None) -> None:
        self._book().write(
            self.run if self._unit is None else self._unit,
            migration.file,
            kind=migration.kind or "data",
            state=state,
            message=message,
            duration_ms=int((time.monotonic() - self._started) * 1000),
        )

    @contextlib.contextmanager
    def _inside(self, unit: "Unit") -> Generator[None]:
        self._unit = unit
        try:
            yield
        finally:
            self._unit = None

    def _held(self) -> lease.Lease:
        if self._lease is None:
            raise MigrationError("take the migration lock first: with backend.lock(): ...")
        return self._lease

    def _book(self) -> Book:
        if self._records is None:
            self._records = Book(self.run, self._held())
        return self._records


def _quiet(_: str) -> None:
    """The progress of a run that nobody watches."""
