"""Starts, stops and removes the managed server; checks a foreign one.

Everything that changes the store runs under one lock per store, so two starters at once start one
server. What a killed starter left behind, the next one finds: the launcher wrote the process down
before it became the server.
"""

import contextlib
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mkg import log
from mkg.errors import ConfigError, GraphUnavailable, LocalDbError, Refused
from mkg.localdb import java, launch, look, process, store
from mkg.localdb.look import Progress, Status
from mkg.localdb.store import Store

if TYPE_CHECKING:
    from mkg.settings import Settings

LOCK_SECONDS = 180.0
_log = log.get(__name__)


def up(
    settings: "Settings",
    progress: Progress,
    env: Mapping[str, str],
    *,
    migrate: bool = True,
    proofs: bool = True,
) -> Status:
    """Make the effective store ready and say what it is; harmless to repeat.

    Raises:
        LocalDbError: the managed server cannot be fetched or started, or lacks something.
        GraphUnavailable: a foreign server does not answer.
        ConfigError: a setting does not do, or a foreign server refuses the password.
    """
    if settings.store.uri is not None:
        return _check_foreign(settings)
    _check_platform()
    place = Store(settings.paths.store_dir)
    with _alone(place, progress):
        seconds = _ensure_running(settings, place, progress, env)
        applied = _first_migrations(settings, place, progress) if migrate else []
    proved = _prove(settings) if proofs else {}
    found = look.managed(settings)
    if not found.running:
        raise LocalDbError(f"the local database does not answer: {found.problem}; see: mkg db logs")
    found = replace(found, started_s=seconds, applied=applied, proofs=proved)
    failed = {name: why for name, why in proved.items() if why != "ok"}
    # Before the migrations there are no indexes to search.
    if failed and (found.migrated or failed.keys() & {"gds", "apoc"}):
        told = "; ".join(f"{name}: {why}" for name, why in failed.items())
        raise LocalDbError(
            f"the local database runs but lacks something ({told}); see: mkg db logs"
        )
    return found


def down(settings: "Settings", progress: Progress) -> bool:
    """Stop the managed server; False when it did not run.

    Raises:
        Refused: the store is a foreign server, which is not ours to stop.
        LocalDbError: it does not end.
    """
    _refuse_foreign(settings, "stopped")
    place = Store(settings.paths.store_dir)
    if not place.folder.exists():
        return False
    with _alone(place, progress):
        return _stop(place, progress)


def reset(settings: "Settings", progress: Progress) -> bool:
    """Stop the managed server and delete its store; False when there was none.

    Raises:
        Refused: the store is a foreign server, which is not ours to empty.
        LocalDbError: the server does not end, or the folder is not a store's.
    """
    _refuse_foreign(settings, "emptied")
    place = Store(settings.paths.store_dir)
    if not place.folder.exists():
        return False
    with _alone(place, progress):
        _stop(place, progress)
        store.remove(place, settings.home / "stores")
    _log.info("store removed")
    return True


def logs(settings: "Settings", lines: int) -> list[str]:
    """The last lines that the managed server wrote.

    Raises:
        Refused: the store is a foreign server.
    """
    _refuse_foreign(settings, "read")
    return store.tail(Store(settings.paths.store_dir), lines)


def _refuse_foreign(settings: "Settings", what: str) -> None:
    if settings.store.uri is not None:
        raise Refused(
            f"the store is your own server at NEO4J_URI; it is not {what} by mkg", code="foreign"
        )


def _check_platform() -> None:
    if sys.platform not in ("linux", "darwin"):
        raise ConfigError(
            f"the managed server runs on Linux and macOS, not on {sys.platform}; "
            "run mkg inside WSL, or set NEO4J_URI to a server of your own"
        )


def _check_foreign(settings: "Settings") -> Status:
    with look.runner(settings, caller="up") as run:
        try:
            run.verify()
        except GraphUnavailable:
            raise GraphUnavailable(
                f"no database answers at {settings.store.uri}; start it, or correct NEO4J_URI"
            ) from None
    return look.foreign(settings)


@contextlib.contextmanager
def _alone(place: Store, progress: Progress) -> Generator[None]:
    def waiting() -> None:
        progress("another mkg is busy with this store; waiting for it")

    with store.locked(place, patience=LOCK_SECONDS, waiting=waiting):
        yield


def _ensure_running(
    settings: "Settings", place: Store, progress: Progress, env: Mapping[str, str]
) -> float | None:
    """Start the server unless it runs as it should; the seconds that took, None if nothing."""
    store.prepare(place)
    wanted = launch.plan(settings, place, progress)
    found = store.running(place)
    if found is not None:
        port = store.remembered_port(place)
        current = port is not None and wanted.config(port).signature
        if current == store.recall(place, "signature") and _answers(settings, place, found):
            return None
        progress("the database has another configuration or does not answer; restarting it")
        _stop(place, progress)
    runtime = java.find_java(settings.java, env)
    try:
        return launch.start(settings, wanted, runtime, progress)
    except LocalDbError:
        # A jar that was damaged on the disk looks whole by its size: read them all once.
        if not _repaired(settings, place, progress):
            raise
        return launch.start(settings, wanted, runtime, progress)


def _answers(settings: "Settings", place: Store, found: process.Process) -> bool:
    """Whether a running server answers; one that a killed starter left behind may still start."""
    age = time.time() - place.pid_file.stat().st_mtime
    try:
        launch.wait(settings, place, found, patience=max(10.0, launch.START_SECONDS - age))
    except LocalDbError:
        return False
    return True


def _repaired(settings: "Settings", place: Store, progress: Progress) -> bool:
    damaged = False

    def noticed(text: str) -> None:
        nonlocal damaged
        damaged = True
        progress(text)

    launch.plan(settings, place, noticed, thorough=True)
    return damaged


def _stop(place: Store, progress: Progress) -> bool:
    found = store.running(place)
    if found is not None:
        progress("stopping the database")
        try:
            asked = process.stop(found, patience=launch.STOP_SECONDS)
        except TimeoutError as error:
            raise LocalDbError(f"the local database cannot be stopped: {error}") from None
        _log.info("server stopped", asked=asked)
    place.pid_file.unlink(missing_ok=True)
    return found is not None


def _first_migrations(settings: "Settings", place: Store, progress: Progress) -> list[str]:
    """Migrate a store that never was; later migrations are a person's decision."""
    if store.recall(place, "migrated"):
        return []
    from mkg.migrate import apply_all

    with look.runner(settings, caller="migrate") as run:
        if look.pending(run):
            progress("preparing the memory (first start)")
        applied = apply_all(run)
    store.remember(place, "migrated", "first start")
    return applied


def _prove(settings: "Settings") -> dict[str, str]:
    from mkg.localdb import prove

    with look.runner(settings, caller="prove") as run:
        return prove.prove(run)
