"""Bringing the spool into the graph: in order, once, nothing skipped, nothing blocked for ever."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mkg.errors import ConfigError, GraphConflict, GraphUnavailable, SchemaBehind
from mkg.worker.drain import Drain
from mkg.worker.foreground import Foreground
from mkg.worker.memory import Memory
from mkg.worker.shape import Limits, Makers
from mkg_hooks.spool import Spool
from tests.hooks.launching import wait_until
from tests.support.requirement import requirement
from tests.worker.fake_worker import Deps, Log

LIMITS = Limits(batch=3, poll=0.05, backoff_first=0.01, backoff_most=0.02, give_way=30.0)


class Graph:
    """A graph that can be away and that refuses chosen records."""

    def __init__(self) -> None:
        self.away: Exception | None = None
        self.refuses: dict[str, Exception] = {}
        self.applied: list[str] = []
        self.calls: list[list[str]] = []

    def verify(self) -> None:
        if self.away:
            raise self.away

    def close(self) -> None:
        pass

    def apply(self, records: Any, deps: Any) -> None:
        names = [str(record["event_key"]) for record in records]
        self.calls.append(names)
        self.verify()
        for name in names:
            if name in self.refuses:
                raise self.refuses[name]
        self.applied += names

    def answer(self, event: Any, deps: Any) -> Any:
        raise NotImplementedError

    def counts(self, session_id: str, deps: Any) -> dict[str, int]:
        return {}

    def mend(self, deps: Any, marks: dict[str, str]) -> bool:
        return False

    def warm(self, deps: Any, *, once: bool = False) -> None:
        pass

    def routes(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def parts(tmp_path: Path) -> SimpleNamespace:
    graph, log, spool = Graph(), Log(), Spool(tmp_path / "spool")
    makers = Makers(connect=lambda: graph, embedder=lambda: None, deps=Deps, secrets=dict)
    ups: list[int] = []
    memory = Memory(makers, graph, log, on_up=lambda: ups.append(1))
    waiting = Foreground()
    drain = Drain(spool, graph, memory, LIMITS, waiting, log)
    return SimpleNamespace(
        graph=graph, log=log, spool=spool, memory=memory, drain=drain, ups=ups, waiting=waiting
    )


def spooled(parts: SimpleNamespace, *numbers: int) -> None:
    for number in numbers:
        parts.spool.append({"event_key": f"k{number}", "received_at": f"t{number}"})
    parts.drain.poke()


@contextmanager
def running(parts: SimpleNamespace) -> Iterator[None]:
    thread = threading.Thread(target=parts.drain.run)
    thread.start()
    try:
        yield
    finally:
        parts.drain.stop()
        thread.join(5)
    assert not thread.is_alive()


def test_records_are_applied_in_order_in_batches_and_committed(parts):
    spooled(parts, *range(7))
    with running(parts):
        assert parts.drain.wait_empty(5)
    assert parts.graph.applied == [f"k{n}" for n in range(7)]
    assert [len(call) for call in parts.graph.calls] == [3, 3, 1]
    assert parts.spool.pending() == 0 and parts.drain.status()["applied"] == 7


@requirement("PERF-02")
def test_storing_lets_whoever_waits_for_an_answer_go_first(parts):
    parts.waiting.enter()
    parts.waiting.enter()
    with running(parts):
        spooled(parts, 1)
        parts.waiting.leave()
        assert not parts.drain.wait_empty(0.2) and parts.graph.applied == []
        parts.waiting.leave()
        assert parts.drain.wait_empty(5)
    assert parts.graph.applied == ["k1"]


@requirement("PERF-02")
def test_storing_does_not_wait_for_ever_behind_prompts_without_end(parts):
    impatient = replace(LIMITS, give_way=0.05)
    parts.drain = Drain(parts.spool, parts.graph, parts.memory, impatient, parts.waiting, parts.log)
    parts.waiting.enter()
    with running(parts):
        spooled(parts, 1)
        assert parts.drain.wait_empty(5)
    assert parts.graph.applied == ["k1"]


@pytest.mark.parametrize(("settle", "calls"), [(30.0, 1), (0.0, 2)])
def test_what_comes_together_is_stored_together(parts, settle, calls):
    limits = replace(LIMITS, settle=settle, poll=30.0)
    parts.drain = Drain(parts.spool, parts.graph, parts.memory, limits, parts.waiting, parts.log)
    with running(parts):
        assert parts.drain.wait_empty(5)
        spooled(parts, 1)
        if not settle:
            wait_until(lambda: parts.graph.calls == [["k1"]])
        spooled(parts, 2)
        # Whoever waits for an empty spool does not wait for more to come.
        assert parts.drain.wait_empty(5)
    assert len(parts.graph.calls) == calls and parts.graph.applied == ["k1", "k2"]


@requirement("SEC-10")
@pytest.mark.parametrize(
    "error", [GraphUnavailable("away"), ConfigError("wrong password"), SchemaBehind("old")]
)
def test_while_the_graph_is_away_everything_waits_and_then_comes_once_and_in_order(parts, error):
    parts.graph.away = error
    with running(parts):
        spooled(parts, *range(5))
        wait_until(lambda: parts.drain.status()["waits"] >= 3)
        assert not parts.drain.wait_empty(0.05)
        status = parts.drain.status()
        assert (status["queue"], status["oldest_received_at"], status["quarantined"]) == (
            5,
            "t0",
            0,
        )
        assert type(error).__name__ in status["last_error"] and parts.memory.graph == "down"
        spooled(parts, 5)
        parts.graph.away = None
        assert parts.drain.wait_empty(5)
        assert parts.drain.status()["last_error"] is None
    assert parts.graph.applied == [f"k{n}" for n in range(6)]
    assert parts.ups == [1]


def test_a_connection_that_breaks_in_the_middle_repeats_the_same_batch(parts):
    spooled(parts, *range(6))
    done = parts.drain.step()
    parts.graph.away = GraphUnavailable("away")
    assert (done, parts.drain.step(), parts.drain.step()) == ("applied", "waiting", "waiting")
    parts.graph.away = None
    assert parts.drain.step() == "applied"
    assert parts.graph.applied == [f"k{n}" for n in range(6)]


@requirement("SEC-10")
def test_a_record_that_fails_five_times_is_put_aside_and_the_rest_goes_on(parts):
    parts.graph.refuses["k1"] = GraphConflict("constraint")
    spooled(parts, *range(4))
    with running(parts):
        assert parts.drain.wait_empty(5)
    assert parts.graph.applied == ["k0", "k2", "k3"]
    assert parts.graph.calls.count(["k1"]) == 5
    assert parts.spool.counters()["refused"] == 1 and parts.drain.status()["refused"] == 1
    (path,) = (Path(parts.spool.folder) / "quarantine").iterdir()
    assert "GraphConflict: constraint" in path.read_text() and "k1" in path.read_text()


def test_a_record_that_fails_less_often_is_applied_and_not_put_aside(parts, monkeypatch):
    parts.graph.refuses["k1"] = KeyError("x")
    real = parts.graph.apply

    def mends(records: Any, deps: Any) -> None:
        if len(parts.graph.calls) == 4:
            parts.graph.refuses.clear()
        real(records, deps)

    monkeypatch.setattr(parts.graph, "apply", mends)
    spooled(parts, 0, 1, 2)
    with running(parts):
        assert parts.drain.wait_empty(5)
    assert parts.graph.applied == ["k0", "k1", "k2"] and parts.spool.counters()["refused"] == 0


def test_a_graph_that_goes_away_between_the_tries_of_a_bad_record_uses_none_of_them_up(parts):
    parts.graph.refuses["k0"] = KeyError("x")
    spooled(parts, 0, 1)
    real = parts.memory.connected
    left = [2]

    def flickers() -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise GraphUnavailable("away")
        return real()

    parts.memory.connected = flickers
    assert parts.drain.step() == "waiting"
    assert parts.spool.counters()["refused"] == 0 and parts.spool.pending() == 2


def test_a_spool_that_cannot_be_read_is_tried_again(parts, monkeypatch):
    spooled(parts, 0)
    real, failures = parts.spool.commit, [OSError(28, "No space left on device")] * 2

    def full(cursor: Any) -> None:
        if failures:
            raise failures.pop()
        real(cursor)

    monkeypatch.setattr(parts.spool, "commit", full)
    with running(parts):
        assert parts.drain.wait_empty(5)
    # The graph's writes are idempotent: what could not be committed came again.
    assert parts.graph.applied == ["k0"] * 3 and parts.spool.pending() == 0


def test_an_outage_that_ends_while_nothing_waits_is_noticed(parts):
    parts.graph.away = GraphUnavailable("away")
    with pytest.raises(GraphUnavailable):
        parts.memory.connected()
    with running(parts):
        assert parts.drain.wait_empty(5)
        assert parts.memory.graph == "down"
        parts.graph.away = None
        wait_until(lambda: parts.memory.graph == "up")
    assert parts.ups == [1]


def test_a_record_spooled_by_another_process_is_found_without_a_word(parts):
    with running(parts):
        assert parts.drain.wait_empty(5)
        Spool(parts.spool.folder).append({"event_key": "other"})
        wait_until(lambda: parts.graph.applied == ["other"])


def test_with_nothing_to_apply_rows_are_mended_page_by_page_and_then_left_alone(
    parts: SimpleNamespace,
) -> None:
    pages = [True, True, False]
    seen: list[int] = []

    def mend(deps: Any, marks: dict[str, str]) -> bool:
        marks["x"] = str(len(seen))
        seen.append(len(seen))
        return pages[len(seen) - 1]

    parts.graph.mend = mend
    parts.memory.load_embedder()
    with running(parts):
        parts.memory.connected()
        wait_until(lambda: len(seen) == 3)
        assert parts.drain.wait_empty(5)
        assert parts.drain.wait_empty(5)
    assert seen == [0, 1, 2]
