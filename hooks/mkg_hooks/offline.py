"""Keeping an event when no worker acknowledges: redact and spool it in the hook itself."""

import os
import time
from collections.abc import Mapping

from mkg_hooks import clients, intake, notice
from mkg_hooks.spool import CAP_BYTES, Spool
from mkg_hooks.spool_trim import count_loss

LOCK_SECONDS = 10.0  # nobody waits for this process any more


def keep(
    client: str,
    event: str,
    raw: bytes,
    block: Mapping[bytes, bytes],
    *,
    spool: bytes,
    hmac_key: bytes | None,
    most: bytes | None = None,
) -> bytes:
    """Spool one event; returns what to print: nothing, or the degraded line.

    Args:
        most: megabytes that the spool may take, as the pointer has them.
    """
    env = {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in block.items()}
    folder = os.fsdecode(spool)
    record = intake.read(
        client,
        event,
        raw,
        env,
        hmac_key=intake.load_key(os.fsdecode(hmac_key or b"")),
        received_at=intake.stamp(env.get("mkg.sent_at"), time.time()),
    )
    if record is None:
        return b""
    line = notice.KEPT
    try:
        Spool(folder, cap_bytes=bound(most), lock_seconds=LOCK_SECONDS).append(record)
    except OSError:
        # Nobody keeps it any more: a worker that could not was no loss yet.
        count_loss(folder)
        line = notice.LOST
    if not clients.takes_notice(client, event):
        return b""
    fresh = event == "SessionStart" and record.get("source") != "resume"
    if not notice.claim(folder, str(record.get("session_id")), fresh):
        return b""
    return clients.envelope(client, event, context="", notice=line)


def bound(most: bytes | None) -> int:
    """Return the spool's bound in bytes; a pointer of an older version names none."""
    return int(most) * 2**20 if most and most.isdigit() else CAP_BYTES
