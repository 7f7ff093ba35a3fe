"""The user's own settings file: KEY=VALUE lines that nobody else can read or plant."""

import os
import stat
from pathlib import Path

from mkg.errors import ConfigError


def read_env_file(path: Path) -> dict[str, str]:
    """KEY=VALUE lines of the user's file; refuses a file that others could read or plant."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read safely ({error.strerror})") from None
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as handle:
        info = os.fstat(handle.fileno())
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.getuid():
            raise ConfigError(f"{path} must be a regular file of your own")
        if info.st_mode & 0o077:
            raise ConfigError(f"{path} may be read by others; run: chmod 600 '{path}'")
        lines = handle.read().split("\n")
    values: dict[str, str] = {}
    for line in lines:
        text = line.strip()
        if not text or text.startswith("#") or "=" not in text:
            continue
        key, _, value = text.removeprefix("export ").partition("=")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[key.strip()] = value
    return values
