"""What gets no answer: the watchdog cuts it, and only what still runs on the server counts."""

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest

from mkg.errors import MkgError, Refused
from mkg.features.reader import reader as reader_module
from mkg.features.reader import rules
from mkg.features.reader.meter import Meter
from mkg.features.reader.reader import Asked, Reader
from tests.reader.conftest import raw_on
from tests.support.requirement import requirement

SLOW = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(*) AS n"
ONE = Asked("RETURN 1 AS x", {})
OPTION = "RETURN = 1 OR n . `create` = 2 RETURN"


def refusal(reader: Reader, text: str) -> Refused:
    with pytest.raises(Refused) as caught:
        reader.read(Asked(text, {}))
    return caught.value


def soon(reader: Reader) -> list[str]:
    """The rows of a query, once the server has noticed that connections are gone."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with contextlib.suppress(Refused):
            return reader.read(ONE).rows
    return reader.read(ONE).rows


@requirement("SEC-45")
def test_the_watchdog_ends_what_outlives_the_server_and_what_ended_is_forgotten(graph):
    meter = Meter()
    with raw_on(graph.server, seconds=60) as patient:
        reader = Reader(patient, meter, watchdog=0.7)
        reader._prove()
        for count in (1, 2):
            begun = time.monotonic()
            assert refusal(reader, SLOW).code == "timeout"
            assert time.monotonic() - begun < 4
            assert len(meter.suspects()) == count or count == 2
        assert soon(Reader(patient, meter, watchdog=5)) == ['{"x":1}']
        assert meter.suspects() == frozenset()
    left = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.query = 'read-gate' RETURN metaData"
    assert graph.rows(left) == []


@requirement("SEC-45")
def test_two_cut_calls_that_still_run_switch_raw_reading_off_until_one_has_ended(graph, patient):
    meter = Meter()
    reader = Reader(patient, meter)
    with raw_on(graph.server, seconds=60) as others:
        with others.unit({"query": "test", "call": "first"}):
            with others.unit({"query": "test", "call": "second"}):
                for call in ("first", "second", "gone"):
                    meter.suspect(call)
                error = refusal(reader, "RETURN 1 AS x")
                assert error.code == "refused" and "2 earlier queries still run" in str(error)
                assert meter.suspects() == {"first", "second"}
            assert soon(reader) == ['{"x":1}'] and meter.suspects() == {"first"}
        assert soon(reader) == ['{"x":1}'] and meter.suspects() == frozenset()


class Silent:
    """A store that takes a connection and never says anything until it is cut."""

    store = "silent"

    def __init__(self):
        self.ended = threading.Event()

    @contextlib.contextmanager
    def unit(self, metadata) -> Iterator["Silent"]:
        yield self

    def fetch(self, query, params):
        self.ended.wait(5)
        return []

    def cut(self) -> None:
        self.ended.set()


def test_a_store_that_does_not_tell_what_runs_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(reader_module, "LOOK_SECONDS", 0.2)
    silent, meter = Silent(), Meter()
    meter.suspect("one")
    error = refusal(Reader(silent, meter), "RETURN 1 AS x")
    assert error.code == "timeout" and silent.ended.is_set()
    assert meter.suspects() == {"one"}


def test_a_text_that_the_server_takes_for_an_option_is_answered_by_the_gate_alone(graph, patient):
    """Without the gate the server fails to encode its own error and says nothing at all."""
    reader = Reader(patient, Meter())
    assert "before the equals sign (line 1, column 8)" in str(refusal(reader, OPTION))
    answered = threading.Event()
    with patient.unit({"query": "test"}) as unit:

        def ask() -> None:
            # Whatever comes here, comes because the connection was cut.
            with contextlib.suppress(MkgError):
                unit.stream(OPTION, {})
                answered.set()

        asking = threading.Thread(target=ask)
        asking.start()
        asking.join(1)
        silent = asking.is_alive()
        unit.cut()
        asking.join(5)
    assert silent and not asking.is_alive() and not answered.is_set()
    assert rules.decide("WITH 1 AS x WHERE x = 1 RETURN x = 1 AS same").allowed
