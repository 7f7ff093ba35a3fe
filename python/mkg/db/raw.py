"""A driver of its own for raw reading: READ mode, two connections, ten seconds, small pieces.

Nothing here trusts the text it is given: READ access mode and the server's time limit hold
whatever a gate before it let through (SEC-44). Errors carry the server's code and the place, never
its words: those quote the query, its parameters, and paths and settings of the server (SEC-47).
"""

import contextlib
import re
import socket
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConnectionAcquisitionTimeoutError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from mkg import __version__
from mkg.bundle.header import QuerySpec
from mkg.db.address import address
from mkg.db.plan import operators
from mkg.errors import ConfigError, GraphUnavailable, RawFailed
from mkg.json_shape import as_object
from mkg.settings import Settings

CONNECTIONS = 2
SECONDS = 10.0
# Not 200: a row may hold a cell of many megabytes, and the driver keeps a whole piece.
PIECE = 10
_LANGUAGE = "CYPHER 25"
_PLACE = re.compile(r"\(line (\d{1,6}), column (\d{1,6})")


@dataclass(frozen=True, slots=True)
class Plan:
    """What the server would do with a statement: its type, and each operator with its details."""

    query_type: str
    operators: tuple[tuple[str, str], ...]


class RawUnit:
    """One READ transaction; it is always rolled back."""

    def __init__(self, transaction: neo4j.Transaction):
        self._transaction = transaction
        self.server = ""
        self._unread = False

    def explain(self, text: str, params: Mapping[str, Any]) -> Plan:
        """Plan a statement without running it.

        Raises:
            RawFailed: the server does not take it.
            GraphUnavailable: the connection is gone.
        """
        with translated(1):
            summary = self._run(f"{_LANGUAGE} EXPLAIN", text, params).consume()
        plan = as_object(cast("object", summary.plan))  # pyright: ignore[reportUnknownMemberType]
        return Plan(summary.query_type or "", tuple(operators(plan)))

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run a query of the bundle in this transaction, and note the server's version."""
        with translated(0):
            result = self._transaction.run(_literal(query.text), dict(params))
            rows = [dict(record) for record in result]
            self.server = result.consume().server.agent
        return rows

    def stream(
        self, text: str, params: Mapping[str, Any]
    ) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
        """The columns, and the rows as they come; whoever stops early leaves the rest there.

        Raises:
            RawFailed: the server does not take it; also while rows come.
            GraphUnavailable: the connection is gone.
        """
        with translated(1):
            result = self._run(_LANGUAGE, text, params)
            columns = list(result.keys())
        return columns, self._records(result)

    def leave(self) -> None:
        """End the transaction, whatever is left of it, at once."""
        if self._unread:
            # To be polite would be to let the server produce all rows that nobody wants.
            self.cut()
        # What the last words of a broken transaction say does not matter any more.
        with contextlib.suppress(Neo4jError, DriverError, OSError):
            self._transaction.close()

    def cut(self) -> None:
        """End the connection under a call that waits, from another thread."""
        # The driver has no public way to give up a call of another thread.
        connection = getattr(self._transaction, "_connection", None)
        link = getattr(getattr(connection, "socket", None), "_socket", None)
        if isinstance(link, socket.socket):
            with contextlib.suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)

    def _records(self, result: neo4j.Result) -> Iterator[tuple[Any, ...]]:
        self._unread = True
        with translated(1):
            for record in result:
                yield tuple(record.values())
            self._unread = False

    def _run(self, prefix: str, text: str, params: Mapping[str, Any]) -> neo4j.Result:
        # A line of its own: places in errors stay right, and a comment cannot swallow the prefix.
        return self._transaction.run(_literal(f"{prefix}\n{text}"), dict(params))


class RawReader:
    """Connections that can only read; opened when the first call needs one."""

    def __init__(
        self,
        uri: str,
        auth: tuple[str, str] | None,
        database: str,
        *,
        seconds: float = SECONDS,
        connection_timeout: float = 3.0,
    ):
        self.database = database
        self.store = f"{uri}/{database}"
        self._seconds = seconds
        try:
            # The driver's options carry no types.
            self._driver = neo4j.GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
                uri,
                auth=auth,
                max_connection_pool_size=CONNECTIONS,
                connection_timeout=connection_timeout,
                connection_acquisition_timeout=connection_timeout + 2,
                max_transaction_retry_time=0.0,
                notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
                telemetry_disabled=True,
                user_agent=f"mkg/{__version__}",
            )
        except (ConfigurationError, ValueError) as error:
            raise ConfigError(f"NEO4J_URI cannot be used: {type(error).__name__}") from None

    def __enter__(self) -> "RawReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release both connections."""
        self._driver.close()

    @contextlib.contextmanager
    def unit(self, metadata: Mapping[str, str]) -> Generator[RawUnit]:
        """One READ transaction with the time limit; `metadata` is for whoever looks at the server.

        Raises:
            RawFailed: the server ended it.
            GraphUnavailable: there is no connection to be had.
            ConfigError: the credentials are refused.
        """
        with (
            translated(0),
            self._driver.session(  # pyright: ignore[reportUnknownMemberType]
                database=self.database,
                default_access_mode=neo4j.READ_ACCESS,
                fetch_size=PIECE,
            ) as session,
        ):
            transaction = session.begin_transaction(
                metadata={"app": "mkg", **metadata}, timeout=self._seconds
            )
            unit = RawUnit(transaction)
            try:
                yield unit
            finally:
                unit.leave()


def connect_raw(settings: Settings, *, seconds: float = SECONDS) -> RawReader:
    """A raw reader on the effective store.

    Raises:
        GraphUnavailable: the managed store does not run.
        ConfigError: the store's settings cannot be used.
    """
    uri, auth = address(settings)
    return RawReader(uri, auth, settings.store.database, seconds=seconds)


@contextlib.contextmanager
def translated(prefix_lines: int) -> Generator[None]:
    """Errors of the driver as ours; `prefix_lines` stand before what the caller wrote."""
    try:
        yield
    except AuthError as error:
        raise ConfigError(
            "the database refuses the user name or password; check NEO4J_USERNAME and "
            "NEO4J_PASSWORD in the user file"
        ) from error
    except (ServiceUnavailable, SessionExpired, ConnectionAcquisitionTimeoutError) as error:
        raise GraphUnavailable("the database does not answer") from error
    except (Neo4jError, DriverError) as error:
        raise _failed(error, prefix_lines) from error
    except (RecursionError, OverflowError, UnicodeError) as error:
        raise RawFailed(f"a value that cannot be carried ({type(error).__name__})") from error


def _failed(error: Neo4jError | DriverError, prefix_lines: int) -> RawFailed:
    code = getattr(error, "code", None) or ""
    if not re.fullmatch(r"[A-Za-z0-9.]{1,120}", code):
        code = type(error).__name__
    found = _PLACE.search(str(error)) if isinstance(error, Neo4jError) else None
    place = (int(found[1]) - prefix_lines, int(found[2])) if found else None
    where = f" at line {place[0]}, column {place[1]}" if place and place[0] > 0 else ""
    return RawFailed(f"{code}{where}", code=code, status=error.gql_status)


def _literal(text: str) -> LiteralString:
    # The driver's type asks for literal text; this text has passed the gate.
    return cast("LiteralString", text)
