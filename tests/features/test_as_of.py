"""Values over time: what held when, what took its place, and how a prompt and a person see it."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from mkg.errors import Refused
from mkg.features.learnings import inject, retrieval, story
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.gating import NOON, SHOP, candidate, gated
from tests.support.learned import put

PORTS = [f"The API listens on port {port}." for port in (8080, 9090, 9191)]
QUESTION = "Which port does the API listen on?"


def history(live: Live) -> None:
    """8080 at noon, 9090 a day later in the same words, 9191 after two by a correction."""
    gated(live, [candidate(PORTS[0])], at=NOON)
    gated(live, [candidate(PORTS[1])], at=NOON + timedelta(days=1))
    gated(
        live,
        [candidate("The API listens on port 9191 instead of 9090.")],
        at=NOON + timedelta(days=2),
    )


def then(live: Live, days: float, *, text_only: bool = False) -> list[str]:
    query = retrieval.prepare(QUESTION, None if text_only else minilm())
    found = retrieval.held_at(
        live.run, query, owner_key=f"project:{SHOP}", at=NOON + timedelta(days=days), limit=3
    )
    return [row.text for row in found]


@pytest.mark.parametrize("text_only", [False, True])
@pytest.mark.parametrize(
    ("days", "held"),
    [
        (-1, []),
        (0, [PORTS[0]]),
        (0.9, [PORTS[0]]),
        (1, [PORTS[1]]),
        (1.5, [PORTS[1]]),
        (9, ["The API listens on port 9191 instead of 9090."]),
    ],
)
def test_each_moment_has_the_value_of_its_time(
    live: Live, days: float, held: list[str], text_only: bool
) -> None:
    history(live)
    assert then(live, days, text_only=text_only) == held


def test_what_a_person_turned_down_or_nobody_approved_held_at_no_time(live: Live) -> None:
    gated(live, [candidate(PORTS[0])])
    gated(live, [candidate("The API has a port for debugging.", origin="mcp_write")])
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning {text: $t}) SET l.status = 'rejected', l.live = false, "
        "l.injectable = false, l.rejected_reason = 'human_review', l.reviewed_by = 'human'",
        {"t": PORTS[0]},
    )
    assert then(live, 1) == []


def test_another_owner_s_past_is_not_shown(live: Live) -> None:
    history(live)
    query = retrieval.prepare(QUESTION, minilm())
    assert retrieval.held_at(live.run, query, owner_key="project:else", at=NOON, limit=3) == []


def test_a_prompt_is_told_what_a_value_was_and_until_when(live: Live) -> None:
    history(live)
    query = retrieval.prepare(QUESTION, minilm())
    found = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=(), limit=3
    )
    (hit,) = found.hits
    item = inject.item(hit)
    assert str(item["was"]).startswith(f"{PORTS[1].rstrip('.')} until ")
    assert len(str(item["was"])) <= inject.WAS_TEXT + 40


@pytest.mark.parametrize(
    "change",
    [
        "SET o.origin = 'assistant_clean'",
        "SET o.safety_status = 'held'",
        "SET o.rejected_reason = 'human_review', o.status = 'rejected'",
    ],
)
def test_what_was_never_believed_is_not_told_as_the_past(live: Live, change: str) -> None:
    history(live)
    live.run.execute(f"CYPHER 25\nMATCH (:Learning)-[:SUPERSEDES]->(o:Learning) {change}")
    query = retrieval.prepare(QUESTION, minilm())
    found = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=(), limit=3
    )
    assert [inject.item(hit).get("was") for hit in found.hits] == [None]


def test_what_ended_is_not_pulled_as_current(live: Live) -> None:
    history(live)
    query = retrieval.prepare(QUESTION, minilm())
    owner = f"project:{SHOP}"
    asked = ["approved", "candidate"]
    for question in (query, retrieval.prepare("", None)):
        rows = retrieval.pull(live.run, question, owner_key=owner, statuses=asked, limit=5)
        assert [row.text for row in rows] == ["The API listens on port 9191 instead of 9090."]


def test_why_shows_the_whole_chain_from_any_of_its_versions(live: Live) -> None:
    history(live)
    ids = live.rows("MATCH (l:Learning) RETURN l.id AS id, l.valid_from AS t ORDER BY t")
    for place, one in enumerate(ids):
        (told,) = story.of(live.run, str(one["id"]))
        assert [len(told.story.replaced), len(told.story.replaced_by)] == [place, 2 - place]
        assert ("not confirmed" in "\n".join(story.lines(told))) is True


def test_a_date_alone_means_the_end_of_its_day_and_nonsense_is_refused() -> None:
    assert retrieval.moment("2026-11-30").isoformat() == "2026-11-30T23:59:59.999999+00:00"
    assert retrieval.moment("2026-11-30T10:00:00+01:00").isoformat() == "2026-11-30T10:00:00+01:00"
    with pytest.raises(Refused, match="is no date"):
        retrieval.moment("last Tuesday")


def test_mkg_recall_tells_now_and_then(
    live: Live,
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from mkg.cli import recall

    live.server.write_user_file(own_home)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PWD", str(folder))
    monkeypatch.setenv("MKG_USER_ID", "ann")
    gated(live, [candidate("My editor is vim.", scope="user")], at=NOON)
    gated(live, [candidate("My editor is helix.", scope="user")], at=NOON + timedelta(days=1))
    recall.recall("which editor", as_of="", limit=5, as_json=True)
    now = json.loads(capsys.readouterr().out)
    assert [row["text"] for row in now["user"]] == ["My editor is helix."]
    # The newer value replaced the older one unasked, so it waits for a word about that.
    assert now["waiting"] == {"count": 1, "command": "mkg review"}
    recall.recall("which editor", as_of="2026-11-01T13:00", limit=5, as_json=False)
    shown = capsys.readouterr().out
    assert "My editor is vim." in shown and "now: My editor is helix." in shown
    gated(live, [candidate("My shell is fish.", scope="user", origin="assistant_clean")])
    recall.recall("which shell", as_of="", limit=5, as_json=False)
    assert capsys.readouterr().out.splitlines()[-1] == "(2 wait for you: mkg review)"
    live.run.execute("CYPHER 25\nMATCH (l:Learning {status: 'approved'}) DETACH DELETE l")
    recall.recall("which shell", as_of="", limit=5, as_json=False)
    assert capsys.readouterr().out.endswith("\n(1 waits for you: mkg review)\n")
    live.run.execute("CYPHER 25\nMATCH (l:Learning) DETACH DELETE l")
    recall.recall("which shell", as_of="", limit=5, as_json=False)
    assert capsys.readouterr().out == "nothing is known about that\n"
    recall.recall("which shell", as_of="", limit=5, as_json=True)
    assert json.loads(capsys.readouterr().out)["waiting"] == {"count": 0, "command": "mkg review"}
    with pytest.raises(Refused, match="say what it is about"):
        recall.recall("  ", as_of="", limit=5, as_json=False)


def test_a_statement_that_replaced_nothing_has_no_past(live: Live) -> None:
    put(live, PORTS[0])
    query = retrieval.prepare(QUESTION, minilm())
    found = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=(), limit=3
    )
    assert [inject.item(hit).get("was") for hit in found.hits] == [None]


def test_why_says_of_a_value_that_was_replaced_that_it_held_and_of_none_that_it_was_repeated(
    live: Live,
) -> None:
    gated(live, [candidate(PORTS[0])], at=NOON)
    gated(
        live,
        [candidate("The API listens on port 9191 instead of 8080.")],
        at=NOON + timedelta(days=1),
    )
    id = str(live.value("MATCH (l:Learning) WHERE l.text CONTAINS '9191' RETURN l.short_id"))
    (told,) = story.of(live.run, id)
    shown = "\n".join(story.lines(told))
    assert "no longer held" in shown and "(rejected" not in shown
    assert "stated again" not in shown
