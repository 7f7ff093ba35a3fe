"""The store and the settings as they are at the moment of a call.

Nothing is opened before a tool needs it, a lost connection is forgotten, and the next call reads
the settings and looks for the store again: a server that was started first recovers by itself.
"""

import contextlib
import importlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mkg import log, migrate
from mkg.embed import LOCAL_MODEL, Embedder, WorkerEmbedder
from mkg.errors import MkgError, Refused
from mkg.features.gate import rules
from mkg.features.reader.meter import Meter
from mkg.features.reader.reader import Reader
from mkg.features.reader.switch import Exposure, why_off
from mkg.features.timeline import person, project
from mkg.features.tool import Call, Store
from mkg.settings import Origin, Settings, client_folder, load_settings
from mkg_hooks import consent, wire

if TYPE_CHECKING:
    from mkg.db.raw import RawReader

RETRY_SECONDS = 2.0
SETTLE_SECONDS = 1.0
_ONE_PERSON = Exposure()
_log = log.get(__name__)


class Closable(Store, Protocol):
    """A runner that this module owns."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Client:
    """What a client says of itself and of the call it makes."""

    name: str = ""
    tool_use_id: str | None = None
    session_id: str | None = None


def _connect(settings: Settings) -> Closable:
    from mkg import db

    return db.connect(settings, caller="serve", retry_seconds=RETRY_SECONDS)


def _connect_raw(settings: Settings) -> "RawReader":
    from mkg.db import raw

    return raw.connect_raw(settings)


def _settings(origin: Origin, folder: Path | None) -> Settings:
    return load_settings(origin=origin, folder=folder)


def prepare() -> None:
    """Load the driver: it takes a second, and neither a tool list nor a first call waits for it."""
    importlib.import_module("mkg.db")


def _paused(settings: Settings, folder: Path | None) -> str:
    """Why nothing may be recorded for a folder, or nothing."""
    folders = [os.fsencode(folder)] if folder else []
    told = (settings.capture.encode(),)
    level, who = consent.verdict(os.fsencode(settings.home), folders, told)
    if level == consent.OFF:
        return consent.LINES.get(who, "Recording is switched off here (MKG_CAPTURE).")
    return ""


class Connection:
    """One runner for all calls; thread-safe."""

    def __init__(
        self,
        origin: Origin,
        *,
        connect: Callable[[Settings], Closable] = _connect,
        settings: Callable[[Origin, Path | None], Settings] = _settings,
        connect_raw: "Callable[[Settings], RawReader]" = _connect_raw,
        exposure: Exposure = _ONE_PERSON,
    ):
        self._origin: Origin = origin
        self._connect = connect
        self._load = settings
        self._lock = threading.Lock()
        self._open: tuple[Settings, Closable] | None = None
        self._connect_raw = connect_raw
        self._exposure = exposure
        self._meter = Meter()
        self._reader: Reader | None = None

    def call(self, client: Client) -> tuple[Call, bool]:
        """What a tool may use now, and whether its connection was made for this very call.

        Raises:
            ConfigError: the settings cannot be used.
            GraphUnavailable, LocalDbError: there is no store to be had.
            SchemaBehind: the store is not migrated far enough.
        """
        with self._lock:
            fresh = self._open is None
            if self._open is None:
                self._open = self._made()
            settings, run = self._open
        folder = self._folder()
        return Call(
            run=run,
            embed=_embedder(settings),
            user_id=person.resolve(settings).id,
            here=lambda: project.resolve(settings, str(folder) if folder else None),
            tool_use_id=client.tool_use_id,
            session_id=client.session_id,
            settle=lambda: _settle(settings),
            paused=lambda: _paused(settings, folder),
            modules=frozenset(settings.modules),
            agent_decides=settings.review_channel == "agent",
            rules=rules.chosen(settings),
            raw=lambda: self._raw(settings),
        ), fresh

    def _raw(self, settings: Settings) -> Reader:
        """The gate for raw queries, opened by the first that is asked.

        Raises:
            Refused: they are off here.
        """
        managed = settings.store.uri is None
        off = why_off(settings.read_cypher, self._exposure, managed=managed)
        if off:
            raise Refused(off)
        with self._lock:
            if self._reader is None:
                self._reader = Reader(self._connect_raw(settings), self._meter)
            return self._reader

    def lost(self, run: Store | None = None) -> None:
        """Forget the connection and the settings behind it, unless it is another than `run`."""
        with self._lock:
            opened = self._open
            if opened is None or (run is not None and opened[1] is not run):
                return
            self._open = None
            reader, self._reader = self._reader, None
        _log.info("serve.graph_lost")
        with contextlib.suppress(MkgError, OSError):
            opened[1].close()
        if reader is not None:
            with contextlib.suppress(MkgError, OSError):
                reader.close()

    def _folder(self) -> Path | None:
        """The one client's folder: where a listener was started says nothing of who calls."""
        return None if self._exposure.listens_for_others else client_folder()

    def _made(self) -> tuple[Settings, Closable]:
        settings = self._load(self._origin, self._folder())
        log.to_file(settings.paths.log_dir, level=settings.log_level)
        run = self._connect(settings)
        try:
            migrate.check_schema(run)
        except MkgError:
            with contextlib.suppress(MkgError, OSError):
                run.close()
            raise
        _log.info("serve.graph_up")
        return settings, run


def _embedder(settings: Settings) -> Embedder | None:
    if settings.embedding_model != LOCAL_MODEL:
        return None
    return WorkerEmbedder(settings.paths.socket)


def _settle(settings: Settings) -> None:
    """Ask the worker to store what it holds; without a worker nothing is waited for."""
    asked = json.dumps({"timeout": SETTLE_SECONDS}).encode()
    with contextlib.suppress(OSError):
        wire.ask(str(settings.paths.socket), "drain", asked, timeout=SETTLE_SECONDS + 0.5)
