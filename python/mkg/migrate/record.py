"""Writes records and log lines under a held lock (NEO-83, NEO-86)."""

import socket
import uuid

from mkg.bundle import Runner
from mkg.errors import MigrationError
from mkg.migrate import chain, lease
from mkg.migrate.lease import TOOL
from mkg.migrate.source import MigrationFile

_OPERATIONS = {"PENDING": "begin", "FAILED": "failed", "SKIPPED": "skip"}


class Book:
    """The chain as one holder of the lock sees and continues it."""

    def __init__(self, run: Runner, held: lease.Lease):
        self._held = held
        self._by = lease.who()
        self._host = socket.gethostname()
        records = chain.migration_list(run)
        self.skipped = {record.id for record in records if record.state == "SKIPPED"}
        self._records = {record.id: record for record in records}
        self._chain = [(record.id, record.checksum) for record in records if record.seq is not None]

    def write(
        self,
        run: Runner,
        file: MigrationFile,
        *,
        kind: str,
        state: str,
        message: str | None = None,
        duration_ms: int = 0,
        operation: str | None = None,
    ) -> None:
        """Write how a migration stands, and a line in the log under the name of the operation.

        Raises:
            MigrationLocked: the lock went to another runner; nothing was written.
        """
        operation = operation or _OPERATIONS.get(state, "apply")
        if file.number is None:
            written = chain.migration_repeat(
                run,
                lock=self._held.name,
                owner=self._held.owner,
                token=self._held.token,
                id=file.id,
                checksum=file.checksum(""),
                kind=kind,
                state=state,
                message=message,
                duration_ms=duration_ms,
                by=self._by,
                tool=TOOL,
                operation=operation,
                host=self._host,
                log=uuid.uuid4().hex,
            )
        else:
            seq, checksum = self._place(file)
            written = chain.migration_record(
                run,
                lock=self._held.name,
                owner=self._held.owner,
                token=self._held.token,
                id=file.id,
                seq=seq,
                checksum=checksum,
                kind=kind,
                state=state,
                message=message,
                duration_ms=duration_ms,
                by=self._by,
                tool=TOOL,
                operation="baseline" if seq == 0 and state == "APPLIED" else operation,
                host=self._host,
                log=uuid.uuid4().hex,
            )
        if written is None:
            raise lease.lost()

    def keep(self, file: MigrationFile) -> None:
        """Remember a record that was committed, so that the next one is linked to it."""
        if file.number is not None:
            seq, checksum = self._place(file)
            self._chain[seq : seq + 1] = [(file.id, checksum)]

    def resumes(self, file: MigrationFile, kind: str | None) -> bool:
        """Whether an earlier run left progress that this one goes on from.

        Schema statements can be repeated, and so can a repeatable file that has another text.
        """
        record = self._records.get(file.id)
        if record is None or record.state not in ("PENDING", "FAILED") or kind != "data":
            return False
        return file.number is not None or record.checksum == file.checksum("")

    def forget(self, run: Runner, id: str) -> None:
        """Take the last record of the chain back, and write a line in the log.

        Raises:
            MigrationError: the record is not the last of the chain, or is the baseline's.
            MigrationLocked: the lock went to another runner; nothing was written.
        """
        seq = len(self._chain) - 1
        if seq < 1 or self._chain[seq][0] != id:
            last = f"; the last is {self._chain[seq][0]}" if seq > 0 else ""
            raise MigrationError(f"only the last migration of the chain can be unmarked{last}")
        forgotten = chain.migration_unmark(
            run,
            lock=self._held.name,
            owner=self._held.owner,
            token=self._held.token,
            id=id,
            seq=seq,
            by=self._by,
            host=self._host,
            tool=TOOL,
            log=uuid.uuid4().hex,
        )
        if forgotten is None:
            raise lease.lost()
        del self._chain[seq]

    def accept(self, run: Runner, seq: int, id: str, checksum: str, message: str | None) -> None:
        """Give a record of the chain the name and the hash that its file has now.

        Raises:
            MigrationLocked: the lock went to another runner; nothing was written.
        """
        repaired = chain.migration_repair(
            run,
            lock=self._held.name,
            owner=self._held.owner,
            token=self._held.token,
            seq=seq,
            id=id,
            checksum=checksum,
            message=message,
            by=self._by,
            host=self._host,
            tool=TOOL,
            log=uuid.uuid4().hex,
        )
        if repaired is None:
            raise lease.lost()

    def note_failure(self, run: Runner, file: MigrationFile, message: str) -> None:
        """Log a migration that was rolled back together with its record."""
        chain.migration_log(
            run,
            log=uuid.uuid4().hex,
            operation="failed",
            migration=file.id,
            message=message,
            by=self._by,
            host=self._host,
            tool=TOOL,
        )

    def _place(self, file: MigrationFile) -> tuple[int, str]:
        ids = [id for id, _ in self._chain]
        seq = ids.index(file.id) if file.id in ids else len(ids)
        return seq, file.checksum(self._chain[seq - 1][1] if seq else "")
