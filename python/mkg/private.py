"""Folders and files that are the user's alone: private from the first byte, replaced whole."""

import os
import stat
import time
from pathlib import Path

from mkg.errors import ConfigError


def private_dir(path: Path) -> Path:
    """Make a 0700 folder of our own; refuse one that belongs to somebody else.

    Raises:
        ConfigError: the folder exists and is another user's, or is a link.
    """
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise ConfigError(f"{path} is not a folder of your own; remove it or set MKG_HOME")
    if info.st_mode & 0o077:
        path.chmod(0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace a file atomically with mode 0600 from its first byte on."""
    private_dir(path.parent)
    # A killed process with the number of this one, as in every start of a container, may have left
    # its own: no name is used twice.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{time.monotonic_ns()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
