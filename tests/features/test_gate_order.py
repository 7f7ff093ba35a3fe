"""One order for all statements: however they come, one is current and the chain of values ends."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mkg.bundle import Runner
from mkg.features import gate, learnings
from mkg.features.gate.rules import Rules
from mkg.features.gate.sweep import AGAIN, sweep
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.gating import NOON, candidate, gated, told_in
from tests.support.requirement import requirement

# The words of a subject in another order are the same subject; each has a value of its own.
TEXTS = [
    f"The {name} service listens on port {port}."
    for port, name in enumerate(["ant bee", "bee ant", "ant bee", "bee ant", "ant bee"], start=7000)
]
OFF = Rules(on=False)
_PLACES = count()


@dataclass(frozen=True)
class Saying:
    """One statement: which, when it was said, and whether it has to wait for a sweep."""

    text: str
    second: int
    waits: bool


SAYINGS = st.builds(Saying, st.sampled_from(TEXTS), st.integers(0, 2), st.booleans())
PARTS = st.lists(st.lists(SAYINGS, min_size=1, max_size=4), min_size=1, max_size=4)


def examples(number: int) -> settings:
    health = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=number, deadline=None, suppress_health_check=health)


def said(live: Live, parts: Sequence[Sequence[Saying]], project: str) -> None:
    """Each part through the gate as one batch, in the order in which they come."""
    number = count()
    # What was said at one instant was said in one prompt.
    seconds = {s.second for part in parts for s in part}
    events = {n: told_in(live, "x", f"{project} {n}", second=n) for n in seconds}
    for part in parts:
        for waits in (True, False):
            made = [candidate(s.text, event=events[s.second]) for s in part if s.waits is waits]
            at = NOON + timedelta(hours=1, seconds=next(number))
            if made:
                gated(live, made, project=project, rules=OFF if waits else Rules(), at=at)


def swept(live: Live, project: str, rounds: int = 2, limit: int = 20) -> None:
    for n in range(rounds):
        sweep(
            live.run,
            minilm(),
            learnings.embed,
            owner_keys=[f"project:{project}"],
            rules=Rules(sweep=limit),
            now=NOON + timedelta(days=1) + n * 2 * AGAIN,
        )


def ends(live: Live, project: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    owner = f"project:{project}"
    nodes = live.rows(
        "MATCH (l:Learning {owner_key: $owner}) RETURN l.text AS text, l.status AS status,"
        " l.injectable AS injectable, l.live AS live, l.valid_from AS since,"
        " l.valid_until AS until ORDER BY text, status, since, until",
        owner=owner,
    )
    made = live.rows(
        "MATCH (a:Learning {owner_key: $owner})-[r]->(b:Learning) RETURN a.text AS a, type(r) AS r,"
        " b.text AS b, r.confirmed AS c ORDER BY a, r, b, c",
        owner=owner,
    )
    return nodes, made


def current_of(live: Live, owner: str) -> str:
    """The one that is current; a chain has no ring, and nobody two who came after."""
    current = live.rows(
        "MATCH (l:Learning {owner_key: $owner, injectable: true}) RETURN l.text AS text",
        owner=owner,
    )
    assert len(current) == 1, current
    successors = live.rows(
        "MATCH (w:Learning)-[:SUPERSEDES]->(l:Learning {owner_key: $owner})"
        " WITH l, count(w) AS n WHERE n > 1 OR l.injectable OR l.valid_until IS NULL"
        " RETURN l.text AS text, n",
        owner=owner,
    )
    assert successors == []
    ring = "MATCH (a:Learning {owner_key: $owner})-[:SUPERSEDES]->{1,20}(a) RETURN a.text AS text"
    assert live.rows(ring, owner=owner) == []
    return str(current[0]["text"])


def one_is_current(live: Live, parts: list[list[Saying]]) -> None:
    found: list[object] = []
    every = [s for part in parts for s in part]
    last = [s for s in every if s.second == max(e.second for e in every)]
    # A value that was replaced does not come back by a statement that has to wait.
    latest = {s.text for s in (every if all(s.waits for s in last) else last)}
    for split in (
        parts,
        [[s] for part in parts for w in (True, False) for s in part if s.waits is w],
    ):
        project = f"host/acme/order-{next(_PLACES)}"
        said(live, split, project)
        swept(live, project)
        assert current_of(live, f"project:{project}") in latest
        found.append(ends(live, project))
    assert found[0] == found[1]


@requirement("MEM-T206")
@given(PARTS)
@examples(40)
def test_of_statements_in_any_order_one_is_current(live: Live, parts: list[list[Saying]]) -> None:
    one_is_current(live, parts)


A, B, C = TEXTS[0], TEXTS[1], TEXTS[2]


@pytest.mark.parametrize(
    ("sayings", "current"),
    [
        pytest.param([(A, 0, True), (B, 0, True)], B, id="waiting at one instant"),
        pytest.param([(B, 0, True), (A, 0, True)], A, id="the other way round"),
        pytest.param([(C, 0, True), (B, 0, True), (A, 0, True)], A, id="three at one instant"),
        pytest.param([(A, 0, False), (B, 0, False)], B, id="told at one instant"),
        pytest.param([(B, 2, False), (A, 1, False)], B, id="told late"),
        pytest.param([(A, 0, False), (A, 2, False), (B, 1, False)], A, id="told again"),
        pytest.param([(A, 0, True), (B, 1, True), (A, 2, True)], A, id="waits again"),
        pytest.param([(A, 0, True), (B, 1, False), (A, 2, False)], A, id="closed while it waited"),
        pytest.param([(A, 0, True), (B, 1, False), (A, 1, False)], B, id="closed at that instant"),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_the_last_that_was_said_is_current(
    live: Live, sayings: list[tuple[str, int, bool]], current: str, together: bool
) -> None:
    made = [Saying(*saying) for saying in sayings]
    one_kind = len({s.waits for s in made}) == 1
    said(live, [made] if together and one_kind else [[s] for s in made], "host/acme/shop")
    swept(live, "host/acme/shop")
    assert current_of(live, "project:host/acme/shop") == current


@pytest.mark.soak
@pytest.mark.timeout(1800)
@given(PARTS)
@examples(400)
def test_of_many_statements_in_any_order_one_is_current(
    live: Live, parts: list[list[Saying]]
) -> None:
    one_is_current(live, parts)


def test_two_sweeps_that_read_the_same_end_with_one_current(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts about a user are swept from each of their projects, here by two at once."""
    projects = ("host/acme/one", "host/acme/two")
    event = told_in(live, "x", "s1")
    for project in projects:
        made = [candidate(text, event=event, scope="user") for text in TEXTS]
        gated(live, made, project=project, rules=OFF)
    both = threading.Barrier(2)
    read = gate.oldest

    def at_once(run: Runner, **more: Any) -> list[gate.Old]:
        rows = read(run, **more)
        both.wait(30)
        # One of them has them in another order, as if it had read them another time.
        return rows if more["owner_keys"][0].endswith("one") else rows[::-1]

    monkeypatch.setattr(gate, "oldest", at_once)
    moved: list[int] = []

    def one(project: str) -> None:
        with live.server.runner() as run:
            owners = [f"project:{project}", "user:ann"]
            now = NOON + timedelta(days=1)
            found = sweep(
                run, minilm(), learnings.embed, owner_keys=owners, rules=Rules(sweep=20), now=now
            )
            moved.append(found.moved)

    threads = [threading.Thread(target=one, args=(project,)) for project in projects]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(moved) == 2 and 0 < sum(moved) <= len(TEXTS)
    assert current_of(live, "user:ann") == TEXTS[-1]
