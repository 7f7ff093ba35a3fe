"""The one degraded line for the user, once per epoch of a session and outage.

A marker file per session remembers that the line was said. The launcher and the worker share the
markers; the worker removes them when the memory answers again, which ends the outage.
"""

import contextlib
import os
import re
import time

KEPT = "Memory (mkg) is not reachable right now: this goes on without it, and nothing is lost."
LOST = "Memory (mkg) is not reachable right now and could not save this event; run `mkg doctor`."
LATE = "Memory (mkg) did not answer in time: this goes on without it, and nothing is lost."
FAULT = "Memory (mkg) had a fault of its own: this goes on without it; run `mkg doctor`."
EPOCHS = ("startup", "clear", "compact", "fork")
SAME_FIRING = 2.0
_SESSION = re.compile(rb'"(?:session_id|sessionId)"\s*:\s*"([A-Za-z0-9._-]{1,128})"')
_RESUME = re.compile(rb'"source"\s*:\s*"resume"')


def session_in(raw: bytes) -> str:
    """Return the session id at the head of a raw payload, without parsing it."""
    found = _SESSION.search(raw, 0, 4096)
    return found[1].decode("ascii") if found else "-"


def opens_epoch(event: str, raw: bytes) -> bool:
    """Say whether a raw payload starts a new epoch: any SessionStart but a resume."""
    return event == "SessionStart" and _RESUME.search(raw, 0, 8192) is None


def claim(spool: str, session: str, fresh: bool) -> bool:
    """Say whether the line may be said now, and remember it; `fresh` begins a new epoch."""
    folder = os.path.join(spool, "notices")
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", session)[:128].lstrip(".") or "-"
    path = os.path.join(folder, safe)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        # Two registrations of one hook fire together: the second does not open another epoch.
        if fresh and time.time() - os.lstat(path).st_mtime > SAME_FIRING:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        os.close(os.open(path, flags, 0o600))
    except OSError:
        return False
    return True


def late(spool: str, event: str, raw: bytes) -> str:
    """Return the line for an answer that did not come, or "" when it was said before."""
    return LATE if claim(spool, session_in(raw), opens_epoch(event, raw)) else ""


def clear(spool: str) -> None:
    """Forget what was said: the outage is over."""
    folder = os.path.join(spool, "notices")
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
