"""The spool: keeping one record against a bare write and flush, and replaying against batches."""

import os
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, LiteralString, cast

import neo4j

from mkg.db import Neo4jRunner
from mkg.settings import Settings
from mkg.worker.drain import Drain
from mkg.worker.foreground import Foreground
from mkg.worker.memory import Memory
from mkg.worker.shape import Limits, Makers
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from mkg_hooks.spool import Spool
from tests.bench import statements
from tests.bench.measure import interleaved, ratio, spread
from tests.bench.report import Report, Row
from tests.support import events
from tests.worker.fake_worker import Log

BATCH = Limits().batch
SESSIONS = 5
WARM = 10


def measure(
    run: Neo4jRunner,
    driver: neo4j.Driver,
    *,
    rounds: int,
    replayed: int,
    say: Callable[[str], None],
) -> Report:
    """Appends in `rounds` rounds, then a few replays of `replayed` events each."""
    with tempfile.TemporaryDirectory(prefix="mkg-spool-") as folder:
        say(f"{rounds} appends")
        appends = _appends(Path(folder), rounds)
        say(f"replays of {replayed} events")
        replays = _replays(run, driver, Path(folder), replayed)
    per_second = ", ".join(
        f"{name} {replayed / (sorted(row)[len(row) // 2] / 1000):.0f}"
        for name, row in replays.items()
    )
    return Report(
        "spool",
        [
            Row(
                "keeping a record against a bare write and fsync of its bytes",
                ratio(appends["spool"], appends["bare"]),
                1.5,
            ),
            Row(
                f"replaying {replayed:,} events against the driver writing bare nodes in batches"
                f" of {BATCH}",
                ratio(replays["replay"], replays["driver"]),
            ),
        ],
        rounds,
        [
            "ms, median / p95: " + ", ".join(f"{n} {spread(row)}" for n, row in appends.items()),
            f"events a second, median of {len(replays['replay'])} runs: {per_second}",
        ],
    )


def _record(number: int, session: str = "s") -> dict[str, Any]:
    return events.record(
        "PostToolUse",
        session=session,
        key=uuid.uuid4().hex,
        second=number,
        cwd="/w/shop",
        tool_name="Bash",
        tool_input='{"command": "make test"}',
        tool_output="ok " * 200,
        tool_use_id=f"toolu_{number}",
    )


def _appends(folder: Path, rounds: int) -> dict[str, list[float]]:
    spool = Spool(folder / "spool")
    spool.append(_record(0))
    size = next((folder / "spool").glob("*.seg")).stat().st_size
    data = b"x" * (size - 1) + b"\n"
    file = os.open(folder / "bare", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def bare(_: int) -> None:
        os.write(file, data)
        os.fsync(file)

    try:
        records = [_record(number) for number in range(rounds + WARM)]
        cases = {"spool": lambda number: spool.append(records[number]), "bare": bare}
        return interleaved(cases, rounds=rounds, warm=WARM)
    finally:
        os.close(file)


def _replays(
    run: Neo4jRunner, driver: neo4j.Driver, folder: Path, count: int, times: int = 5
) -> dict[str, list[float]]:
    bare = cast("LiteralString", statements.text("bare_batch"))
    settings = Settings(
        home=folder, cache=folder, config_dir=folder, runtime_dir=folder, user_id="ann"
    )
    found: dict[str, list[float]] = {"replay": [], "driver": []}

    def replay(number: int) -> None:
        spool, log = Spool(folder / f"replay-{number}"), Log()
        for place in range(count):
            spool.append(_record(place, f"r{number}-{place % SESSIONS}"))
        deps = Deps(run=run, embed=None, settings=settings)
        makers = Makers(
            connect=lambda: run, embedder=lambda: None, deps=lambda **_: deps, secrets=dict
        )
        memory = Memory(makers, dispatch, log, on_up=lambda: None)
        drain = Drain(spool, dispatch, memory, Limits(), Foreground(), log)
        began = time.perf_counter()
        while drain.step() == "applied":
            pass
        found["replay"].append((time.perf_counter() - began) * 1000)
        if drain.counters["applied"] != count:
            raise AssertionError(f"replayed {drain.counters} of {count}")

    def plain(number: int) -> None:
        rows = [_bare_row(place, f"d{number}-{place % SESSIONS}") for place in range(count)]
        began = time.perf_counter()
        for start in range(0, count, BATCH):
            driver.execute_query(bare, rows=rows[start : start + BATCH], database_=run.database)
        found["driver"].append((time.perf_counter() - began) * 1000)

    interleaved({"replay": replay, "driver": plain}, rounds=times, warm=1)
    return {name: row[1:] for name, row in found.items()}


def _bare_row(place: int, session: str) -> dict[str, Any]:
    kept = events.row(
        **{k: v for k, v in _record(place, session).items() if k in ("tool_name", "tool_output")},
        name="PostToolUse",
        session=session,
        key=uuid.uuid4().hex,
        second=place,
        project="host/acme/bench",
    )
    return {
        "session_id": session,
        "data": {**kept["data"], "event_id": kept["event_key"], "event_key": kept["event_key"]},
    }
