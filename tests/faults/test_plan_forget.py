"""F25: taking back while everything goes on, and with the command itself killed by kill -9."""

import json
import random
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mkg.features import timeline
from tests.conftest import Live
from tests.faults.outcome import Outcome, counted, times
from tests.faults.test_path import User, made_user, stated, told
from tests.faults.test_plan_graph import CHAIN, Steady, without_model
from tests.features.test_forget import holding, whole
from tests.support.events import row
from tests.support.learned import SHOP
from tests.support.proxy import Proxy
from tests.support.requirement import requirement

Held = Callable[[Outcome], None]
SMALL = Path(__file__).with_name("forget_in_small_steps.py")
SIZE = {"short": 200, "long": 10_000}
KILLS = {"short": 1, "long": 8}
LEARNED = """CYPHER 25
MATCH (e:SessionEvent {event_name: 'UserPromptSubmit', project_id: $project})
MATCH (p:Project {id: $project}), (s:Session {session_id: e.session_id})
CREATE (p)-[:HAS_LEARNING]->(l:Learning {id: 'learning:' + e.event_id, short_id: e.event_id,
  value_key: e.event_id, text: e.prompt, status: 'approved', live: true, injectable: true,
  origin: 'user_typed', scope: 'project', owner_key: 'project:' + $project, support_count: 1,
  decision_count: 1, created_at: e.timestamp, terms: e.prompt,
  embedding: [_ IN range(1, 384) | 0.1], embedding_model: 'none'})
CREATE (l)-[:FROM_SESSION {at: e.timestamp}]->(s)
CREATE (l)-[:EVIDENCED_BY {quote: e.prompt, start: 0, end: 9, origin: 'user_typed'}]->(e)
CREATE (:GateDecision {id: l.id + ':d1', learning_id: l.id, decision_no: 1, to: 'approved',
  by: 'gate', reason: e.prompt, at: e.timestamp})-[:DECIDED]->(l)
"""


@pytest.fixture
def person(live: Live, tmp_path: Path) -> Iterator[User]:
    """A user with a worker; vectors are no part of this."""
    parts = urlsplit(live.server.uri)
    link = Proxy(str(parts.hostname), int(parts.port or 7687))
    link.open()
    made = without_model(made_user(live, tmp_path, link))
    made.mkg("worker", "start")
    yield made
    made.mkg("worker", "stop", check=False)
    link.close()


def forget(person: User, *words: str, kill: Callable[[], None] | None = None) -> tuple[int, str]:
    """`mkg forget`, killed when `kill` returns; its exit code and what it said."""
    command = [sys.executable, str(SMALL), *words]
    process = subprocess.Popen(
        command, env=person.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if kill is not None:
        kill()
        process.kill()
    out, _ = process.communicate(timeout=600)
    return process.returncode, out


def killed_somewhere(live: Live, dice: random.Random, span: float) -> Callable[[], None]:
    """Wait until a wish is marked, then a little longer; one that is done gets no longer wait."""

    def wait() -> None:
        until = time.monotonic() + 15
        state = "MATCH (f:Forgetting) WHERE f.state <> 'done' RETURN count(f)"
        while live.value(state) == 0 and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(dice.uniform(0, span))

    return wait


@requirement("SEC-81", "SEC-86", "SEC-87")
@pytest.mark.timeout(4 * 3600)
def test_f25_a_text_is_forgotten_while_everything_goes_on(
    person: User, live: Live, form: str, held: Held
) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    wishes = times(form, 1, 25)
    with Steady(person) as steady:
        for trial in range(wishes):
            canary = f"zanzibar{uuid.uuid4().hex[:10]}"
            for n in range(2):
                text = f"Remember that the staging host number {n} is called {canary}-{n}."
                stated(person, text, f"c{trial}-{n % 2}")
            person.drained()
            assert {"SessionEvent", "Learning"} <= set(holding(live, canary))
            told(person, f"Where is {canary}?", f"asks{trial}")
            if trial % 2 == 0:
                killing = killed_somewhere(live, dice, 0.3)
                forget(person, "--text", canary, "--yes", "--json", kill=killing)
            told(person, "Which staging host do we have?", f"asks{trial}")
            code, out = forget(person, "--text", canary, "--yes", "--json")
            assert code == 0 and json.loads(out)["gone"] is True, out
            receipt = json.loads(out)["receipt"]
            assert canary not in Path(receipt).read_text(encoding="utf-8")
            assert forget(person, "--text", canary, "--verify")[0] == 0
            assert forget(person, "--verify", "--receipt", receipt)[0] == 0
            assert holding(live, canary) == {}
            # What the worker knew by heart is gone as well.
            assert canary not in told(person, "Which staging host do we have?", f"asks{trial}")
    person.drained()
    assert holding(live, "zanzibar") == {}
    assert live.rows(CHAIN) == []
    keys = live.rows(
        "MATCH (e:SessionEvent) WHERE e.tool_use_id IS NOT NULL RETURN e.tool_use_id AS k"
    )
    held(
        counted(
            "F25",
            "forgotten while events come",
            form,
            trials=steady.trials + wishes,
            acknowledged=steady.acked,
            stored=[str(r["k"]) for r in keys],
        )
    )
    whole(live)


def stocked(live: Live, project: str, count: int) -> None:
    """So many learnings of a project, each with the event that it was typed in."""
    each = 50
    for start in range(0, count, each):
        events = [
            row(
                "UserPromptSubmit",
                session=f"{project}-{start}",
                second=start + n,
                prompt=f"The {project} host number {start + n} is called zanzibar{start + n}.",
                origin="user_typed",
                project=project,
            )
            for n in range(each)
        ]
        timeline.append(live.run, events=events)
    live.run.execute(LEARNED, {"project": project})


@requirement("SEC-81", "SEC-86", "SEC-87")
@pytest.mark.timeout(4 * 3600)
def test_a_large_project_is_forgotten_although_the_command_is_killed_again_and_again(
    live: Live, tmp_path: Path, form: str
) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    link = Proxy(*_place(live))
    link.open()
    person = without_model(made_user(live, tmp_path, link))
    stocked(live, SHOP, SIZE[form])
    stocked(live, "other", 50)
    words = ("--project", SHOP, "--yes", "--json")
    for _ in range(KILLS[form]):
        killing = killed_somewhere(live, dice, SIZE[form] / 1000)
        code, out = forget(person, *words, kill=killing)
        if code == 0:
            break
        assert code == -9, out
    code, out = forget(person, *words)
    assert code == 0, out
    assert json.loads(out)["gone"] is True
    assert forget(person, "--project", SHOP, "--verify")[0] == 0
    receipts = list((person.home / "mkg" / "forgotten").iterdir())
    assert [forget(person, "--verify", "--receipt", str(r))[0] for r in receipts] == [0] * len(
        receipts
    )
    assert live.value("MATCH (n) WHERE n.project_id = $p OR n.id = $p RETURN count(n)", p=SHOP) == 0
    assert live.rows("MATCH (l:Learning) RETURN l.owner_key AS o, count(l) AS n") == [
        {"o": "project:other", "n": 50}
    ]
    assert live.value("MATCH (e:SessionEvent) RETURN count(e)") == 50
    # Every wish counted what it did, once.
    counts = "MATCH (f:Forgetting) RETURN sum(f.events) AS e, sum(f.learnings) AS l"
    assert live.rows(counts) == [{"e": SIZE[form], "l": SIZE[form]}]
    whole(live)
    link.close()


def _place(live: Live) -> tuple[str, int]:
    parts = urlsplit(live.server.uri)
    return str(parts.hostname), int(parts.port or 7687)
