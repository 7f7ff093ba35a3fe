"""No search of one project or user ever returns a row of another, by words or by meaning."""

import random

import pytest

from mkg import lexical
from mkg.features.learnings import retrieval
from mkg.features.timeline import recall
from tests.conftest import Live
from tests.support.requirement import requirement

WORDS = [
    "deploy",
    "staging",
    "database",
    "port",
    "cache",
    "queue",
    "worker",
    "token",
    "login",
    "invoice",
    "order",
    "parser",
]
MODEL = "drawn"
SEED = (
    "UNWIND $rows AS row "
    "CREATE (l:Learning) SET l = row.shared, "
    "l.short_id = row.shared.id, l.text = row.shared.terms, "
    "l.value_key = row.shared.id, l.status = 'approved', l.scope = 'project', "
    "l.kind = 'fact', "
    "l.origin = 'user_typed', l.confidence = 0.5, l.consolidated = false, "
    "l.created_at = datetime(), l.updated_at = datetime(), l.retrieval_count = 0 "
    "CREATE (e:Episode) SET e = row.shared, e.type = 'turn', e.title = row.shared.terms, "
    "e.narrative = row.shared.terms, e.session_id = 'same', e.ended_at = datetime()"
)


def drawn(chance: random.Random) -> list[float]:
    return [chance.gauss(0, 1) for _ in range(384)]


def sow(live: Live, owners: list[str], each: int, chance: random.Random) -> None:
    """The same words and scattered vectors for every owner: only the scope tells them apart."""
    rows = [
        {
            "shared": {
                "id": f"{owner}#{number}",
                "terms": " ".join(chance.sample(WORDS, 4)),
                "live": True,
                "injectable": True,
                "owner_key": owner,
                "owner_token": lexical.owner_token(owner),
                "embedding": drawn(chance),
                "embedding_model": MODEL,
            }
        }
        for owner in owners
        for number in range(each)
    ]
    live.run.execute(f"CYPHER 25\n{SEED}", {"rows": rows})


def leaks(live: Live, owners: list[str], queries: int, chance: random.Random) -> tuple[int, int]:
    """How many rows came back, and how many of them belong to somebody else."""
    rows = strange = 0
    for number in range(queries):
        owner = chance.choice(owners)
        terms = chance.sample(WORDS, 3)
        vector = None if number % 5 == 0 else drawn(chance)
        query = retrieval.Query(" ".join(terms), terms, vector, MODEL, None)
        found = retrieval.pull(live.run, query, owner_key=owner, statuses=["approved"], limit=10)
        ids = [row.id for row in found]
        project = owner.removeprefix("project:")
        if project != owner:
            ids += [hit.id for hit in recall.find(live.run, query, project_id=project, limit=10)]
            told = retrieval.at_prompt(
                live.run, query, project_id=project, session_id=None, excluded=[], limit=5
            )
            ids += [hit.id for hit in told.hits]
        rows += len(ids)
        strange += sum(not id.startswith(f"{owner}#") for id in ids)
    return rows, strange


def owners_of(projects: int) -> list[str]:
    return [f"project:host/acme/p{n}" for n in range(projects)] + ["user:ann", "user:bob"]


@requirement("SEC-90", "MEM-W26")
def test_no_row_of_another_project_or_user_comes_back(live: Live) -> None:
    chance, owners = random.Random(5), owners_of(10)
    sow(live, owners, 6, chance)
    rows, strange = leaks(live, owners, 60, chance)
    assert rows > 300
    assert strange == 0


CANARIES = (
    "MATCH (l:Learning) WHERE l.owner_key STARTS WITH 'project:' WITH DISTINCT "
    "l.owner_key AS owner, l.owner_token AS token UNWIND $states AS state "
    "CREATE (c:Learning {id: owner + '#canary-' + state.status, short_id: 'c', "
    "value_key: owner + state.status, text: $words, terms: $words, scope: 'project', "
    "kind: 'fact', origin: 'user_typed', confidence: 0.5, consolidated: false, "
    "owner_key: owner, owner_token: token, live: state.live, injectable: $open, "
    "status: state.status, created_at: datetime(), updated_at: datetime(), "
    "retrieval_count: 0, embedding: $vector, embedding_model: $model})"
)
STATES = [
    {"status": status, "live": status in {"approved", "candidate"}}
    for status in ("candidate", "quarantined", "rejected", "blocked", "already_learned", "archived")
]


@requirement("SEC-31")
@pytest.mark.parametrize("open_", [False, True])
def test_a_canary_of_each_project_that_fits_every_prompt_is_never_told(
    live: Live, open_: bool
) -> None:
    """It has every word and the vector of the question; with its filter open it is told."""
    chance, owners = random.Random(5), owners_of(5)[:5]
    sow(live, owners, 6, chance)
    vector, words = drawn(chance), " ".join(WORDS)
    live.run.execute(
        f"CYPHER 25\n{CANARIES}",
        {"states": STATES, "words": words, "open": open_, "vector": vector, "model": MODEL},
    )
    told: list[str] = []
    for owner in owners:
        for terms in ([], WORDS):
            for seen in (None, vector):
                query = retrieval.Query(words, terms, seen, MODEL, None)
                project = owner.removeprefix("project:")
                told += [
                    hit.id
                    for hit in retrieval.at_prompt(
                        live.run, query, project_id=project, session_id=None, excluded=[], limit=5
                    ).hits
                ]
    assert told
    assert any("#canary-" in id for id in told) is open_


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_ten_thousand_queries_over_fifty_projects_leak_nothing(live: Live) -> None:
    chance, owners = random.Random(7), owners_of(50)
    sow(live, owners, 20, chance)
    rows, strange = leaks(live, owners, 10_000, chance)
    assert rows > 100_000
    assert strange == 0


@requirement("SEC-90")
def test_the_counter_sees_a_leak(live: Live) -> None:
    chance, owners = random.Random(5), owners_of(2)
    sow(live, owners, 6, chance)
    live.run.execute("CYPHER 25\nMATCH (l:Learning) SET l.id = 'project:else#' + l.id")
    _, strange = leaks(live, owners, 5, chance)
    assert strange > 0
