"""Starts, stops and removes the managed server; checks a foreign one.

Everything that changes the store runs under one lock per store, so two starters at once start one
server. What a killed starter left behind, the next one finds: the launcher wrote the process down
before it became the server.
"""

import contextlib
import re
import sys
import time
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mkg import log
from mkg.errors import ConfigError, GraphUnavailable, LocalDbError, Refused
from mkg.localdb import java, launch, look, process, store, swap, torn
from mkg.localdb.launch import Plan
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
    new_password: bool = False,
) -> Status:
    """Make the effective store ready and say what it is; harmless to repeat.

    Raises:
        LocalDbError: the managed server cannot be fetched or started, or lacks something.
        GraphUnavailable: a foreign server does not answer.
        ConfigError: a setting does not do, or a foreign server refuses the password.
    """
    if settings.store.uri is not None:
        return _check_foreign(settings)
    check_platform()
    place = Store(settings.paths.store_dir)
    with alone(place, progress):
        if new_password:
            stop(place, progress)
            store.forget_password(place)
        seconds = ensure_running(settings, place, progress, env)
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
    refuse_foreign(settings, "stopped")
    place = Store(settings.paths.store_dir)
    if not place.folder.exists():
        return False
    with alone(place, progress):
        return stop(place, progress)


def reset(settings: "Settings", progress: Progress) -> bool:
    """Stop the managed server and delete its store; False when there was none.

    Raises:
        Refused: the store is a foreign server, which is not ours to empty.
        LocalDbError: the server does not end, or the folder is not a store's.
    """
    refuse_foreign(settings, "emptied")
    place = Store(settings.paths.store_dir)
    if not place.folder.exists():
        return False
    with alone(place, progress):
        stop(place, progress)
        store.remove(swap.side(place), settings.home / "stores")
        store.remove(place, settings.home / "stores")
    _log.info("store removed")
    return True


def logs(settings: "Settings", lines: int) -> list[str]:
    """The last lines that the managed server wrote.

    Raises:
        Refused: the store is a foreign server.
    """
    refuse_foreign(settings, "read")
    return store.tail(Store(settings.paths.store_dir), lines)


def refuse_foreign(settings: "Settings", what: str, instead: str = "") -> None:
    """Leave alone what is not ours.

    Raises:
        Refused: the store is a foreign server.
    """
    if settings.store.uri is not None:
        raise Refused(
            f"the store is your own server at NEO4J_URI; it is not {what} by mkg{instead}",
            code="foreign",
        )


def check_platform() -> None:
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
def alone(place: Store, progress: Progress) -> Generator[None]:
    """Hold the store; what was left half done by one who was killed is put right first.

    Raises:
        LocalDbError: another process holds it for too long, or the disk cannot be written.
    """

    def waiting() -> None:
        progress("another mkg is busy with this store; waiting for it")

    with (
        store.on_disk(place.folder.parent),
        store.locked(place, patience=LOCK_SECONDS, waiting=waiting),
    ):
        for hidden in (replace(place, private=True), swap.side(place)):
            stop(hidden, progress)
        swap.recover(place, progress)
        yield


def ensure_running(
    settings: "Settings", place: Store, progress: Progress, env: Mapping[str, str]
) -> float | None:
    """Start the server unless it runs as it should; the seconds that took, None if nothing."""
    store.prepare(place)
    # Without it nobody could tell whether the running server answers.
    store.make_password(place)
    wanted = launch.plan(settings, place, progress)
    found = store.running(place)
    if found is not None:
        if process.wake(found):
            progress("the database was suspended; it goes on")
        port = store.remembered_port(place)
        current = port is not None and wanted.config(port).signature
        if current == store.recall(place, "signature") and _answers(place, found):
            return None
    # Whatever speaks against a start is found before the running server is stopped.
    runtime = java.find_java(settings.java, env)
    store.require_room(place.folder)
    refuse_older(place, wanted)
    if found is not None:
        progress("the database has another configuration or does not answer; restarting it")
        stop(place, progress)
    try:
        return launch.start(settings, wanted, runtime, progress)
    except LocalDbError:
        if torn.by_full_disk(place):
            return _start_cut(settings, wanted, runtime, progress)
        # A jar that was damaged on the disk looks whole by its size: read them all once.
        if not _repaired(settings, place, progress):
            raise
        return launch.start(settings, wanted, runtime, progress)


def _start_cut(settings: "Settings", wanted: Plan, runtime: java.Java, progress: Progress) -> float:
    """Start without the end of the log that a full disk tore."""
    place = wanted.store
    stop(place, progress)
    copy = torn.keep_copy(place)
    progress(
        "the disk was full in the middle of a write, which was never acknowledged; it is cut off "
        f"(the log as it was: {copy})"
    )
    _log.info("torn log cut")
    return launch.start(settings, replace(wanted, settings=(torn.CUT,)), runtime, progress)


def refuse_older(place: Store, wanted: Plan) -> None:
    """Never open data with a server older than the one that wrote them.

    Raises:
        LocalDbError: the pinned server is older than the store's last one.
    """
    last, pinned = store.recall(place, "neo4j"), wanted.lock.server
    if last and pinned and age(last) > age(pinned):
        raise LocalDbError(
            f"the store was last used by Neo4j {last}, which is newer than the {pinned} of this "
            "mkg; nothing was changed: install a newer mkg, or restore a backup that is older"
        )


def age(version: str) -> tuple[int, ...]:
    """A version as something that can be compared; its numbers alone."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _answers(place: Store, found: process.Process) -> bool:
    """Whether a running server answers; one that a killed starter left behind may still start."""
    patience = launch.ANSWER_SECONDS
    if store.recall(place, "answered") != launch.name_of(found):
        age = time.time() - place.pid_file.stat().st_mtime
        patience = max(patience, launch.START_SECONDS - age)
    try:
        launch.wait(place, found, patience=patience)
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


def stop(place: Store, progress: Progress) -> bool:
    """End the server of a store; False when none runs.

    Raises:
        LocalDbError: it does not end.
    """
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
