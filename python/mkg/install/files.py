"""Reading and replacing a client's file: whole, atomically, with the mode and owner it had."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from mkg.errors import ConfigError, Refused


def read(path: Path) -> bytes | None:
    """The file's bytes; None when there is none.

    Raises:
        ConfigError: it is not a file that can be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigError(f"{path} is not a regular file; nothing was changed")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({error.strerror}); nothing was changed"
        ) from None


def text_of(path: Path, content: bytes | None) -> str | None:
    """The bytes as text.

    Raises:
        ConfigError: they are not UTF-8.
    """
    try:
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text; nothing was changed") from None


def missing_folders(path: Path) -> list[Path]:
    """The folders above a path that are not there, outermost first."""
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def replace(path: Path, before: bytes | None, after: bytes | None, *, private: bool) -> None:
    """Write (or, with None, delete) a file, provided it still holds `before`.

    A link is followed: it may lead to where somebody keeps all settings. A new file is the user's
    alone when `private`.

    Raises:
        Refused: somebody changed it meanwhile, or its owner cannot be kept.
        ConfigError: it cannot be written.
    """
    target = path.resolve()
    if read(target) != before:
        raise Refused(f"{path} was changed by somebody else meanwhile; run the command again")
    try:
        if after is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        _write(target, after, private)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written ({error.strerror})") from None


def _write(target: Path, after: bytes, private: bool) -> None:
    had = target.stat() if target.exists() else None
    temporary = target.with_name(f".{target.name}.mkg-{os.getpid()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600 if private or had else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            if had is not None:
                made = os.fstat(handle.fileno())
                if (had.st_uid, had.st_gid) != (made.st_uid, made.st_gid):
                    _keep_owner(handle.fileno(), had, target)
                os.fchmod(handle.fileno(), stat.S_IMODE(had.st_mode))
            handle.write(after)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _keep_owner(descriptor: int, had: os.stat_result, target: Path) -> None:
    try:
        os.fchown(descriptor, had.st_uid, had.st_gid)
    except OSError:
        raise Refused(
            f"{target} belongs to another user or group, which cannot be kept; nothing was changed"
        ) from None
