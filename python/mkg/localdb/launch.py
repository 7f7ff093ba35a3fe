"""Starts one server: what it consists of, its configuration, its process, and the wait for it."""

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mkg import log
from mkg.bundle import load_bundle
from mkg.errors import ConfigError, GraphError, LocalDbError
from mkg.handshake import needs_restart
from mkg.localdb import archive, config, fetch, fit, java, look, process, store, torn
from mkg.localdb.bar import download_bar
from mkg.localdb.config import Config
from mkg.localdb.jars import Lock, load_lock
from mkg.localdb.java import Java
from mkg.localdb.look import Progress
from mkg.localdb.store import Store

if TYPE_CHECKING:
    from mkg.settings import Settings

START_SECONDS = 90.0
STOP_SECONDS = 20.0
# What has answered once is no longer starting.
ANSWER_SECONDS = 10.0
# Nothing of the user's environment: no option for Java, no secret for a process list.
ENVIRONMENT: Mapping[str, str] = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
_PORT_TRIES = 3
_NO_MEMORY = ("Could not reserve enough space", "OutOfMemoryError", "insufficient memory")
_MEMORY = (
    " for want of memory (end other programs, raise the limit that `ulimit -v` shows, or set a "
    "smaller MKG_HEAP)"
)
_PORT_TAKEN = ("Address already in use", "BindException")
_log = log.get(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the server of a store should be.

    For one start only: `extra` are arguments of Java, `settings` are the server's.
    """

    store: Store
    home: Path
    lock: Lock
    fit: fit.Fit
    names: tuple[str, ...]
    extra: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    def config(self, port: int) -> Config:
        folder = self.store.folder
        return config.configure(folder, port, self.fit, self.names, self.lock.digest)


def plan(settings: "Settings", place: Store, progress: Progress, *, thorough: bool = False) -> Plan:
    """The server that a store should have, with all its jars in the cache.

    Raises:
        LocalDbError: a jar cannot be fetched.
        ConfigError: a setting does not do.
    """
    lock = load_lock()
    if ":" in str(settings.cache):
        raise ConfigError(f"MKG_CACHE={settings.cache} has a colon, which Java cannot read there")
    memory, cores = fit.machine()
    sizes = fit.fit(memory, cores, settings.heap)
    with download_bar(progress) as announce:
        source = fetch.nowhere if settings.local_only else None
        home = fetch.ensure(
            settings.cache, lock, source=source, announce=announce, thorough=thorough
        )
    names = config.allowed(load_bundle(), look.migrations())
    return Plan(place, home, lock, sizes, names)


def start(
    settings: "Settings",
    wanted: Plan,
    runtime: Java,
    progress: Progress,
    *,
    patience: float | None = None,
) -> float:
    """Start a server that does not run and wait until it answers; the seconds it took.

    Raises:
        LocalDbError: it died, did not answer in time, or found no port.
    """
    place = wanted.store
    store.make_password(place)
    public = replace(place, private=False)
    # Who still has connections to the port that is known would find the private server there.
    known = store.remembered_port(public) if place.private else None
    taken = frozenset({known} if known else ())
    for _ in range(_PORT_TRIES):
        port = store.choose_port(place, avoid=taken)
        progress(f"starting Neo4j on port {port} (Java {runtime.version} from {runtime.source})")
        began = time.monotonic()
        found = _launch(settings, wanted, port, runtime)
        try:
            wait(place, found, patience=patience)
        except LocalDbError:
            # Somebody took the port between our look and the server's bind.
            if not any(mark in line for mark in _PORT_TAKEN for line in store.tail(place, 60)):
                raise
            process.stop(found, patience=STOP_SECONDS)
            taken |= {port}
            continue
        store.remember(place, "answered", name_of(found))
        seconds = round(time.monotonic() - began, 1)
        _log.info("server started", s=seconds, java=runtime.version)
        return seconds
    raise LocalDbError(f"ports {sorted(taken)} were taken while the server started; try again")


def name_of(found: process.Process) -> str:
    """One process among all that ever had its number."""
    return f"{found.pid} {found.began}"


def write_configuration(wanted: Plan, port: int, runtime: Java) -> None:
    """Put everything that a server or the offline tool reads into the store's folder."""
    place, texts = wanted.store, wanted.config(port)
    for name, text in (
        ("neo4j.conf", texts.neo4j),
        ("apoc.conf", texts.apoc),
        ("user-logs.xml", texts.logs),
        ("java.args", config.argument_file(_arguments(wanted, texts, runtime))),
    ):
        store.write_private(place.conf / name, text)
    store.point(place.folder / "plugins", wanted.home / "plugins")
    store.remember(place, "signature", texts.signature)
    store.remember(place, "java", runtime.version)
    if wanted.lock.server:
        store.remember(place, "neo4j", wanted.lock.server)


def _launch(settings: "Settings", wanted: Plan, port: int, runtime: Java) -> process.Process:
    place = wanted.store
    write_configuration(wanted, port, runtime)
    store.rotate_log(place)
    found = process.start(
        [
            str(runtime.path),
            *(wanted.extra or archive.arguments(settings.cache, wanted, runtime)),
            f"@{place.conf / 'java.args'}",
            "org.neo4j.server.Neo4jCommunity",
            f"--home-dir={place.folder}",
            f"--config-dir={place.conf}",
            "--console-mode",
            *(word for setting in wanted.settings for word in ("-c", setting)),
        ],
        note=place.pid_file,
        log=place.log,
        env={**ENVIRONMENT, "HOME": str(place.folder)},
    )
    if found is None:
        raise LocalDbError(_obituary(place, "could not be started"))
    return found


def _arguments(wanted: Plan, texts: Config, runtime: Java) -> list[str]:
    jars = [(jar.folder, jar.name) for jar in wanted.lock.jars]
    vector = wanted.fit.optimise and java.has_vector_module(runtime)
    return [
        *texts.java,
        *(config.vector_arguments(runtime.major) if vector else ()),
        *("-classpath", config.class_path(wanted.home, jars)),
    ]


def wait(
    place: Store,
    found: process.Process,
    *,
    patience: float | None = None,
) -> None:
    """Wait until Bolt answers a query.

    Raises:
        LocalDbError: the process died, does not answer in time, needs a restart, or refuses our
            password.
    """
    patience = START_SECONDS if patience is None else patience
    deadline = time.monotonic() + patience
    port = store.remembered_port(place)
    with contextlib.ExitStack() as stack:
        run = None
        while True:
            if not process.alive(found):
                raise LocalDbError(_obituary(place, "ended while it started"))
            if port is not None and store.listening(port):
                run = run or stack.enter_context(look.inside(place, caller="start"))
                try:
                    run.verify()
                    return
                except GraphError as error:
                    # Bolt opens a moment before the databases do.
                    if needs_restart(error):
                        raise LocalDbError(str(error)) from None
                    # What a full disk broke off is finished at a start, which needs room itself.
                    errors = store.errors(place)
                    if any(mark in store.told(e) for mark in torn.NO_ROOM for e in errors):
                        raise LocalDbError(
                            f"the disk of {place.folder} is full: the database cannot finish what "
                            "it began; nothing is lost: free some space, then run: mkg db up"
                        ) from None
                    if torn.refused(errors):
                        advice = "nothing was changed; `mkg db restore FILE` puts a backup back"
                        reason = _obituary(place, "cannot read its transaction log")
                        raise LocalDbError(f"{reason}\n{advice}") from None
                except ConfigError:
                    raise LocalDbError(
                        f"the local database refuses the password in {place.password_file}; put "
                        "the right one back, or let mkg make a new one, which keeps the data: "
                        "mkg db up --new-password"
                    ) from None
            if time.monotonic() > deadline:
                late = f"did not answer within {patience:.0f} s"
                advice = "`mkg db up` waits for it again, `mkg db down` ends it"
                raise LocalDbError(f"{_obituary(place, late)}\n{advice}")
            time.sleep(0.1)


def _obituary(place: Store, what: str) -> str:
    lines = store.tail(place, 200)
    telling = [line for line in lines if "ERROR" in line or "Caused by" in line or "Error:" in line]
    # A database that does not come up while the server does is told in the other log only.
    telling = telling or [store.told(error) for error in store.errors(place)]
    told = "\n  ".join((telling or lines)[-6:])
    advice = _MEMORY if any(mark in line for mark in _NO_MEMORY for line in lines) else ""
    logs = place.folder / "logs"
    return f"the local database {what}{advice}; its logs ({logs}) say:\n  {told or '(nothing)'}"
