"""The daily cap: kept in the graph, held by several workers together, left by no crash."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pydantic import BaseModel
from typer.testing import CliRunner

from mkg.cli import app
from mkg.llm import Replied, Skipped
from mkg.llm.asking import CAP
from mkg.llm.meter import (
    Call,
    GraphMeter,
    Spent,
    model_reserve,
    model_settle,
    model_usage,
    today,
)
from tests.clients.kit.stub_model import StubModel
from tests.conftest import Live
from tests.support.models import asking, model_settings
from tests.support.requirement import requirement
from tests.support.reserving import MOST, MOST_USD, TOKENS

DAY = "2026-01-02"
ROOT = Path(__file__).parents[1]


class Answer(BaseModel):
    answer: str


def reserve(live: Live, call: str, tokens: int = 60, usd: float = 0.0, most_usd: float = 1.0):
    return model_reserve(
        live.run,
        day=DAY,
        call=call,
        tokens=tokens,
        usd=usd,
        most_tokens=100,
        most_usd=most_usd,
    )


def settle(live: Live, call: str, *, failed: bool = False, tokens: int = 60):
    return model_settle(
        live.run,
        day=DAY,
        call=call,
        task="extract",
        model="m",
        tokens=tokens,
        usd=0.0,
        input_tokens=7,
        output_tokens=3,
        cost_usd=0.25,
        failed=failed,
    )


def test_a_reservation_is_admitted_up_to_the_cap_and_refused_beyond_it(live: Live):
    assert (reserve(live, "a").granted, reserve(live, "b").granted) == (True, False)
    assert reserve(live, "c", tokens=40).granted
    assert not reserve(live, "d", tokens=1).granted


def test_money_has_a_cap_of_its_own(live: Live):
    assert reserve(live, "a", tokens=1, usd=0.7).granted
    assert not reserve(live, "b", tokens=1, usd=0.4).granted
    assert reserve(live, "c", tokens=1, usd=0.3).granted


def test_a_reply_that_was_lost_reserves_and_settles_once(live: Live):
    assert reserve(live, "a").tokens == 60
    assert reserve(live, "a") == reserve(live, "a")
    assert reserve(live, "a").tokens == 60
    assert (settle(live, "a").calls, settle(live, "a").calls) == (1, 1)
    total, one = model_usage(live.run, since=DAY)
    assert (total.task, total.reserved, total.input_tokens, total.cost_usd) == ("*", 0, 7, 0.25)
    assert (one.task, one.model, one.calls, one.output_tokens) == ("extract", "m", 1, 3)


def test_what_a_crash_left_reserved_counts_as_spent(live: Live):
    reserve(live, "crashed")
    assert not reserve(live, "next").granted
    assert model_usage(live.run, since=DAY)[0].reserved == 60


def test_a_failed_call_is_counted(live: Live):
    reserve(live, "a")
    settle(live, "a", failed=True)
    assert [(u.task, u.failed) for u in model_usage(live.run, since=DAY)] == [
        ("*", 1),
        ("extract", 1),
    ]
    assert model_usage(live.run, since="2026-01-03") == []


def test_callers_at_once_do_not_pass_the_cap_together(live: Live):
    with ThreadPoolExecutor(16) as pool:
        granted = list(pool.map(lambda n: reserve(live, f"c{n}", tokens=10).granted, range(48)))
    assert sum(granted) == 10
    assert model_usage(live.run, since=DAY)[0].reserved == 100


def granted_together(live: Live, kind: str) -> int:
    """How often processes that begin at one moment are let in, in all."""
    # The day is there: making it would be a lock of its own.
    model_reserve(live.run, day=DAY, call="first", tokens=0, usd=0.0, most_tokens=1, most_usd=1.0)
    words = [sys.executable, "-m", "tests.support.reserving", live.server.uri]
    words += [live.server.password, DAY, kind]
    workers = [
        subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return sum(int(worker.communicate(timeout=120)[0]) for worker in workers)


@requirement("MEM-T119")
def test_processes_at_once_take_what_the_cap_allows_and_no_more(live: Live) -> None:
    assert granted_together(live, "locked") == MOST // TOKENS
    (day,) = model_usage(live.run, since=DAY)
    assert (day.reserved, round(day.reserved_usd, 6)) == (MOST, MOST_USD)


def test_without_the_lock_the_same_processes_pass_the_cap_together(live: Live) -> None:
    assert granted_together(live, "free") > MOST // TOKENS


def test_workers_at_once_stop_at_the_cap(live: Live, tmp_path: Path):
    """Each has a connection, a process and an account of its own; the graph is what they share."""
    with StubModel([{"then": {"json": {"answer": "yes"}, "usage": [500, 500]}}]) as stub:
        settings = model_settings(tmp_path, model="openai/x", base_url=f"{stub.url}/v1")
        most = 8_000
        answers: list[object] = []

        def work() -> None:
            with live.server.runner() as run:
                asked = asking(settings, GraphMeter(lambda: run, most, 1.0))
                answers.extend(asked.ask("extract", {"turns": []}, Answer) for _ in range(4))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        total = model_usage(live.run, since=today())[0]
        assert 0 < total.input_tokens + total.output_tokens <= most
        assert total.reserved == 0
        given = [a for a in answers if isinstance(a, Replied)]
        assert {a.reason for a in answers if isinstance(a, Skipped)} == {CAP}
        assert len(given) == len(stub.bodies()) == total.calls < 16


@requirement("MEM-T119")
def test_mkg_cost_shows_what_was_taken_and_what_is_left(live: Live, own_home: Path):
    live.server.write_user_file(own_home)
    nothing = CliRunner().invoke(app, ["cost"])
    assert nothing.exit_code == 0 and "no model was asked" in nothing.stdout
    meter = GraphMeter(lambda: live.run, 1_000, 1.0)
    call = Call("a", today(), 100, 0.1)
    assert meter.reserve(call)
    meter.settle(call, "extract", "openai/x", Spent(70, 20, 0.05), failed=False)
    told = CliRunner().invoke(app, ["cost"]).stdout
    assert "today: 90 of 500000 tokens, 0.0500 of 1.00 dollars" in told
    assert "extract openai/x" in told and "70 + 20 tokens" in told
    assert '"tokens": 90' in CliRunner().invoke(app, ["cost", "--json"]).stdout
