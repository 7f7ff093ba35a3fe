"""The note by which `hooks/launch.py` finds interpreter, socket and spool of the program."""

import os
import stat
import sys
from pathlib import Path

from mkg.private import write_private
from mkg.settings import Settings


def pointer_lines(settings: Settings) -> dict[str, str]:
    """What the note says."""
    from mkg.bundle.files import root

    paths = settings.paths
    return {
        "version": "1",
        "python": sys.executable,
        "root": str(root("hooks").parent),
        "socket": str(paths.socket),
        "spool": str(paths.spool_dir),
        "hmac": str(paths.hmac_key),
        "cache": str(settings.cache),
        "config": str(settings.config_dir),
        "capture": settings.capture,
        "spool_mb": str(settings.spool_mb),
    }


def write_pointer(settings: Settings) -> Path:
    """Leave the note, unless it stands there as it should."""
    paths = settings.paths
    if not paths.hmac_key.exists():
        write_private(paths.hmac_key, os.urandom(32).hex())
    text = "".join(f"{key}={value}\n" for key, value in pointer_lines(settings).items())
    try:
        if paths.pointer.read_text(encoding="utf-8") == text:
            return paths.pointer
    except OSError:
        pass
    write_private(paths.pointer, text)
    return paths.pointer


def read_pointer(path: Path) -> dict[str, str]:
    """Return what a note says; nothing when there is none, or when others could have written it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {}
    with os.fdopen(descriptor, encoding="utf-8", errors="surrogateescape") as handle:
        found = os.fstat(handle.fileno())
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not ours or found.st_mode & 0o077:
            return {}
        lines = (line.strip().partition("=") for line in handle.read(65536).split("\n"))
        return {name.strip(): value.strip() for name, equals, value in lines if equals}
