"""What the same person said later, near in meaning: both stay, and the earlier is told with it."""

from datetime import timedelta
from pathlib import Path

import pytest

from mkg.features.gate import similar
from mkg.features.learnings import Hit, inject, retrieval, story
from mkg.features.learnings.value_key import value_key
from mkg_hooks.on.learnings import wanted
from tests.conftest import Live
from tests.server.asking import Lent, good, server
from tests.support.embedding import minilm
from tests.support.gating import NOON, SHOP, candidate, edges, gated, state, told_in
from tests.support.requirement import requirement

JENKINS = "We deploy the shop with Jenkins."
ARGO = "Deploys of the shop go through ArgoCD."
ROTTERDAM = "Nightly backups of the orders database land in Rotterdam."
LYON = "The orders database has its backups in Lyon."
COFFEE = "Our coffee machine is on the third floor."


def say(live: Live, *texts: str, minute: int = 0, user: str = "ann", origin: str = "user_typed"):
    made = [candidate(text, origin=origin) for text in texts]
    gated(live, made, at=NOON + timedelta(minutes=minute), user=user)


def hits(live: Live, question: str = "How do we deploy the shop?") -> dict[str, Hit]:
    """What a prompt gets, and the agent's own question: both tell the same of later words."""
    query = retrieval.prepare(question, minilm())
    asked = retrieval.hits(live.run, query, owner_key=f"project:{SHOP}", limit=5)
    told = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=(), limit=5
    )
    later = {hit.text: hit.said_later and hit.said_later["text"] for hit in asked}
    assert all(later[hit.text] == (hit.said_later or {}).get("text") for hit in told.hits)
    return {hit.text: hit for hit in asked}


def write(live: Live, text: str, **params: object) -> None:
    live.run.execute(f"CYPHER 25\n{text}", params, mode="auto", name="test.similar")


def later(live: Live, question: str = "How do we deploy the shop?") -> dict[str, str]:
    found = hits(live, question)
    return {t: str(hit.said_later["text"]) for t, hit in found.items() if hit.said_later}


@requirement("MEM-T001")
@pytest.mark.parametrize(
    ("first", "then", "question"),
    [(JENKINS, ARGO, "How do we deploy the shop?"), (ROTTERDAM, LYON, "Where are the backups?")],
)
def test_the_earlier_of_two_near_statements_is_told_with_the_later(
    live: Live, first: str, then: str, question: str
) -> None:
    say(live, first)
    say(live, then, minute=5)
    assert {t: s["status"] for t, s in state(live).items()} == {first: "approved", then: "approved"}
    assert edges(live) == [(then, "SIMILAR_TO", first, None)]
    assert later(live, question) == {first: then}
    made = inject.item(hits(live, question)[first])
    assert str(made["said_later"]).startswith(then)
    assert "said_later" not in inject.item(hits(live, question)[then])


def test_what_is_far_or_somebody_else_s_or_not_typed_is_not_told_beside(live: Live) -> None:
    say(live, JENKINS)
    say(live, COFFEE, minute=5)
    say(live, ARGO, minute=6, user="bob")
    say(live, "Deploys of the shop run on ArgoCD.", minute=7, origin="assistant_clean")
    assert [edge for edge in edges(live) if edge[1] == "SIMILAR_TO"] == []
    assert later(live) == {}


def test_without_the_threshold_of_its_model_nothing_is_near(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similar, "LEAST", {"another-model": 0.0})
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    assert edges(live) == []


def test_one_that_ended_a_statement_is_put_beside_no_other(live: Live) -> None:
    say(live, JENKINS)
    say(live, "The shop runs on port 8080.", minute=1)
    say(live, "The shop runs on port 9090.", minute=2)
    assert [edge[1] for edge in edges(live)] == ["SUPERSEDES"]


def test_it_is_told_at_a_start_too_and_why_shows_the_pair(live: Live) -> None:
    notebook, logseq = "I write my notes in a paper notebook.", "My notes are kept in Logseq."
    for minute, text in enumerate([notebook, logseq]):
        made = [candidate(text, scope="user")]
        gated(live, made, at=NOON + timedelta(minutes=minute))
    known = retrieval.user_facts(live.run, user_id="ann", session_id=None, excluded=(), limit=5)
    told = {row.text: str(inject.item(row).get("said_later", "")) for row in known}
    assert told[notebook].startswith(logseq) and told[logseq] == ""
    ids = {row.text: row.id for row in known}
    for one, other in ((notebook, logseq), (logseq, notebook)):
        (found,) = story.of(live.run, ids[one])
        assert [s["text"] for s in found.story.similar] == [other]
        assert any(line.startswith("  near ") for line in story.lines(found))


def test_whoever_says_the_earlier_again_makes_it_the_later(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    say(live, JENKINS, minute=9)
    assert later(live) == {ARGO: JENKINS}


def test_what_took_the_place_of_the_later_is_told_in_its_place(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    new = "Deploys of the shop went from ArgoCD to Spinnaker."
    say(live, new, minute=9)
    assert (new, "SUPERSEDES", ARGO, True) in edges(live)
    assert (new, "SIMILAR_TO", JENKINS, None) not in edges(live)
    assert later(live) == {JENKINS: new}


def test_what_a_person_has_reviewed_is_told_as_it_is(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    write(live, "MATCH (l:Learning {text: $said}) SET l.reviewed_by = 'human'", said=JENKINS)
    assert later(live) == {}


def test_another_text_has_other_neighbours_until_the_edit_is_taken_back(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    key = value_key(f"project:{SHOP}", COFFEE)
    change = "MATCH (l:Learning {text: $old}) SET l.text = $new, l.value_key = $key"
    before = live.value("MATCH (l:Learning {text: $said}) RETURN l.value_key", said=ARGO)
    write(live, change, old=ARGO, new=COFFEE, key=key)
    assert later(live) == {}
    write(live, change, old=COFFEE, new=ARGO, key=before)
    assert later(live) == {JENKINS: ARGO}


def test_a_batch_finds_the_same_pairs_as_one_after_the_other(live: Live) -> None:
    say(live, JENKINS, ROTTERDAM, ARGO, COFFEE, LYON)
    together = edges(live)
    assert together == [(ARGO, "SIMILAR_TO", JENKINS, None), (LYON, "SIMILAR_TO", ROTTERDAM, None)]


def test_a_moment_is_told_with_what_had_been_said_by_then(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    query = retrieval.prepare("How do we deploy the shop?", minilm())

    def at(minute: int) -> dict[str, str]:
        when, owner = NOON + timedelta(minutes=minute), f"project:{SHOP}"
        rows = retrieval.held_at(live.run, query, owner_key=owner, at=when, limit=5)
        return {r.text: str(r.said_later["text"]) if r.said_later else "" for r in rows}

    assert at(2) == {JENKINS: ""}
    assert at(6) == {JENKINS: ARGO, ARGO: ""}


def test_the_agent_and_the_terminal_are_shown_the_later_words(
    live: Live, tmp_path: Path, own_home: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    from mkg.cli import recall

    live.server.write_user_file(own_home)
    monkeypatch.setenv("MKG_USER_ID", "ann")
    for minute, text in enumerate(
        ["I write my notes in a paper notebook.", "My notes are kept in Logseq."]
    ):
        gated(live, [candidate(text, scope="user")], at=NOON + timedelta(minutes=minute))
    recall.recall("where are my notes", as_of="", limit=5, as_json=False)
    assert "    said later, near this: My notes are kept in Logseq. (" in capsys.readouterr().out
    made = server(
        tmp_path, lambda _: Lent(live.run), own=live.settings(tmp_path / "m", user_id="ann")
    )
    for more in ({}, {"as_of": (NOON + timedelta(days=1)).isoformat()}):
        asked = {"project_id": SHOP, "query": "where are my notes", **more}
        rows = good(made, "project_get_context", asked)["user_learnings"]
        found = {row["text"]: row.get("said_later", "") for row in rows}
        assert found["I write my notes in a paper notebook."] == "My notes are kept in Logseq."
        assert found["My notes are kept in Logseq."] == ""


def test_later_words_that_are_notwanted_here_are_not_told_beside(live: Live) -> None:
    say(live, JENKINS)
    say(live, ARGO, minute=5)
    hit = hits(live)[JENKINS]
    assert hit.said_later is not None
    assert wanted(hit, frozenset({hit.id})).said_later == hit.said_later
    assert wanted(hit, frozenset({str(hit.said_later["id"])})).said_later is None


def test_what_this_session_said_or_was_told_is_not_repeated_beside_a_line(live: Live) -> None:
    say(live, JENKINS)
    told_in(live, ARGO, "s1")
    when = NOON + timedelta(minutes=5)
    gated(live, [candidate(ARGO)], session="s1", at=when)
    id = str(live.value("MATCH (l:Learning {text: $said}) RETURN l.id", said=ARGO))
    query = retrieval.prepare("How do we deploy the shop?", minilm())

    def beside(session: str | None, excluded: tuple[str, ...] = ()) -> str:
        found = retrieval.at_prompt(
            live.run, query, project_id=SHOP, session_id=session, excluded=excluded, limit=5
        )
        (hit,) = [hit for hit in found.hits if hit.text == JENKINS]
        return str(inject.item(hit)["said_later"])

    assert beside(None).startswith(ARGO) and beside("another").startswith(ARGO)
    for quiet in (beside("s1"), beside(None, (id,))):
        assert ARGO not in quiet and quiet.startswith("known in this session (")
