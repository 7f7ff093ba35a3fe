"""`mkg db backup` and `restore`: the managed store into a file, and back.

The server is stopped meanwhile, so what is in the file is one moment. Whoever wants to write finds
no server and waits, as at any other outage. What the store holds is counted and summed by a server
that nobody else can find, before a dump and after a load: that no write comes in between.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mkg import __version__, log
from mkg.bundle import Runner, cypher
from mkg.errors import LocalDbError, Refused
from mkg.localdb import archived, java, launch, life, look, offline, process, store, swap
from mkg.localdb.archived import Content, Manifest
from mkg.localdb.java import Java
from mkg.localdb.launch import Plan
from mkg.localdb.look import Progress
from mkg.localdb.store import Store

if TYPE_CHECKING:
    from mkg.settings import Settings

_INSTEAD = (
    "; back it up where it runs: `neo4j-admin database dump` or `load` on that machine, or your "
    "provider's snapshots"
)
_log = log.get(__name__)


@dataclass(frozen=True, slots=True)
class NodeGroup:
    labels: list[str]
    number: int
    digest: str


@dataclass(frozen=True, slots=True)
class RelationshipGroup:
    name: str
    number: int
    digest: str


@cypher("ops.content_nodes")
def content_nodes(run: Runner) -> list[NodeGroup]: ...


@cypher("ops.content_relationships")
def content_relationships(run: Runner) -> list[RelationshipGroup]: ...


@dataclass(frozen=True, slots=True)
class Done:
    """A backup that was made or restored; `bytes` of the file, `seconds` it took."""

    file: str
    bytes: int
    made_at: str
    neo4j: str
    content: Content
    running: bool
    seconds: float


def content(run: Runner) -> Content:
    """What a store holds, by counts and one checksum."""
    nodes, relationships = content_nodes(run), content_relationships(run)
    text = "\n".join(
        f"{name} {row.number} {row.digest}"
        for name, row in (
            *(("node " + ":".join(row.labels), row) for row in nodes),
            *(("relationship " + row.name, row) for row in relationships),
        )
    )
    return Content(
        {":".join(row.labels): row.number for row in nodes},
        {row.name: row.number for row in relationships},
        hashlib.sha256(text.encode()).hexdigest(),
    )


def backup(settings: "Settings", file: Path, progress: Progress, env: Mapping[str, str]) -> Done:
    """Write the managed store into a new file of mode 0600, complete or not at all.

    Raises:
        Refused: the store is a foreign server or was never started, or the file exists.
        LocalDbError: the store is damaged, or a step fails; the store is as it was before.
    """
    life.refuse_foreign(settings, "backed up", _INSTEAD)
    life.check_platform()
    place, began = Store(settings.paths.store_dir), time.monotonic()
    _require_new(file)
    if not store.has_data(place):
        raise Refused("there is nothing to back up: the local store was never started")
    with life.alone(place, progress), store.on_disk(file.parent):
        wanted = launch.plan(settings, place, progress)
        runtime = java.find_java(settings.java, env)
        life.refuse_older(place, wanted)
        taken = store.size(place.folder / "data")
        store.require_room(file.parent, taken + store.ROOM)
        with _standing(settings, place, progress, env) as was_running:
            held = _measured(settings, wanted, runtime, progress)
            launch.write_configuration(wanted, store.remembered_port(place) or 0, runtime)
            progress("checking the store")
            offline.check(place, runtime, progress)
            progress(f"writing {held.numbers()} to {file}")
            manifest = _write(file, wanted, runtime, held, taken, progress)
    seconds = round(time.monotonic() - began, 1)
    _log.info("backup made", bytes=manifest.size, s=seconds)
    return _done(file, manifest, was_running, seconds)


def restore(settings: "Settings", file: Path, progress: Progress, env: Mapping[str, str]) -> Done:
    """Make a backup the managed store; the old store goes once the new one has been measured.

    Raises:
        Refused: the store is a foreign server, or the file is damaged, not ours or too new.
        LocalDbError: a step fails; the store is as it was before.
    """
    life.refuse_foreign(settings, "replaced", _INSTEAD)
    life.check_platform()
    began, manifest = time.monotonic(), look_into(file)
    place = Store(settings.paths.store_dir)
    side = swap.side(place)
    with life.alone(place, progress):
        wanted = replace(launch.plan(settings, place, progress), store=side)
        runtime = java.find_java(settings.java, env)
        store.require_room(place.folder.parent, manifest.size + manifest.store_bytes + store.ROOM)
        with _standing(settings, place, progress, env) as was_running:
            try:
                _load(file, manifest, place, wanted, runtime, progress)
                held = _measured(settings, wanted, runtime, progress)
                if held != manifest.content:
                    raise LocalDbError(
                        f"the restored data are not those of {file} ({held.numbers()} instead of "
                        f"{manifest.content.numbers()}); the store is as it was before"
                    )
                swap.exchange(place)
            finally:
                store.remove(side, place.folder.parent)
    seconds = round(time.monotonic() - began, 1)
    _log.info("backup restored", bytes=manifest.size, s=seconds)
    return _done(file, manifest, was_running, seconds)


def look_into(file: Path) -> Manifest:
    """What is known of a backup that this release can restore.

    Raises:
        Refused: it is damaged, not ours, or of a newer server.
    """
    from mkg.localdb.jars import load_lock

    manifest, pinned = archived.open_sealed(file), load_lock().server
    if pinned and life.age(manifest.neo4j) > life.age(pinned):
        raise Refused(
            f"{file} was made with Neo4j {manifest.neo4j}, which is newer than the {pinned} of "
            "this mkg; install a newer mkg, then restore"
        )
    return manifest


def _done(file: Path, manifest: Manifest, running: bool, seconds: float) -> Done:
    size = file.stat().st_size
    held = manifest.content
    return Done(str(file), size, manifest.made_at, manifest.neo4j, held, running, seconds)


def _require_new(file: Path) -> None:
    if file.exists() or file.is_symlink():
        raise Refused(f"{file} exists; choose another name: a backup never replaces a file")
    if not file.parent.is_dir():
        raise Refused(f"{file.parent} is not a folder; make it first")


@contextlib.contextmanager
def _standing(
    settings: "Settings", place: Store, progress: Progress, env: Mapping[str, str]
) -> Generator[bool]:
    """Whether the server ran; stopped inside the block, and afterwards as it was."""
    was_running = life.stop(place, progress)
    try:
        yield was_running
    finally:
        if was_running:
            life.ensure_running(settings, place, progress, env)


def _measured(settings: "Settings", wanted: Plan, runtime: Java, progress: Progress) -> Content:
    """What a stopped store holds, asked through a server that nobody else finds.

    Its start also recovers what a killed server left, so the dump after it is whole.
    """
    private = replace(wanted, store=replace(wanted.store, private=True))
    progress("counting what the store holds")
    launch.start(settings, private, runtime, _unheard)
    try:
        with look.inside(private.store, caller="backup") as run:
            return content(run)
    finally:
        found = store.running(private.store)
        if found is not None and not process.stop(found, patience=launch.STOP_SECONDS):
            raise LocalDbError("the database did not end by itself; try again")
        for name in (private.store.pid_file.name, private.store.port_note):
            (private.store.folder / name).unlink(missing_ok=True)


def _unheard(_: str) -> None:
    return None


def _write(
    file: Path, wanted: Plan, runtime: Java, held: Content, taken: int, progress: Progress
) -> Manifest:
    """Dump beside the target and give it its name when it is complete."""
    work = file.parent / f".{file.name}.{os.getpid()}"
    work.mkdir(mode=0o700)
    try:
        made = offline.dump(wanted.store, runtime, work, progress)
        made.chmod(0o600)
        manifest = Manifest(
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            mkg=__version__,
            neo4j=wanted.lock.server or "",
            size=made.stat().st_size,
            sha256=archived.digest(made),
            store_bytes=taken,
            content=held,
        )
        archived.seal(made, manifest)
        _require_new(file)
        made.replace(file)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return manifest


def _load(
    file: Path, manifest: Manifest, place: Store, wanted: Plan, runtime: Java, progress: Progress
) -> None:
    side = wanted.store
    store.remove(side, place.folder.parent)
    store.prepare(side)
    # The password is the home's and not in a backup; clients that know the port find it again.
    for name in ("password", "port"):
        kept = store.recall(place, name)
        if kept:
            store.remember(side, name, kept)
    store.make_password(side)
    store.remember(side, "migrated", "restored")
    launch.write_configuration(wanted, store.choose_port(side), runtime)
    progress(f"loading {manifest.content.numbers()}, made at {manifest.made_at}")
    source = side.folder / "tmp" / "load"
    source.mkdir(mode=0o700)
    archived.unpack(file, manifest, source / f"{store.DATABASE}.dump")
    offline.load(side, runtime, source, progress)
    shutil.rmtree(source)
