"""Keeping an event when no worker acknowledges: redact and spool it in the hook itself."""

import os
import time
from collections.abc import Mapping

from mkg_hooks import clients, intake, notice
from mkg_hooks.spool import Spool


def keep(
    client: str,
    event: str,
    raw: bytes,
    block: Mapping[bytes, bytes],
    *,
    spool: bytes,
    hmac_key: bytes | None,
) -> bytes:
    """Spool one event; returns what to print: nothing, or the degraded line."""
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
        Spool(folder, lock_seconds=0.3).append(record)
    except OSError:
        line = notice.LOST
    if not clients.takes_notice(client, event):
        return b""
    fresh = event == "SessionStart" and record.get("source") != "resume"
    if not notice.claim(folder, str(record.get("session_id")), fresh):
        return b""
    return clients.envelope(client, event, context="", notice=line)
