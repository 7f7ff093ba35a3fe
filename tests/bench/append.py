"""W1: appending one event, against a bare transaction that writes the same node and edges."""

import itertools
import uuid
from collections.abc import Callable
from typing import Any, LiteralString, cast

import neo4j

from mkg.db import Neo4jRunner
from mkg.features import timeline
from tests.bench import statements
from tests.bench.measure import interleaved, ratio, slope, spread
from tests.bench.report import Report, Row
from tests.support.events import row

LENGTHS = (10, 100, 1_000, 10_000)
BATCH = 500


def measure(
    run: Neo4jRunner, driver: neo4j.Driver, *, rounds: int, say: Callable[[str], None]
) -> Report:
    """Time single appends at several session lengths, and the bare form at one of them."""
    # A short session would not stay short: each round takes another one.
    pools = {length: max(2, min(rounds + 3, 20_000 // length)) for length in LENGTHS}
    for length, count in pools.items():
        say(f"{count} sessions of {length} events")
        for number in range(count):
            _fill(run, f"l{length}-{number}", length)

    def append(length: int) -> Callable[[int], object]:
        def once(number: int) -> object:
            session = f"l{length}-{number % pools[length]}"
            return timeline.append(run, events=[_event(session, uuid.uuid4().hex, number)])

        return once

    statement = cast("LiteralString", statements.text("bare_append"))
    # The yardstick keeps no count of its own; its places lie far above any session's.
    places = itertools.count(10_000_000)

    def bare(number: int) -> object:
        session = f"l1000-{number % pools[1_000]}"
        event = _event(session, uuid.uuid4().hex, number)
        data = {**event["data"], "event_id": event["event_key"], "event_key": event["event_key"]}
        data |= {
            "session_id": session,
            "client": "claude",
            "project_id": "host/acme/bench",
            "seq": next(places),
        }
        with driver.session(database=run.database) as opened:
            return opened.execute_write(
                lambda unit: unit.run(statement, session_id=session, data=data).data()
            )

    cases: dict[str, Callable[[int], object]] = {str(n): append(n) for n in LENGTHS}
    cases["bare"] = bare
    say(f"{rounds} rounds")
    times = interleaved(cases, rounds=rounds, warm=40)
    by_length = {n: times[str(n)] for n in LENGTHS}
    return Report(
        "append",
        [
            Row("one event against a bare transaction", ratio(times["1000"], times["bare"]), 1.6),
            Row("exponent over session length 10 to 10,000", slope(by_length), 0.05),
        ],
        rounds,
        ["ms, median / p95: " + ", ".join(f"{name} {spread(row)}" for name, row in times.items())],
    )


def _event(session: str, key: str, number: int) -> dict[str, Any]:
    return row(
        "PostToolUse",
        session=session,
        key=key,
        second=number,
        project="host/acme/bench",
        tool_name="Bash",
        tool_input='{"command": "make test"}',
        tool_output="ok " * 100,
        origin="tool",
    )


def _fill(run: Neo4jRunner, session: str, length: int) -> None:
    for start in range(0, length, BATCH):
        count = min(BATCH, length - start)
        events = [_event(session, f"{session}-{start + i}", start + i) for i in range(count)]
        timeline.append(run, events=events)
