"""The hook bench measures what it says: real processes, all of their time, events that count."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench import hooks, spool
from tests.bench.processes import clock, fire
from tests.conftest import Live
from tests.support.requirement import requirement

BURN = "import time\nuntil = time.process_time() + 0.2\nwhile time.process_time() < until: pass"
ENV = {"PATH": "/usr/bin:/bin"}


def test_what_a_program_starts_and_waits_for_counts_as_its_time() -> None:
    def cpu(code: str) -> float:
        return fire([([sys.executable, "-I", "-S", "-c", code], b"")], ENV).cpu_ms

    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', {BURN!r}])"
    assert cpu(BURN) >= 200
    assert cpu(nested) >= 200


def test_programs_of_one_round_run_beside_each_other_and_get_their_own_input() -> None:
    code = "import sys, time; time.sleep(0.3); print(sys.stdin.read())"
    commands = [([sys.executable, "-I", "-c", code], f"{n}".encode()) for n in range(4)]
    done = fire(commands, ENV)
    assert done.out == (b"0\n", b"1\n", b"2\n", b"3\n")
    assert done.wall_ms >= 300
    # Four that sleep one after the other would take 1.2 s of sleep alone.
    assert done.wall_ms - done.cpu_ms < 1200


def test_a_program_that_fails_is_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="ended with 3"):
        fire([([sys.executable, "-I", "-c", "raise SystemExit(3)"], b"")], ENV)


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is Linux's")
def test_the_clock_of_another_process_counts_threads_that_have_ended() -> None:
    code = (
        "import threading, sys\n"
        f"thread = threading.Thread(target=lambda: exec({BURN!r}))\n"
        "thread.start(); thread.join(); print('done', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout and child.stdout.readline() == b"done\n"
        first = clock(child.pid)
        time.sleep(0.1)
        second = clock(child.pid)
        child.communicate()
    assert first >= 200
    assert second - first < 50  # it only slept


@pytest.mark.soak
@requirement("PERF-46", "PERF-53")
@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process is Linux's")
def test_the_hook_bench_runs_on_a_real_store_and_sets_its_bars_as_ratios(
    live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    size = hooks.Size(learnings=100, rounds=2, bursts=1, apart=1, before=1, warm=1)
    before = Path.cwd()
    found = hooks.measure(live.run, live.server, size, lambda text: None)
    bars = [(row.bar, row.sense) for row in found.rows if row.bar is not None]
    assert bars == [
        (2.5, "at most"),
        (4.0, "at most"),
        (2.5, "at most"),
        (4.0, "at most"),
        (2.5, "at most"),
        (20.0, "at least"),
        (10.0, "at least"),
    ]
    assert all(row.value.value > 0 for row in found.rows)
    assert any(note.startswith("one Stop, separate") for note in found.notes)
    assert any(note.startswith("load average") for note in found.notes)
    # Every event was stored once: what was timed is the whole way.
    events = live.value("MATCH (e:SessionEvent) RETURN count(e) AS n")
    keys = live.value("MATCH (e:SessionEvent) RETURN count(DISTINCT e.event_key) AS n")
    apart = live.value("MATCH (e:BenchEvent) RETURN count(e) AS n")
    rounds = [(size.rounds + size.warm) * n for n in (3, 2)]
    bursts = (size.bursts + size.warm) * hooks.AT_ONCE * 3
    stops = size.apart + 2
    assert events == keys == 2 * size.before + sum(rounds) + bursts + stops
    assert apart == stops * len(hooks.PARTS) + 1
    assert Path.cwd() == before
    assert capsys.readouterr().out == ""


@pytest.mark.soak
def test_the_spool_bench_stores_what_it_times(live: Live) -> None:
    import neo4j

    auth = (live.server.username, live.server.password)
    with neo4j.GraphDatabase.driver(live.server.uri, auth=auth) as driver:
        found = spool.measure(live.run, driver, rounds=3, replayed=50, say=lambda text: None)
    assert [row.bar for row in found.rows] == [1.5, None]
    assert live.value("MATCH (e:SessionEvent) RETURN count(e) AS n") == 6 * 50 * 2
    replayed = live.value(
        "MATCH (e:SessionEvent) WHERE e.session_id STARTS WITH 'r' RETURN count(e.seq) AS n"
    )
    assert replayed == 6 * 50


def test_the_comparison_is_with_separate_programs_that_bring_the_driver() -> None:
    text = hooks.SEPARATE.read_text(encoding="utf-8")
    assert "import neo4j" in text
    assert '"neo4j>=6.4,<7"' in text.split("# ///")[1]
    assert len(hooks.PARTS) == 4
