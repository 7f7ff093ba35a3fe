"""F10 and F11: a window whose reader is killed or late, or whose model fails in every way."""

import os
import signal
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from mkg.features.gate.rules import Rules
from mkg.features.learnings.windows import MOST_ATTEMPTS, learn
from mkg.features.learnings.write import Owner
from mkg.llm import Model
from tests.clients.kit.stub_model import StubModel
from tests.conftest import Live
from tests.faults import crashing_reader
from tests.faults.crashing_reader import POINTS
from tests.faults.outcome import Outcome, counted, times
from tests.faults.ready import started
from tests.hooks.launching import wait_until
from tests.support.learned import SHOP
from tests.support.models import Account, asking, model_settings
from tests.support.plain_model import Plain
from tests.support.requirement import requirement
from tests.support.windows import PORT, proposal, rules, session

Held = Callable[[Outcome], None]
NONE: Mapping[int, float] = {}
# CHK-07: an event once for each finished window that took it.
READ = """
MATCH (e:SessionEvent)<-[:PROCESSED_EVENT]-(p:ProjectProcessing {status: 'ok'})
UNWIND range(1, p.times) AS _ RETURN e.event_id AS id
"""
# CHK-08: what came of a window belongs to it alone, and a model is named where one was asked.
STRAY = """
MATCH (l:Learning) WHERE COUNT { (l)<-[:PRODUCED_LEARNING]-() } <> 1 RETURN l.id AS id
UNION MATCH (e:Episode) WHERE COUNT { (e)<-[:PRODUCED_OBSERVATION]-() } <> 1 RETURN e.id AS id
UNION MATCH (p:ProjectProcessing {status: 'ok', llm_status: 'ok'})
WHERE NOT EXISTS { (p)-[:PRODUCED_OBSERVATION]->() } RETURN p.id AS id
"""
AHEAD = """
MATCH (s:Session) WHERE coalesce(s.processed_seq, 0) <> s.event_count RETURN s.session_id AS id
"""


def fact(number: int) -> dict[str, Any]:
    """What the model notes of one session, so that no two give the same learning."""
    port = 7001 + 10 * number
    return proposal(
        quote=f"billing seems to answer on {port}", text=f"Billing {number} answers on {port}."
    )


def said(number: int) -> str:
    return PORT.replace("7001", str(7001 + 10 * number))


def scripts(count: int, slow: Mapping[int, float] = NONE) -> list[dict[str, Any]]:
    """A model that finds in each session what was said there; the first answer to some is late."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        one = rules(fact(n))[0]
        one = {**one, "name": f"extract {n}", "when": {**one["when"], "any": words_of(n)}}
        if n in slow:
            made.append({**one, "times": 1, "then": {**one["then"], "delay": slow[n]}})
        made.append(one)
    return [*made, *rules()[1:]]


def words_of(number: int) -> str:
    return f"answer on {7001 + 10 * number} "


def reader(live: Live, stub: StubModel, name: str, point: str, ttl_ms: int = 300) -> BaseProcess:
    server, base = live.server, f"{stub.url}/v1"
    return started(
        crashing_reader.read, server.uri, server.password, base, name, point, f"{ttl_ms}"
    )


def read(live: Live, model: Model | None, name: str) -> int:
    found = learn(
        live.run, None, session_id=name, owner=Owner(SHOP, "ann"), rules=Rules(model=model)
    )
    return found.events


def asked(stub: StubModel, number: int) -> int:
    """How often the model was asked about a session."""
    return sum(e["rule"] == f"extract {number}" for e in list(stub.entries))


@requirement("SEC-10", "MEM-W66")
@pytest.mark.timeout(4 * 3600)
def test_f10_a_reader_is_killed_at_each_step_of_a_window(live: Live, form: str, held: Held) -> None:
    rounds = times(form, 1, 50)
    trials, points = rounds * len(POINTS), POINTS * rounds
    slow = {n: 60.0 for n, point in enumerate(points) if point == "asked"} | {trials: 2.0}
    with StubModel(scripts(trials + 1, slow)) as stub:
        model = Plain(f"{stub.url}/v1")
        for n, point in enumerate(points):
            name = f"s{n}"
            session(live, said(n), name=name, start=10 * n)
            process = reader(live, stub, name, point)
            if point == "asked":
                wait_until(lambda n=n: asked(stub, n) == 1, 60)
                process.kill()
            process.join(60)
            assert process.exitcode == -signal.SIGKILL, point
            # The lease of the dead runs out by itself; until then nobody reads what it held.
            wait_until(lambda name=name: read(live, model, name) or unread(live, name) == 0, 30)
            assert unread(live, name) == 0
            crashed_with_an_answer = point not in {"claimed", "after the transaction"}
            assert asked(stub, n) == 1 + crashed_with_an_answer, point
        late(live, stub, model, trials)
    checked(live)
    events = [str(r["id"]) for r in live.rows("MATCH (e:SessionEvent) RETURN e.event_id AS id")]
    found = [str(r["id"]) for r in live.rows(READ)]
    assert live.value("MATCH (l:Learning) RETURN count(l)") == trials + 1
    held(
        counted(
            "F10",
            "reader killed at each step, or late",
            form,
            trials=trials + 1,
            acknowledged=events,
            stored=found,
        )
    )


def late(live: Live, stub: StubModel, model: Model, number: int) -> None:
    """A reader stands still with its answer on the way; another one reads, then it goes on."""
    name = f"s{number}"
    session(live, said(number), name=name, start=10 * number)
    process = reader(live, stub, name, "none", ttl_ms=1000)
    wait_until(lambda: asked(stub, number) == 1, 60)
    pid = int(process.pid or 0)
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: read(live, model, name) == 2, 30)
    finally:
        os.kill(pid, signal.SIGCONT)
    process.join(60)
    assert process.exitcode == crashing_reader.READ


def unread(live: Live, name: str) -> object:
    return live.value(
        "MATCH (s:Session {session_id: $n}) RETURN s.event_count - coalesce(s.processed_seq, 0)",
        n=name,
    )


def checked(live: Live) -> None:
    """CHK-07 and CHK-08: each event in one window, each product of one."""
    assert live.rows(STRAY) == []
    assert live.rows(AHEAD) == []
    assert live.value("MATCH (p:ProjectProcessing) RETURN sum(p.times) = count(p)") is True


FAILURES: dict[str, dict[str, Any]] = {
    "429": {"status": 429, "error": "slow down"},
    "500": {"status": 500, "error": "not today"},
    "hangs": {"delay": 30},
    "cut off": {"text": '{"learnings": [{"action": "create", "tu'},
    "no schema": {"json": [1, "learnings"]},
    "empty": {"text": ""},
    "no JSON at all": {"bad_body": True},
}
# Nobody answers: that gives nothing up, however often it is tried.
OUTAGES = {"429", "500", "hangs", "no JSON at all"}


@requirement("SEC-10", "MEM-W53")
@pytest.mark.timeout(4 * 3600)
def test_f11_a_model_fails_in_every_way(live: Live, tmp_path: Path, form: str, held: Held) -> None:
    # In the long form each way fails five times in every other round, in the short one once.
    ways = list(FAILURES.items()) * times(form, 1, 10)
    trials = 0
    for n, (name, failure) in enumerate(ways):
        long = (form == "long" and n % 2 == 1) or name in {"empty", "500"}
        gives_up = long and name not in OUTAGES
        session(
            live, f"{said(n)} Remember that host {n} is called zan{n}.", name=f"f{n}", start=9 * n
        )
        with StubModel([{"then": failure}]) as stub:
            settings = model_settings(
                tmp_path, model="openai/x", base_url=f"{stub.url}/v1", retries=0, timeout_s=0.7
            )
            model = asking(settings, Account())
            for attempt in range(1, MOST_ATTEMPTS):
                trials += 1
                assert read(live, model, f"f{n}") == 0, name
                (node,) = live.rows(
                    "MATCH (p:ProjectProcessing {session_id: $s}) RETURN p.status AS status,"
                    " p.attempt_count AS tries, p.llm_error IS NOT NULL AS told,"
                    " COUNT { (p)-->() } AS products",
                    s=f"f{n}",
                )
                assert node == {"status": "error", "tries": attempt, "told": True, "products": 0}
                assert unread(live, f"f{n}") == 2
                if not long and attempt == 2:
                    break
            if long and not gives_up:
                trials += 1
                assert read(live, model, f"f{n}") == 0
                assert unread(live, f"f{n}") == 2
            if gives_up:
                trials += 1
                assert read(live, model, f"f{n}") == 2
                state = "MATCH (p:ProjectProcessing {session_id: $s}) RETURN p.llm_status"
                assert live.value(state, s=f"f{n}") == "failed"
        if not gives_up:
            # It is there again, and reads what waited.
            with StubModel(scripts(len(ways))) as stub:
                assert read(live, Plain(f"{stub.url}/v1"), f"f{n}") == 2
    events = [str(r["id"]) for r in live.rows("MATCH (e:SessionEvent) RETURN e.event_id AS id")]
    found = [str(r["id"]) for r in live.rows(READ)]
    assert live.rows(AHEAD) == []
    # Rules found one in each, the model one in each that it could read: none is half there.
    by_rules = "MATCH (l:Learning) WHERE l.text CONTAINS 'called zan' RETURN count(l)"
    assert live.value(by_rules) == len(ways)
    ok = live.value("MATCH (p:ProjectProcessing {llm_status: 'ok'}) RETURN count(p)")
    assert live.value("MATCH (l:Learning) RETURN count(l)") == len(ways) + int(str(ok))
    held(
        counted(
            "F11",
            "model fails in every way",
            form,
            trials=trials,
            acknowledged=events,
            stored=found,
        )
    )
