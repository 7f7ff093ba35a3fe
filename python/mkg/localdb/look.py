"""What is known of the effective store, without changing anything."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from mkg.bundle import files, load_bundle
from mkg.errors import ConfigError, GraphError
from mkg.localdb import config, prove, store
from mkg.localdb.store import Store

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner
    from mkg.settings import Settings

Kind = Literal["managed", "foreign"]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Status:
    """The store: which, whether it answers, what runs it, and whether it is ready."""

    kind: Kind
    running: bool
    uri: str | None
    database: str
    problem: str | None = None
    pid: int | None = None
    port: int | None = None
    neo4j: str | None = None
    edition: str | None = None
    gds: str | None = None
    apoc: str | None = None
    java: str | None = None
    migrated: bool | None = None
    pending: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    proofs: dict[str, str] = field(default_factory=dict[str, str])
    data_bytes: int | None = None
    log_bytes: int | None = None
    folder: str | None = None
    log: str | None = None
    started_s: float | None = None
    applied: list[str] = field(default_factory=list[str])


def managed(settings: "Settings") -> Status:
    """The status of the managed local store."""
    place = Store(settings.paths.store_dir)
    process = store.running(place)
    port = store.remembered_port(place)
    there = (place.folder / "data" / "databases").exists()
    found = Status(
        kind="managed",
        running=False,
        problem="stopped" if there else "never started",
        uri=uri(port) if port else None,
        database=settings.store.database,
        pid=process.pid if process else None,
        port=port,
        folder=str(place.folder),
        log=str(place.log),
        java=store.recall(place, "java") if process else None,
        data_bytes=store.size(place.folder / "data"),
        log_bytes=store.size(place.folder / "logs"),
    )
    if process is None:
        return found
    with runner(settings, caller="status") as run:
        return _asked(found, run)


def foreign(settings: "Settings") -> Status:
    """The status of a server that is not ours: looked at, never changed."""
    found = Status(
        kind="foreign",
        running=False,
        uri=settings.store.uri,
        database=settings.store.database,
    )
    with runner(settings, caller="status") as run:
        found = _asked(found, run)
        if found.running:
            names = list(config.allowed(load_bundle(), migrations()))
            found = replace(found, missing=prove.missing(run, names))
    return found


def runner(settings: "Settings", *, caller: str) -> "Neo4jRunner":
    """A runner on the effective store that does not wait for one that is away."""
    from mkg.db import connect

    return connect(settings, caller=caller, retry_seconds=0.0)


def inside(place: Store, *, caller: str) -> "Neo4jRunner":
    """A runner on a managed store's own server, also on a private one.

    Raises:
        LocalDbError: the store's password is lost.
    """
    from mkg.db import Neo4jRunner

    secret = store.make_password(place)
    where = uri(store.remembered_port(place) or 0)
    auth = (store.USER, secret)
    return Neo4jRunner(where, auth, store.DATABASE, caller=caller, retry_seconds=0.0)


def uri(port: int) -> str:
    """The address of the managed server."""
    return f"bolt://127.0.0.1:{port}"


def migrations() -> list[str]:
    """Texts of the shipped migrations."""
    return [
        path.read_text(encoding="utf-8")
        for path in sorted(files.root("migrations").glob("*.cypher"))
    ]


def _asked(found: Status, run: "Neo4jRunner") -> Status:
    try:
        run.verify()
        who = prove.identify(run)
        waiting = pending(run)
    except (GraphError, ConfigError) as error:
        return replace(found, problem=str(error))
    return replace(
        found,
        running=True,
        problem=None,
        neo4j=who.neo4j,
        edition=who.edition,
        gds=who.gds,
        apoc=who.apoc,
        migrated=not waiting,
        pending=waiting,
    )


def pending(run: "Neo4jRunner") -> list[str]:
    """Migrations that the store lacks."""
    from mkg.migrate import pending as waiting

    return waiting(run)
