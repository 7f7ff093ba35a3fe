"""F12, F13 and F21: the gate, the ends of sessions and recall, with many at it at once."""

import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mkg.features.gate import review
from mkg.features.gate.review import By, Decided
from mkg.features.gate.rules import Rules
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner, store
from mkg.features.timeline import episode
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps, Identity
from mkg_hooks.payload import from_record
from tests.conftest import Live, Server
from tests.faults.outcome import Outcome, counted, times
from tests.faults.racing_gate import POINTS
from tests.faults.test_plan_windows import AHEAD, READ
from tests.hooks.launching import wait_until
from tests.support.embedding import minilm
from tests.support.events import record
from tests.support.gating import candidate
from tests.support.learned import SHOP
from tests.support.requirement import requirement
from tests.support.windows import session

Held = Callable[[Outcome], None]
ROOT = Path(__file__).parents[2]
OWNER = f"project:{SHOP}"
# CHK-10: more than one promotion of a learning; somebody who decided after a person did.
TWICE = """
MATCH (d:GateDecision {to: 'approved'})-[:DECIDED]->(l:Learning)
WHERE d.learning_id = l.id AND d.by <> 'human'
WITH l, count(d) AS times WHERE times > 1 RETURN l.id AS id
"""
OVERRULED = """
MATCH (h:GateDecision {by: 'human'})-[:DECIDED]->(l:Learning)<-[:DECIDED]-(m:GateDecision)
WHERE h.learning_id = l.id AND m.learning_id = l.id AND m.by <> 'human'
  AND m.decision_no > h.decision_no RETURN l.id AS id
"""
# CHK-11: a ring; two successors; a loser that is still told; two winners of one statement.
RINGS = "MATCH (a:Learning)-[:SUPERSEDES]->{1,20}(a) RETURN a.id AS id"
SUCCESSORS = """
MATCH (w:Learning)-[:SUPERSEDES]->(l:Learning)
WITH l, count(w) AS c WHERE c > 1 OR l.injectable = true RETURN l.id AS id
"""
WINNERS = """
MATCH (l:Learning) WHERE l.injectable = true AND l.reviewed_by IS NULL
WITH l.frame_key AS frame, count(l) AS c WHERE c > 1 RETURN frame
"""
# D22: what searches filter on is what the status says; decisions are numbered without a gap.
FILTERS = """
MATCH (l:Learning)
WHERE l.live <> (l.status IN ['approved', 'candidate']) OR l.injectable <> (l.status = 'approved'
  AND (l.safety_status = 'passed' OR l.reviewed_by = 'human') AND l.valid_until IS NULL)
RETURN l.id AS id
"""
GAPS = """
MATCH (l:Learning)<-[:DECIDED]-(d:GateDecision) WHERE d.learning_id = l.id
WITH l, count(d) AS n, count(DISTINCT d.decision_no) AS different, max(d.decision_no) AS most
WHERE n <> different OR most > l.decision_count RETURN l.id AS id
"""


def checked(live: Live) -> None:
    for check in (OVERRULED, RINGS, SUCCESSORS, WINNERS, FILTERS, GAPS):
        assert live.rows(check) == [], check


def statements(live: Live, count: int) -> None:
    """So many that wait; every two say another value of the same thing."""
    for half in range(2):
        said = [
            candidate(f"The {name(n)} service listens on port {7000 + 2 * n + half}.")
            for n in range(count // 2)
        ]
        at = (datetime.now(UTC) - timedelta(days=3 - half)).isoformat()
        store(
            live.run,
            said,
            [None] * len(said),
            owner=Owner(SHOP, "ann"),
            session_id=None,
            source="test",
            model=None,
            at=at,
            rules=Rules(on=False),
        )
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning) CREATE (l)-[:EVIDENCED_BY {explicit: true, start: 0, end: 1,"
        " origin: 'user_typed'}]->(:SessionEvent {event_id: l.id, session_id: l.id})"
    )


WORDS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay")


def name(number: int) -> str:
    """Two words, which another of them has in the other order: one subject, at one instant."""
    return f"{WORDS[number % 10]} {WORDS[number // 10]}"


def racer(live: Live, rounds: int, point: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.faults.racing_gate", live.server.uri]
    words += [live.server.password, OWNER, str(rounds), point]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


@requirement("SEC-10", "MEM-W11")
@pytest.mark.timeout(4 * 3600)
def test_f12_workers_and_a_person_decide_the_same_at_once(
    live: Live, form: str, held: Held
) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    trials, acked, stored = 0, list[str](), list[str]()
    for trial in range(times(form, 1, 50)):
        live.run.execute(
            "CYPHER 25\nMATCH (n:Learning|GateDecision|SessionEvent|Lease) DETACH DELETE n"
        )
        statements(live, {"short": 40, "long": 200}[form])
        others, rounds = {"short": (2, 8), "long": (5, 24)}[form]
        points = [*POINTS, *(["none"] * others)]
        workers = [racer(live, rounds, point) for point in points]
        decided = person_at_work(live, dice, workers, most=others * 3)
        codes = [worker.wait(120) for worker in workers]
        assert codes == [-signal.SIGKILL] * len(POINTS) + [0] * others
        for worker in workers:
            worker.communicate()
        # What the killed left is judged by whoever comes next.
        (last,) = [racer(live, rounds, "none")]
        assert last.wait(120) == 0
        last.communicate()
        checked(live)
        rows = live.rows("MATCH (l:Learning) RETURN l.id AS id, l.status AS s, l.reviewed_by AS by")
        status = {str(r["id"]): (r["s"], r["by"]) for r in rows}
        trials += len(rows)
        acked += [f"{trial} {id} {what}" for id, what in decided.items()]
        stored += [
            f"{trial} {id} {what}" for id, what in decided.items() if status[id] == (what, "human")
        ]
        promoted = [
            f"{trial} {r['id']}"
            for r in live.rows(
                "MATCH (d:GateDecision {to: 'approved'})-[:DECIDED]->(l:Learning)"
                " WHERE d.learning_id = l.id AND d.by <> 'human' RETURN l.id AS id"
            )
        ]
        replaced = live.value("MATCH (:Learning)-[s:SUPERSEDES]->(:Learning) RETURN count(s)")
        assert len(promoted) > len(rows) // 4 and decided and replaced != 0
        acked, stored = acked + promoted, stored + promoted
    held(
        counted(
            "F12",
            "workers, kills and a person decide",
            form,
            trials=trials,
            acknowledged=acked,
            stored=stored,
        )
    )


def person_at_work(
    live: Live, dice: random.Random, workers: list[subprocess.Popen[str]], *, most: int
) -> dict[str, str]:
    """Decide one of every two while others do; what was decided, by id."""
    decided: dict[str, str] = {}
    frames: set[object] = set()
    waiting = (
        # Those that workers have just read, more likely than not.
        "MATCH (l:Learning) WHERE l.status = 'candidate' AND l.reviewed_by IS NULL"
        " RETURN l.id AS id, l.frame_key AS frame"
        " ORDER BY coalesce(l.consistency_checked_at, l.created_at), l.created_at, id LIMIT 10"
    )
    while any(worker.poll() is None for worker in workers):
        rows = [r for r in live.rows(waiting) if r["frame"] not in frames]
        if not rows or len(decided) >= most:
            time.sleep(0.1)
            continue
        one = dice.choice(rows)
        (seen,) = review.standing(live.run, id=str(one["id"]))
        time.sleep(dice.uniform(0, 0.05))
        action = dice.choice(["approve", "reject"])
        made = review.decide(
            live.run,
            seen,
            "approve" if action == "approve" else "reject",
            By("ann"),
            at=datetime.now(UTC).isoformat(),
        )
        if isinstance(made, Decided):
            frames.add(one["frame"])
            decided[seen.id] = "approved" if action == "approve" else "rejected"
    return decided


NAMES = [(f"host/acme/p{n % 4}", f"stop{n}") for n in range(16)]
PROCESSES = {"short": 4, "long": 12}
ENDS = """
MATCH (p:Project)
RETURN p.id AS id, COUNT { (p)-[:HAS_OBSERVATION]->(:Episode) } AS episodes,
  COUNT { (p)-[:LATEST_OBSERVATION]->(:Episode) } AS latest,
  COUNT { (p)-[:LATEST_OBSERVATION]->(:Episode)<-[:NEXT]-{3}(:Episode) } AS chain,
  COUNT { (p)-[:HAS_OBSERVATION]->(e:Episode) WHERE NOT (e)-[:NEXT]->() } AS ends
ORDER BY id
"""


@requirement("SEC-10", "MEM-W66", "MEM-W69")
@pytest.mark.timeout(4 * 3600)
def test_f13_many_processes_end_many_sessions_at_once(
    live: Live, tmp_path: Path, form: str, held: Held
) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    acked, stored, trials = list[str](), list[str](), 0
    for trial in range(times(form, 1, 40)):
        live.run.execute(
            "CYPHER 25\nMATCH (n:Learning|GateDecision|Session|SessionEvent|Episode|Project|Lease"
            "|ProjectProcessing|User) DETACH DELETE n"
        )
        for n, (project, name) in enumerate(NAMES):
            fact = f"Remember that releases of {project[-2:]} are cut from the trunk branch."
            session(live, fact, name=name, start=10 * n, project=project)
        go = tmp_path / f"go{trial}"
        processes = [stopping(live, go, dice) for _ in range(PROCESSES[form])]
        for process in processes:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        go.touch()
        # Two of them die in the middle; what they held is free when its time is over.
        for process in processes[:2]:
            time.sleep(dice.uniform(0, 0.2))
            wait_until(lambda: live.value(TAKEN) != 0, 60)
            process.kill()
        codes = [process.wait(120) for process in processes]
        for process in processes:
            process.communicate()
        assert codes[2:] == [0] * (PROCESSES[form] - 2)
        wait_until(lambda: all_read(live), 60)
        for _, name in NAMES:
            episode.record(live.run, None, session_id=name)
        trials += PROCESSES[form] * len(NAMES)
        acked += [f"{trial}{r['id']}" for r in live.rows(EVENTS)]
        stored += [f"{trial}{r['id']}" for r in live.rows(READ)]
        ended(live)
    held(
        counted(
            "F13",
            "processes end sixteen sessions",
            form,
            trials=trials,
            acknowledged=acked,
            stored=stored,
        )
    )


TAKEN = "MATCH (p:ProjectProcessing) RETURN count(p)"
EVENTS = "MATCH (e:SessionEvent) RETURN e.event_id AS id"


def all_read(live: Live) -> bool:
    for project, name in NAMES:
        learn(live.run, None, session_id=name, owner=Owner(project, "ann"))
    return live.rows(AHEAD) == []


def stopping(live: Live, go: Path, dice: random.Random) -> subprocess.Popen[str]:
    names = [f"{project}:{name}" for project, name in dice.sample(NAMES, len(NAMES))]
    words = [sys.executable, "-m", "tests.faults.stopping_process", live.server.uri]
    words += [live.server.password, str(go), *names]
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def ended(live: Live) -> None:
    """One episode a session, one pointer and one chain a project, every support counted once."""
    checked(live)
    projects = sorted({project for project, _ in NAMES})
    assert live.rows(ENDS) == [
        {"id": p, "episodes": 4, "latest": 1, "chain": 1, "ends": 1} for p in projects
    ]
    assert live.rows(
        "MATCH (l:Learning) RETURN l.project_id AS p, l.support_count AS n, l.status AS s,"
        " COUNT { (l)-[:FROM_SESSION]->() } AS sessions ORDER BY p"
    ) == [{"p": p, "n": 4, "s": "approved", "sessions": 4} for p in projects]
    assert live.rows(TWICE) == []
    runs = "MATCH (p:ProjectProcessing) RETURN count(p) AS runs, sum(p.times) AS times"
    assert live.rows(runs) == [{"runs": len(NAMES), "times": len(NAMES)}]
    assert (
        live.value(
            "MATCH (l:Lease) WHERE l.owner IS NOT NULL AND l.key STARTS WITH 'window:'"
            " AND l.expires_at > datetime.realtime() RETURN count(l)"
        )
        == 0
    )


PLACES = ("staging", "billing", "search", "mail", "queue", "cache", "auth", "metrics")


class Writer(threading.Thread):
    """Adds what may be told and what may not, and rejects some of it again."""

    def __init__(self, server: Server, number: int, over: threading.Event) -> None:
        super().__init__()
        self.number, self.over, self.wrong = number, over, list[str]()
        self.never = set[str]()
        self.rejected: dict[str, float] = {}
        self.added = 0
        self._server = server

    def run(self) -> None:
        with self._server.runner() as run:
            n = 0
            while not self.over.is_set():
                n += 1
                self._once(run, n)

    def _once(self, run: Any, n: int) -> None:
        place = PLACES[n % len(PLACES)]
        text = f"The {place} host {self.number} of rack {n} is called zan{self.number}x{n}."
        kind = n % 4
        owner = Owner("host/acme/other" if kind == 1 else SHOP, "ann")
        origin = "mcp_write" if kind == 2 else "user_typed"
        (made,) = store(
            run,
            [candidate(text, origin=origin)],
            [minilm().embed([text])[0]],
            owner=owner,
            session_id=None,
            source="test",
            model=minilm().model,
            at=datetime.now(UTC).isoformat(),
        )
        assert made.upserted is not None
        self.added += 1
        if kind in (1, 2):
            self.never.add(made.upserted.id)
        elif kind == 3:
            (seen,) = review.standing(run, id=made.upserted.id)
            at = datetime.now(UTC).isoformat()
            if isinstance(review.decide(run, seen, "reject", By("ann"), at=at), Decided):
                self.rejected[made.upserted.id] = time.monotonic()


class Reader(threading.Thread):
    """Asks again and again as a client's hook does, ten prompts a session."""

    def __init__(self, live: Live, home: Path, number: int, over: threading.Event) -> None:
        super().__init__()
        self.number, self.over, self.live, self.home = number, over, live, home
        self.told: list[tuple[str, str, float]] = []
        self.prompts = 0

    def run(self) -> None:
        spooled: list[dict[str, Any]] = []
        with self.live.server.runner() as run:
            deps = Deps(run, minilm(), self.live.settings(self.home), spool=spooled.append)
            while not self.over.is_set():
                self._session(deps, spooled)

    def _session(self, deps: Deps, spooled: list[dict[str, Any]]) -> None:
        name = f"reads{self.number}-{self.prompts}"
        deps.memory.of(name).identity = Identity(SHOP, "shop", "ann", "test")
        for _ in range(10):
            self.prompts += 1
            place = PLACES[self.prompts % len(PLACES)]
            made = record(
                "UserPromptSubmit",
                session=name,
                key=f"{name}:{self.prompts}",
                second=self.prompts,
                cwd=str(self.home),
                prompt=f"What is the {place} host called, the one in rack {self.prompts}?",
            )
            event = from_record(made)
            began = time.monotonic()
            result = dispatch.answer(event, deps)
            dispatch.delivered(event, result, deps)
            self.told += [(name, id, began) for id in result.ids]
            dispatch.apply([made, *spooled], deps)
            spooled.clear()


@requirement("SEC-10", "SEC-31", "MEM-W16")
@pytest.mark.timeout(4 * 3600)
def test_f21_recall_while_many_write(live: Live, tmp_path: Path, form: str, held: Held) -> None:
    over = threading.Event()
    # The model's file is loaded once, before threads ask for it.
    minilm().embed(["warm"])
    writers = [Writer(live.server, n, over) for n in range(8)]
    readers = [Reader(live, tmp_path, n, over) for n in range(4)]
    for thread in (*writers, *readers):
        thread.start()
    over.wait(times(form, 4, 600))
    over.set()
    for thread in (*writers, *readers):
        thread.join(60)
    told = [one for reader in readers for one in reader.told]
    never = {id for writer in writers for id in writer.never}
    rejected = {id: at for writer in writers for id, at in writer.rejected.items()}
    assert min(reader.prompts for reader in readers) > 1 and len(told) > 5
    assert never and rejected
    assert [id for _, id, _ in told if id in never] == []
    assert [id for _, id, began in told if id in rejected and rejected[id] < began] == []
    unfit = (
        "MATCH (l:Learning)-[i:INJECTED_IN]->(s:Session)"
        " WHERE l.owner_key <> $owner OR l.status = 'quarantined' RETURN l.id AS id"
    )
    assert live.rows(unfit, owner=OWNER) == []
    there = live.rows(
        "MATCH (l:Learning)-[i:INJECTED_IN]->(s:Session) RETURN s.session_id + ' ' + l.id AS k"
    )
    # An item twice in a session would stand twice in what was told.
    assert len({(name, id) for name, id, _ in told}) == len(told)
    held(
        counted(
            "F21",
            "recall while eight write",
            form,
            trials=sum(r.prompts for r in readers) + sum(w.added for w in writers),
            acknowledged=[f"{name} {id}" for name, id, _ in told],
            stored=[str(r["k"]) for r in there],
        )
    )
