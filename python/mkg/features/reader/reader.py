"""Runs one raw query inside every limit, or says why not (SEC-41..SEC-47)."""

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mkg import log
from mkg.bundle import Runner, cypher
from mkg.db.raw import RawReader, RawUnit
from mkg.errors import MkgError, RawFailed, Refused
from mkg.features.reader import parameters, plan, proof, rules, verdicts
from mkg.features.reader.meter import Meter
from mkg.features.reader.policy import Policy, load_policy
from mkg.features.reader.rows import Taken, take
from mkg.features.reader.verdicts import Verdicts

WATCHDOG_SECONDS = 12.0
LOOK_SECONDS = 5.0
_log = log.get(__name__)


@dataclass(frozen=True, slots=True)
class Stamp:
    indexes: list[str]


@cypher("reader.stamp")
def stamp(run: Runner) -> Stamp: ...


@dataclass(frozen=True, slots=True)
class Running:
    call: str


@cypher("ops.calls_running")
def calls_running(run: Runner, *, calls: list[str]) -> list[Running]: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its parameters, and who asks."""

    text: str
    params: Mapping[str, Any]
    tool: str = "read-gate"
    session_id: str = ""


class Reader:
    """The gate in front of one store; thread-safe."""

    def __init__(
        self,
        raw: RawReader,
        meter: Meter,
        *,
        policy: Policy | None = None,
        watchdog: float = WATCHDOG_SECONDS,
        off: str = "",
    ):
        """`off` is the reason why this store is not read at all."""
        self._raw = raw
        self._meter = meter
        self._policy = policy or load_policy()
        self._watchdog = watchdog
        self._off = off
        self._verdicts = Verdicts()
        self._proving = threading.Lock()
        self._proved = False

    def close(self) -> None:
        """Release the connections."""
        self._raw.close()

    def read(self, query: Asked) -> Taken:
        """The rows of a query.

        Raises:
            Refused: a layer says no, all slots are taken, or the time is over.
            GraphUnavailable, ConfigError: the store cannot be asked.
        """
        if self._off:
            raise Refused(self._off)
        statement = self._admitted(query)
        with self._meter.slot():
            self._look()
            self._prove()
            return self._in_time(query, lambda unit: self._rows(unit, statement, query))

    def judge(self, query: Asked) -> str:
        """Why a query is refused, without running it; empty when it may run.

        Raises:
            GraphUnavailable, ConfigError: the store cannot be asked.
        """
        try:
            statement = self._admitted(query)
            return self._in_time(query, lambda unit: self._planned(unit, statement, query))
        except Refused as error:
            return str(error)

    def _admitted(self, query: Asked) -> str:
        """The statement, once the text and the parameters have passed."""
        wrong = parameters.objection(query.params)
        if wrong:
            raise Refused(wrong, code="invalid")
        verdict = rules.decide(query.text, self._policy)
        if not verdict.allowed:
            raise Refused(f"the gate refuses this query: {verdict.reason}")
        return verdict.statement

    def _look(self) -> None:
        """Ask which of the calls that were cut off still run, before another one may."""
        suspects = self._meter.suspects()
        if not suspects:
            return
        names = sorted(suspects)
        metadata = {"query": "ops.calls_running"}
        call = _Call(self._raw, lambda unit: calls_running(unit, calls=names), metadata)
        found = call.within(LOOK_SECONDS)
        if found is None:
            raise Refused("the database does not answer in time; try again later", code="timeout")
        self._meter.settle(suspects, {row.call for row in found})

    def _prove(self) -> None:
        with self._proving:
            if self._proved:
                return
            failed = proof.prove(self._raw)
            if failed is None:
                self._proved = True
                return
        _log.degraded("reader.proof_failed", failed.layer, probe=failed.probe)
        raise Refused(
            f"raw queries are off: the gate's self-test failed on this store ({failed.layer}, "
            f"{failed.probe}); use the other tools"
        )

    def _planned(self, unit: RawUnit, statement: str, query: Asked) -> str:
        """The plan's objection, from memory where everything it hangs on is the same."""
        indexes = stamp(unit).indexes
        name = verdicts.key(
            statement,
            parameters.canonical(dict(query.params)),
            policy=self._policy.fingerprint,
            store=self._raw.store,
            server=unit.server,
            indexes=indexes,
        )
        known = self._verdicts.get(name)
        if known is None:
            known = plan.objection(unit.explain(statement, query.params), self._policy)
            self._verdicts.keep(name, known)
        return known

    def _rows(self, unit: RawUnit, statement: str, query: Asked) -> Taken:
        wrong = self._planned(unit, statement, query)
        if wrong:
            raise Refused(f"the gate refuses this query: {wrong}")
        columns, rows = unit.stream(statement, query.params)
        return take(columns, rows)

    def _in_time(self, query: Asked, work: Callable[[RawUnit], Any]) -> Any:
        """Work inside a READ transaction, in a thread that nobody waits for longer than allowed."""
        name = uuid.uuid4().hex
        metadata = {"query": query.tool, "session": query.session_id[:100], "call": name}
        call = _Call(self._raw, work, metadata)
        found = call.within(self._watchdog)
        if found is None:
            self._meter.suspect(name)
            _log.degraded("reader.watchdog", "a query ran past the server's own limit")
            raise Refused("the query took too long and was cut off; ask for less", code="timeout")
        return found


class _Call(threading.Thread):
    """One transaction in a thread of its own."""

    def __init__(self, raw: RawReader, work: Callable[[RawUnit], Any], metadata: Mapping[str, str]):
        super().__init__(daemon=True, name="raw-read")
        self._raw, self._work, self._metadata = raw, work, metadata
        self._unit: RawUnit | None = None
        self.done = threading.Event()
        self.found: Any = None
        self.error: MkgError | None = None

    def run(self) -> None:
        try:
            with self._raw.unit(self._metadata) as unit:
                self._unit = unit
                self.found = self._work(unit)
        except MkgError as error:
            self.error = error
        except (RecursionError, MemoryError, ValueError) as error:
            self.error = RawFailed(f"a value that cannot be shown ({type(error).__name__})")
        finally:
            if self.found is None and self.error is None:
                self.error = RawFailed("the answer could not be read")
            self.done.set()

    def within(self, seconds: float) -> Any:
        """What the work found; None when it had to be cut off.

        Raises:
            Refused: the server says no.
            GraphUnavailable, ConfigError: the store cannot be asked.
        """
        self.start()
        if not self.done.wait(seconds):
            if self._unit is not None:
                self._unit.cut()
            return None
        if isinstance(self.error, RawFailed):
            raise _refused(self.error)
        if self.error is not None:
            raise self.error
        return self.found


def _refused(error: RawFailed) -> Refused:
    """The server's no: its code and the place in the query, nothing else it said."""
    name = error.code.rsplit(".", 1)[-1]
    if name.startswith("TransactionTimedOut") or name == "Terminated":
        return Refused(f"the query ran past its time limit ({error}); ask for less", code="timeout")
    return Refused(f"the server refuses this query: {error}", code="refused")
