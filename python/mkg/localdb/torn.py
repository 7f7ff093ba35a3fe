"""A write that a full disk broke off in the middle of the transaction log, and how it is undone.

The server writes a transaction to its log and acknowledges it once it stands there. A disk that
fills in between leaves a torn end, to which the ending server may even add a second copy of the
rest; from then on it accepts no writes. A start reads a cleanly torn end as the end, but takes
such a doubled one for damage and refuses. What was acknowledged stands before the torn place, so
after a full disk, and only then, the rest may be cut off; a copy of the log is kept.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from mkg.localdb import store
from mkg.localdb.store import Logged, Store

# Setting of the server: read the log up to the first entry that makes no sense, drop the rest.
CUT = "internal.dbms.tx_log.fail_on_corrupted_log_files=false"
NO_ROOM = ("OutOfDiskSpace", "out of disk space", "No space left")
_UNREADABLE = ("TransactionLogsRecovery", "Error reading transaction logs")


def refused(errors: Sequence[Logged]) -> bool:
    """Whether a start failed because the transaction log cannot be read to its end."""
    return any(mark in error.trace for mark in _UNREADABLE for error in errors)


def by_full_disk(place: Store) -> bool:
    """Whether that start failed, and the server had run out of disk before."""
    return refused(store.errors(place)) and any(
        mark in f"{error.message} {error.trace}"
        for mark in NO_ROOM
        for error in store.errors(place, since_start=False)
    )


def keep_copy(place: Store) -> Path:
    """Copy the transaction log before anything is cut off; an older such copy goes.

    Raises:
        LocalDbError: the disk has no room for the copy.
    """
    log = place.folder / "data" / "transactions" / store.DATABASE
    store.require_room(place.folder, store.size(log) + store.ROOM)
    copy = place.folder / "torn"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(log, copy)
    return copy
