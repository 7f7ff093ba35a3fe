"""Writes records and log lines under a held lock (NEO-83, NEO-86)."""

import socket
import uuid

from mkg import __version__
from mkg.bundle import Runner
from mkg.migrate import chain, lease
from mkg.migrate.source import MigrationFile

TOOL = f"mkg {__version__}"


class Book:
    """The chain as one holder of the lock sees and continues it."""

    def __init__(self, run: Runner, held: lease.Lease):
        self._held = held
        self._by = lease.who()
        self._host = socket.gethostname()
        records = chain.migration_list(run)
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
    ) -> None:
        """Write how a migration stands, and a line in the log.

        Raises:
            MigrationLocked: the lock went to another runner; nothing was written.
        """
        operation = {"PENDING": "begin", "FAILED": "failed"}.get(state, "apply")
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
