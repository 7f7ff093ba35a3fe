"""The graph's connection and the model, as the worker has them at this moment."""

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

from mkg.errors import (
    ConfigError,
    GraphTimeout,
    GraphUnavailable,
    LocalDbError,
    MkgError,
    ModelError,
    SchemaBehind,
)
from mkg.worker.guard import Failed, outcome
from mkg.worker.shape import Dispatch, Log, Makers

GraphState = Literal["unknown", "up", "down"]
# What a person or a server start mends: the records wait, whatever the number of tries.
WAITING = (GraphUnavailable, GraphTimeout, ConfigError, LocalDbError, SchemaBehind)


class Memory:
    """Connects lazily, forgets a lost connection, hands out dependencies that fit the moment."""

    def __init__(
        self, makers: Makers, dispatch: Dispatch, log: Log, *, on_up: Callable[[], None]
    ) -> None:
        self._makers = makers
        self._dispatch = dispatch
        self._log = log
        self._on_up = on_up
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._deps = makers.deps(run=None, embed=None)
        self.graph: GraphState = "unknown"
        self.graph_error: str | None = None
        self.embedder: Literal["unknown", "ready", "none"] = "unknown"
        self.warmed = threading.Event()
        self._refreshed = 0.0

    @property
    def deps(self) -> Any:
        """What a handler gets now; `run` is None without a graph."""
        return self._deps

    def connected(self) -> Any:
        """Return dependencies with a connection, making it first when there is none.

        Raises:
            GraphUnavailable, ConfigError, LocalDbError, SchemaBehind: there is none to be had.
        """
        with self._connecting:
            if self._deps.run is not None and self.graph == "up":
                return self._deps
            run = None
            try:
                run = self._makers.connect()
                run.verify()
            except MkgError as error:
                if run is not None:
                    self._close(run)
                self.lost(error)
                raise
            with self._lock:
                self._deps.run = run
                self.graph, self.graph_error = "up", None
            self._log.info("graph.up")
            self._on_up()
            if self.warmed.is_set():
                # A server that was away has usually been restarted and has planned nothing yet.
                threading.Thread(target=self._warm, daemon=True, name="warm").start()
            return self._deps

    def lost(self, error: BaseException) -> None:
        """Forget the connection, so that the next try asks again where the store is."""
        with self._lock:
            run, self._deps.run = self._deps.run, None
            changed = self.graph != "down"
            self.graph, self.graph_error = "down", type(error).__name__
        if run is not None:
            self._close(run)
        if changed:
            self._log.info("graph.down", reason=type(error).__name__)

    def load_embedder(self) -> None:
        """Load the model; without one the memory works on text alone."""
        try:
            embedder = self._makers.embedder()
        except (ModelError, ImportError, OSError) as error:
            self._log.degraded("embedder", type(error).__name__)
            embedder = None
        with self._lock:
            self._deps.embed = embedder
            self.embedder = "none" if embedder is None else "ready"

    def warm_up(self) -> None:
        """Load the model, connect, and run the hot statements once, outside any prompt."""
        self.load_embedder()
        self._warm()

    def _warm(self, *, once: bool = False) -> None:
        ended = outcome(lambda: self._dispatch.warm(self.connected(), once=once))
        if isinstance(ended, Failed):
            self._log.info("warm.skipped", reason=type(ended.error).__name__)
        self._refreshed = time.monotonic()
        self.warmed.set()

    def refresh(self, *, gap: float = 0.0) -> None:
        """Let the server plan the hot statements again after the data has changed.

        A plan made for an empty store is thrown away once there is data, and the next prompt would
        wait for the new one. The server itself is warm by then, so one round is enough. `gap` is
        the least time since the last round, in seconds.
        """
        if not self.warmed.is_set() or time.monotonic() - self._refreshed < gap:
            return
        self._warm(once=True)

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        """Return the answer to an `embed` request."""
        embedder = self._deps.embed
        if embedder is None:
            return {"error": "no embedder", "embedder": self.embedder}
        return {"model": embedder.model, "vectors": [list(v) for v in embedder.embed(texts)]}

    def forget(self) -> None:
        """Keep nothing that was made of texts; the graph still has what it has."""
        clear = getattr(self._deps.embed, "clear", None)
        if clear is not None:
            clear()

    def counts(self, session_id: str) -> dict[str, Any]:
        """Return the answer to a `session` request: the graph's state, and the counts if known."""
        deps = self._deps
        if deps.run is None or not session_id:
            return {"graph": self.graph}
        ended = outcome(lambda: self._dispatch.counts(session_id, deps))
        if isinstance(ended, Failed):
            return {"graph": "down"}
        return {"graph": self.graph, **ended.value}

    def close(self) -> None:
        """Release the connection."""
        with self._lock:
            run, self._deps.run = self._deps.run, None
        if run is not None:
            self._close(run)

    @staticmethod
    def _close(run: Any) -> None:
        with contextlib.suppress(MkgError, OSError):
            run.close()
