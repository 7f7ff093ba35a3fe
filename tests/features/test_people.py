"""What a person says over sessions and projects: the newer value stands, contrary facts meet."""

from typing import Any

import pytest

from mkg.features.learnings import retrieval
from mkg.worker.jobs import Jobs
from mkg_hooks import dispatch
from tests.features.test_adversarial import Loop, loop
from tests.hooks.launching import wait_until
from tests.support.embedding import minilm
from tests.support.events import record
from tests.support.requirement import requirement
from tests.worker import fake_worker

__all__ = ["loop"]


def say(loop: Loop, prompt: str, folder: str = "shop") -> None:
    """One session of the same person in one of their projects."""
    loop.number += 1
    cwd = loop.folder / folder
    cwd.mkdir(exist_ok=True)
    events: list[tuple[str, dict[str, Any]]] = [
        ("UserPromptSubmit", {"prompt": prompt}),
        ("Stop", {"last_message": "Noted."}),
    ]
    for place, (event, fields) in enumerate(events):
        second = 100 * loop.number + place
        made = record(event, session=f"s{loop.number}", second=second, cwd=str(cwd), **fields)
        dispatch.apply([made], loop.deps)


@requirement("B67")
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("we use pnpm", "we moved to bun"),
        ("Remember: we use pnpm here.", "We moved from pnpm to bun, because it is faster."),
        ("We use pnpm.", "No, we use bun instead of pnpm."),
        ("Remember that we use pnpm in this repo.", "Remember that we use bun in this repo."),
    ],
)
def test_the_newer_value_alone_is_told_and_the_older_is_its_history(
    loop: Loop, first: str, then: str
) -> None:
    say(loop, first)
    (old,) = loop.believed()
    say(loop, then)
    told = loop.asked("Do we use pnpm or bun here?")
    assert f'"text": "{old}' not in told
    (new,) = [text for text in loop.believed() if text != old]
    owner = loop.live.value("MATCH (l:Learning) RETURN l.owner_key LIMIT 1")
    query = retrieval.prepare("Do we use pnpm or bun here?", minilm())
    rows = loop.live.rows(
        "MATCH (l:Learning)-[:SUPERSEDES]->(o:Learning) RETURN o.text AS old, o.injectable AS told"
    )
    assert rows == [{"old": old, "told": False}]
    hits = retrieval.hits(loop.live.run, query, owner_key=str(owner), limit=5)
    assert [(hit.text, hit.was["text"]) for hit in hits if hit.was] == [(new, old)]
    assert len(hits) == 1 and "bun" in new


@requirement("MEM-T209")
@pytest.mark.parametrize(
    ("one", "two", "relation"),
    [
        ("My editor is vim.", "My editor is helix.", "SUPERSEDES"),
        ("I like long commit messages.", "I don't like long commit messages.", "CONTRADICTS"),
        ("I prefer npm.", "I prefer pnpm instead of npm.", "SUPERSEDES"),
    ],
)
def test_contrary_facts_about_a_person_from_two_projects_meet(
    loop: Loop, one: str, two: str, relation: str
) -> None:
    say(loop, f"Remember: {one}", "one")
    say(loop, f"Remember: {two}", "two")
    rows = loop.live.rows(
        "MATCH (l:Learning)-[r:SUPERSEDES|CONTRADICTS]->(o:Learning)"
        " RETURN l.text AS new, type(r) AS how, o.text AS old, l.scope AS scope"
    )
    assert rows == [{"new": two, "how": relation, "old": one, "scope": "user"}]
    assert len(loop.believed()) <= 1 or relation == "SUPERSEDES"
    injectable = loop.live.value("MATCH (l:Learning) WHERE l.injectable RETURN count(l)")
    assert injectable == 1


def test_the_same_contrary_facts_about_two_projects_do_not_meet(loop: Loop) -> None:
    say(loop, "Remember: the API listens on port 8080.", "one")
    say(loop, "Remember: the API listens on port 9090.", "two")
    assert len(loop.believed()) == 2
    assert loop.live.value("MATCH (:Learning)-[r]->(:Learning) RETURN count(r)") == 0


@requirement("MEM-T199")
def test_a_refused_value_in_nearly_the_same_words_waits_beside_it_and_another_does_not(
    loop: Loop,
) -> None:
    say(loop, "Remember that the shop deploys to the blue cluster on Mondays.")
    loop.live.run.execute(
        "MATCH (l:Learning) SET l.status = 'rejected', l.live = false, l.injectable = false,"
        " l.reviewed_by = 'human', l.rejected_reason = 'human', l.embedding = null"
    )
    say(loop, "Remember that on Mondays the shop is deployed to the blue cluster.")
    say(loop, "Remember that the docs are written in Markdown.")
    assert [text.rstrip(".") for text in loop.believed()] == ["The docs are written in Markdown"]
    (row,) = loop.live.rows(
        "MATCH (l:Learning)-[:CONTRADICTS]->(o:Learning {status: 'rejected'})"
        " RETURN l.status AS status, l.wait_reason AS reason"
    )
    assert row["status"] == "candidate" and "refused" in row["reason"]


@requirement("B3")
def test_stops_that_come_together_are_one_job_that_nobody_waits_for(loop: Loop) -> None:
    class Slow:
        """A model that thinks until it is let go."""

        def available(self, task: str, *, client: str | None = None) -> str | None:
            return None

    import threading

    gate, jobs = threading.Event(), Jobs(fake_worker.Log())
    jobs.submit("another", lambda: gate.wait(30))
    wait_until(lambda: jobs.status()["jobs"] == 1)
    runs: list[str] = []
    loop.deps.model = Slow()
    loop.deps.later = lambda key, work: jobs.submit(key, lambda: runs.append(key))
    for number in range(4):
        dispatch.apply(
            [record("Stop", session="s1", second=number, cwd=loop.cwd, last_message=f"m{number}")],
            loop.deps,
        )
    assert jobs.status()["jobs"] == 2 and runs == []
    gate.set()
    assert jobs.wait(30)
    assert runs == ["window:s1"]
