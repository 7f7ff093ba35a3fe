"""The folder of the managed store: what is remembered between starts, and who may touch it.

Folders `conf data logs run tmp import` are the server's; `plugins` is a link into the cache. Files
of ours: `password` (0600, made once), `port` (kept while it is free), `server.pid` (the process and
when it began), `signature` (of the configuration that the running server has), `java` and `neo4j`
(versions of the last start) and `migrated` (there once the first migrations were applied).

While a store is measured its server is private: its process and port are written down under other
names (`private.pid`, `private.port`), which nobody who wants to read or write looks at.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from mkg.errors import LocalDbError
from mkg.localdb import process
from mkg.private import private_dir, write_private

FOLDERS = ("conf", "data", "logs", "run", "tmp", "import")
# Below what Linux and macOS hand out to outgoing connections.
PORTS = range(20000, 30000)
USER = "neo4j"
DATABASE = "neo4j"
# Below this the server would start and then fail at a write.
ROOM = 48 * 1024 * 1024
_ITERATIONS = 1024
_DISK = frozenset({errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.EPERM})
_CAUSE = re.compile(r"Caused by: ([^\n]+)")


@dataclass(frozen=True, slots=True)
class Store:
    """Paths of one managed store; `private` while nobody but us may find its server."""

    folder: Path
    private: bool = False

    @property
    def pid_file(self) -> Path:
        return self.folder / ("private.pid" if self.private else "server.pid")

    @property
    def port_note(self) -> str:
        return "private.port" if self.private else "port"

    @property
    def password_file(self) -> Path:
        return self.folder / "password"

    @property
    def log(self) -> Path:
        """What Java itself prints."""
        return self.folder / "logs" / "server.out"

    @property
    def said(self) -> Path:
        """What the server tells its users; it rotates this file itself (conf/user-logs.xml)."""
        return self.folder / "logs" / "neo4j.log"

    @property
    def conf(self) -> Path:
        return self.folder / "conf"


@dataclass(frozen=True, slots=True)
class Logged:
    """An error in the server's own log."""

    message: str
    trace: str


def prepare(store: Store) -> None:
    """Make the folders, private; the import folder stays empty and closed."""
    private_dir(store.folder)
    for name in FOLDERS:
        private_dir(store.folder / name)
    (store.folder / "import").chmod(0o500)


@contextlib.contextmanager
def locked(store: Store, *, patience: float, waiting: Callable[[], None]) -> Generator[None]:
    """Only one process at a time starts, stops or removes a store.

    Raises:
        LocalDbError: another process holds the store for longer than `patience` seconds.
    """
    private_dir(store.folder.parent)
    path = store.folder.parent / f".{store.folder.name}.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    deadline, told = time.monotonic() + patience, False
    try:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LocalDbError(
                        f"another mkg has been busy with {store.folder} for {patience:.0f} s; "
                        "wait for it or end it, then try again"
                    ) from None
            if not told:
                waiting()
                told = True
            time.sleep(0.1)
        yield
    finally:
        os.close(handle)


def running(store: Store) -> process.Process | None:
    """The server's process, if it runs."""
    found = process.read(store.pid_file)
    return found if found is not None and process.alive(found) else None


def password(store: Store) -> str | None:
    """The generated password; None before the first start.

    Raises:
        LocalDbError: the file may be read or was put there by somebody else.
    """
    path = store.password_file
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LocalDbError(f"{path} cannot be read safely ({error.strerror})") from None
    with os.fdopen(descriptor, encoding="utf-8") as handle:
        info = os.fstat(handle.fileno())
        if not stat.S_ISREG(info.st_mode) or info.st_uid != os.getuid() or info.st_mode & 0o077:
            raise LocalDbError(f"{path} is not private; run: chmod 600 '{path}' if it is yours")
        return handle.read().strip() or None


def make_password(store: Store) -> str:
    """The store's password, generated at the first start and handed to the server as a hash.

    Raises:
        LocalDbError: the store has data but its password is lost.
    """
    initial = store.folder / "data" / "dbms" / "auth.ini"
    used = (store.folder / "data" / "databases" / "system").exists()
    secret = password(store)
    if secret is None and used:
        raise LocalDbError(
            f"{store.password_file} is missing but the store has data; put the file back, or let "
            "mkg make a new password, which keeps the data: mkg db up --new-password"
        )
    if secret is None:
        secret = secrets.token_urlsafe(24)
        write_private(store.password_file, secret + "\n")
        initial.unlink(missing_ok=True)
    if not initial.exists() and not used:
        write_private(initial, credentials(secret, os.urandom(32)))
    return secret


def forget_password(store: Store) -> None:
    """Let the next start make a new password; the data stay as they are.

    The server keeps users in a database of its own, which it makes again when it is gone. The
    caller has stopped the server.
    """
    for name in ("databases", "transactions"):
        shutil.rmtree(store.folder / "data" / name / "system", ignore_errors=True)
    (store.folder / "data" / "dbms" / "auth.ini").unlink(missing_ok=True)
    store.password_file.unlink(missing_ok=True)


def has_data(store: Store) -> bool:
    """Whether a server has ever run on the store."""
    return (store.folder / "data" / "databases" / DATABASE).is_dir()


def credentials(secret: str, salt: bytes) -> str:
    """The server's own form of an initial password: it reads it once, before it opens a port."""
    value = hashlib.sha256(salt + secret.encode()).digest()
    for _ in range(_ITERATIONS - 1):
        value = hashlib.sha256(value).digest()
    return f"{USER}:SHA-256,{value.hex()},{salt.hex()},{_ITERATIONS}:\n"


def remembered_port(store: Store) -> int | None:
    """The port of the last start."""
    text = recall(store, store.port_note)
    return int(text) if text and text.isdecimal() else None


def choose_port(store: Store, *, avoid: frozenset[int] = frozenset()) -> int:
    """The remembered port while it is free, else the first free one of a range by the folder.

    Raises:
        LocalDbError: the whole range is taken.
    """
    first = int(hashlib.sha256(str(store.folder).encode()).hexdigest(), 16) % len(PORTS)
    known = remembered_port(store)
    numbers = [known] if known else []
    numbers += [PORTS[(first + step) % len(PORTS)] for step in range(len(PORTS))]
    for port in numbers:
        if port not in avoid and free(port):
            if port != known:
                remember(store, store.port_note, str(port))
            return port
    raise LocalDbError(f"no port from {PORTS[0]} to {PORTS[-1]} is free on this machine")


def free(port: int) -> bool:
    """Whether nobody listens on a loopback port."""
    with socket.socket() as probe:
        # A port that only waits for old connections to die is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return not listening(port)


def listening(port: int) -> bool:
    """Whether somebody accepts connections on a loopback port."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def remember(store: Store, name: str, value: str) -> None:
    """Keep a short text in the store's folder."""
    write_private(store.folder / name, value + "\n")


def recall(store: Store, name: str) -> str | None:
    """A text kept by `remember`."""
    try:
        return (store.folder / name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def point(place: Path, target: Path) -> None:
    """Make `place` a link to a folder of the cache, replacing an older link."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(place)


def tail(store: Store, lines: int) -> list[str]:
    """The last lines that Java and the server wrote."""
    size = 400 * lines + 1000
    return [*_end(store.log, size), *_end(store.said, size)][-lines:] if lines > 0 else []


def told(error: Logged) -> str:
    """An error of that log in one line: what failed, and the innermost reason."""
    return ": ".join([error.message, *_CAUSE.findall(error.trace)[-1:]])


def errors(store: Store, *, since_start: bool = True) -> list[Logged]:
    """Errors in the last part of the server's own log, of its last start or of any."""
    since = 0.0
    if since_start and store.pid_file.exists():
        since = store.pid_file.stat().st_mtime
    found: list[Logged] = []
    # A server that gave up goes on warning: what it gave up over may be far back.
    for line in _end(store.folder / "logs" / "debug.log", 1 << (18 if since_start else 23)):
        try:
            entry: dict[str, str] = json.loads(line)
            at = datetime.fromisoformat(entry["time"]).timestamp()
            if entry["level"] == "ERROR" and at >= since:
                found.append(Logged(entry["message"], entry.get("stacktrace", "")))
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _end(path: Path, size: int) -> list[str]:
    """The lines in the last bytes of a file."""
    try:
        with path.open("rb") as handle:
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - size))
            return handle.read().decode("utf-8", errors="replace").splitlines()
    except OSError:
        return []


def rotate_log(store: Store) -> None:
    """Keep the last run's output, one file of each kind."""
    for path in (store.log, store.said):
        with contextlib.suppress(FileNotFoundError):
            path.replace(path.with_name(f"{path.name}.before"))


def require_room(folder: Path, needed: int = ROOM) -> None:
    """Refuse to begin what a full disk would break off.

    Raises:
        LocalDbError: the disk of a folder has less room than needed, in bytes.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise LocalDbError(
            f"the disk of {folder} is full: {free / 1e6:.0f} MB are free and {needed / 1e6:.0f} MB "
            "are needed; nothing was changed: free some space, then run this again"
        )


@contextlib.contextmanager
def on_disk(folder: Path) -> Generator[None]:
    """Tell what the system refuses to write below a folder as an error of ours.

    Raises:
        LocalDbError: the disk is full, read-only, or not ours.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK:
            raise
        raise LocalDbError(
            f"{error.filename or folder} cannot be written ({error.strerror}); make room or give "
            "yourself the right to write there, or choose another folder with MKG_HOME"
        ) from None


def size(folder: Path) -> int:
    """Bytes below a folder; what vanishes meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 (hot)
    return total


def remove(store: Store, below: Path) -> None:
    """Delete the store's folder and nothing else.

    Raises:
        LocalDbError: the folder is not where stores are, or is a link.
    """
    if store.folder.parent.resolve() != below.resolve() or store.folder.is_symlink():
        raise LocalDbError(f"{store.folder} is not a store's folder below {below}; not removed")
    if store.folder.exists():
        shutil.rmtree(store.folder)
