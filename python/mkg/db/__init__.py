"""The one place that knows the Neo4j driver.

One synchronous runner for every URI (`bolt://`, `neo4j://`, `+s`, `+ssc`): bounded retries on
transient errors only, bookmarks so that a reader sees its own writes, the query's name as
transaction metadata, READ access mode for `read` queries (style 4.5-4.7, NEO-100, NEO-140).
"""

import contextlib
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString, TypeVar, cast

import neo4j
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from mkg import __version__, log
from mkg.bundle.header import QuerySpec
from mkg.bundle.loader import load_bundle
from mkg.bundle.stub import Runner, cypher
from mkg.db.address import address
from mkg.db.plan import operators
from mkg.errors import (
    ConfigError,
    GraphConflict,
    GraphError,
    GraphRejected,
    GraphTimeout,
    GraphUnavailable,
)
from mkg.handshake import GIVEN_UP, refuse_old, refused_handshake
from mkg.json_shape import as_object
from mkg.settings import Settings

T = TypeVar("T")
Row = dict[str, Any]
_log = log.get(__name__)
_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
_LOCKED_OUT = "AuthenticationRateLimit"
# A transaction over its memory limit counts as transient; repeating it only repeats the load.
_FINAL_TRANSIENT = "51N72"
_PLAIN = frozenset({str, bool, int, float})


@dataclass(frozen=True, slots=True)
class Executed:
    """Rows of one raw statement and the server's own type of it (r, w, rw, s)."""

    rows: list[Row]
    query_type: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What EXPLAIN says of a statement: nothing was run."""

    query_type: str
    columns: tuple[str, ...]
    notifications: tuple[tuple[str, str, str], ...]
    operators: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Pong:
    answer: int


@cypher("ops.ping")
def ping(run: Runner) -> Pong: ...


class Unit:
    """Several queries in one transaction; nothing is kept when the block raises."""

    def __init__(self, transaction: neo4j.Transaction):
        self._transaction = transaction

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[Row]:
        """Run one bundle query inside the transaction."""
        with _translated(query.name):
            return _rows(self._transaction.run(_literal(query.text), dict(params)))

    def execute(self, text: str, params: Mapping[str, Any] | None = None) -> Executed:
        """Run one raw statement (migrations) inside the transaction."""
        with _translated("statement"):
            return _executed(self._transaction.run(_literal(text), dict(params or {})))


class Neo4jRunner:
    """Runs queries against one database."""

    def __init__(
        self,
        uri: str,
        auth: tuple[str, str] | None,
        database: str,
        *,
        caller: str = "cli",
        retry_seconds: float = 8.0,
        connection_timeout: float = 3.0,
        notifications: bool = False,
        bookmarks: frozenset[str] = frozenset(),
    ):
        self._uri, self._auth = uri, auth
        self.database = database
        self.caller = caller
        self._retry_seconds = retry_seconds
        self._manager = neo4j.GraphDatabase.bookmark_manager(
            initial_bookmarks=neo4j.Bookmarks.from_raw_values(bookmarks)
        )
        severity = (
            neo4j.NotificationMinimumSeverity.INFORMATION
            if notifications
            else neo4j.NotificationMinimumSeverity.OFF
        )
        try:
            # The driver's options carry no types.
            self._driver = neo4j.GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
                uri,
                auth=auth,
                connection_timeout=connection_timeout,
                connection_acquisition_timeout=connection_timeout + 2,
                max_transaction_retry_time=0.0,
                notifications_min_severity=severity,
                telemetry_disabled=True,
                user_agent=f"mkg/{__version__}",
            )
        except (ConfigurationError, ValueError) as error:
            raise ConfigError(f"NEO4J_URI cannot be used: {type(error).__name__}") from None

    def __enter__(self) -> "Neo4jRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release every connection."""
        self._driver.close()

    @property
    def bookmarks(self) -> frozenset[str]:
        """What a second process needs to see this one's writes."""
        return frozenset(self._manager.get_bookmarks())

    def verify(self) -> None:
        """Check that the server answers and accepts the credentials.

        Raises:
            GraphUnavailable: nothing answers there.
            ConfigError: the credentials or the certificate are refused, or the server is too old.
        """
        try:
            with _translated("ops.ping"):
                agent = self._driver.get_server_info().agent  # pyright: ignore[reportUnknownMemberType]
            refuse_old(agent, load_bundle().server)
            ping(self)
        except GraphUnavailable:
            self._direct()
            raise

    def _direct(self) -> None:
        """Routing forgets why it found no server; asked without, the driver tells."""
        if self._uri.startswith("neo4j+s"):
            where = self._uri.replace("neo4j", "bolt", 1)
            with Neo4jRunner(where, self._auth, self.database, retry_seconds=0.0) as direct:
                ping(direct)

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[Row]:
        """Run one bundle query in its own transaction, retried when the server says it may."""
        if query.mode != "read":
            # A write whose reply is lost must be known to have been at its commit.
            return self._retried(lambda unit: unit.fetch(query, params), query.name)
        statement = neo4j.Query(_literal(query.text), metadata=self._metadata(query.name))

        def work() -> list[Row]:
            # One statement needs no BEGIN and no COMMIT of its own: one round trip, not three.
            with self._session(neo4j.READ_ACCESS) as session:
                return _executed(session.run(statement, dict(params))).rows

        return self._repeated(work, query.name)

    def in_one(self, work: Callable[[Unit], T], *, name: str) -> T:
        """Run `work` in one transaction; on a transient error the whole of it runs again."""
        return self._retried(work, name)

    @contextlib.contextmanager
    def unit(self, *, name: str = "unit") -> Generator[Unit]:
        """One transaction without retries; commits when the block ends well."""
        with (
            _translated(name),
            self._session(neo4j.WRITE_ACCESS) as session,
            session.begin_transaction(metadata=self._metadata(name)) as transaction,
        ):
            yield Unit(transaction)
            transaction.commit()

    def execute(
        self,
        text: str,
        params: Mapping[str, Any] | None = None,
        *,
        mode: str = "write",
        name: str = "migration",
    ) -> Executed:
        """Run one raw statement; `mode="auto"` is for CALL IN TRANSACTIONS and is never retried."""
        access = neo4j.READ_ACCESS if mode == "read" else neo4j.WRITE_ACCESS
        if mode == "auto":
            with _translated(name), self._session(access) as session:
                query = neo4j.Query(_literal(text), metadata=self._metadata(name))
                return _executed(session.run(query, dict(params or {})))
        return self._retried(lambda unit: unit.execute(text, params), name, access)

    def explain(self, text: str, params: Mapping[str, Any] | None = None) -> Explained:
        """Plan a statement without running it."""
        lines = text.split("\n", 1)
        prefix = lines[0] if lines[0].startswith("CYPHER ") else ""
        body = lines[1] if prefix else text
        with _translated("explain"), self._session(neo4j.READ_ACCESS) as session:
            result = session.run(_literal(f"{prefix} EXPLAIN {body}"), dict(params or {}))
            columns = tuple(result.keys())
            summary = result.consume()
        notes = tuple(
            (
                str(getattr(s.classification, "value", s.raw_classification) or ""),
                s.gql_status,
                s.status_description,
            )
            for s in summary.gql_status_objects
            if s.is_notification
        )
        plan = as_object(cast("object", summary.plan))  # pyright: ignore[reportUnknownMemberType]
        return Explained(summary.query_type or "", columns, notes, tuple(operators(plan)))

    def _session(self, access: str) -> neo4j.Session:
        return self._driver.session(  # pyright: ignore[reportUnknownMemberType]
            database=self.database,
            default_access_mode=access,
            bookmark_manager=self._manager,
        )

    def _metadata(self, name: str) -> dict[str, Any]:
        return {"app": "mkg", "query": name, "bundle": __version__, "caller": self.caller}

    def _retried(self, work: Callable[[Unit], T], name: str, access: str = neo4j.WRITE_ACCESS) -> T:
        def whole() -> T:
            with (
                self._session(access) as session,
                session.begin_transaction(metadata=self._metadata(name)) as transaction,
            ):
                answer = work(Unit(transaction))
                transaction.commit()
                return answer

        return self._repeated(whole, name)

    def _repeated(self, work: Callable[[], T], name: str) -> T:
        deadline = time.monotonic() + self._retry_seconds
        delay, attempt = 0.05, 0
        while True:
            attempt += 1
            try:
                return work()
            except (Neo4jError, DriverError, GraphError) as error:
                cause = error.__cause__ if isinstance(error, GraphError) else error
                if not _worth_repeating(cause, attempt) or time.monotonic() + delay > deadline:
                    if isinstance(error, GraphError):
                        raise
                    raise _translate(error, name) from error
            time.sleep(delay * random.uniform(0.5, 1.5))
            delay = min(delay * 2, 2.0)


def connect(
    settings: Settings,
    *,
    caller: str = "cli",
    retry_seconds: float = 8.0,
    notifications: bool = False,
) -> Neo4jRunner:
    """A runner on the effective store.

    Raises:
        GraphUnavailable: the managed store has never been started.
        ConfigError: the store's settings cannot be used.
    """
    uri, auth = address(settings)
    return Neo4jRunner(
        uri,
        auth,
        settings.store.database,
        caller=caller,
        retry_seconds=retry_seconds,
        notifications=notifications,
    )


def duration(text: str) -> Any:
    """A duration as the driver sends it, from ISO 8601 such as P1DT2H.

    Raises:
        ValueError: the text is none.
    """
    return Duration.from_iso_format(text)


def _literal(text: str) -> LiteralString:
    # The driver's type asks for literal text; ours comes from checked files only.
    return cast("LiteralString", text)


def _rows(result: neo4j.Result) -> list[Row]:
    keys = result.keys()
    # By place: each look-up by a key goes through several functions of the driver.
    return [dict(zip(keys, map(_native, record.values()), strict=True)) for record in result]


def _executed(result: neo4j.Result) -> Executed:
    rows = _rows(result)
    return Executed(rows, result.consume().query_type or "")


def _native(value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, DateTime | Date):
        return value.to_native()
    if isinstance(value, Duration | Time | Point):
        return str(value)
    if isinstance(value, Vector):
        return value.to_native()
    if isinstance(value, list):
        return [_native(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _native(item) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _worth_repeating(error: BaseException | None, attempt: int) -> bool:
    if isinstance(error, TransientError):
        return error.gql_status != _FINAL_TRANSIENT
    # A connection that died in the pool is worth one more try; a server that is down is not:
    # the caller has its own budget and, for writes, its own queue.
    return isinstance(error, ServiceUnavailable | SessionExpired) and attempt == 1


@contextlib.contextmanager
def _translated(name: str) -> Generator[None]:
    try:
        yield
    except (Neo4jError, DriverError) as error:
        raise _translate(error, name) from error


def _translate(error: Neo4jError | DriverError, name: str) -> GraphError | ConfigError:
    """One error of ours for one of the driver's: by class and code, never by message text."""
    status = error.gql_status
    code = getattr(error, "code", None) or ""
    # After some tries the server names only these, which is no AuthError of the driver's.
    if isinstance(error, AuthError) or code.endswith(_LOCKED_OUT):
        return ConfigError(
            "the database refuses the user name or password; check NEO4J_USERNAME and "
            "NEO4J_PASSWORD in the user file"
        )
    if code.endswith("DatabaseNotFound"):
        return ConfigError("there is no database of the name in NEO4J_DATABASE at NEO4J_URI")
    if (refused := refused_handshake(error)) is not None:
        return refused
    if isinstance(error, ServiceUnavailable | SessionExpired | ConnectionAcquisitionTimeoutError):
        return GraphUnavailable("the database does not answer", query=name, status=status)
    if code.rsplit(".", 1)[-1] in _TIMED_OUT:
        return GraphTimeout("the query ran past its time limit", query=name, status=status)
    if isinstance(error, ConstraintError):
        return GraphConflict(f"{name} would break a constraint", query=name, status=status)
    if isinstance(error, TransientError):
        return GraphTimeout(f"{name} waited too long ({code})", query=name, status=status)
    if isinstance(error, ClientError):
        return GraphRejected(f"the server refused {name} ({code})", query=name, status=status)
    if code.endswith(GIVEN_UP):
        return GraphUnavailable(
            "the database needs a restart (often a full disk): free space, then run mkg db up",
            query=name,
            status=status,
        )
    return GraphError(f"{name} failed ({code or type(error).__name__})", query=name, status=status)
