"""Finding turns of a dialogue: by words, by their neighbours, by who spoke."""

from dataclasses import replace
from pathlib import Path

import pytest

from mkg.errors import ConfigError
from mkg.features.learnings import retrieval
from mkg.features.timeline import dialogue, recall
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.requirement import requirement

FILE = Path(__file__).parents[1] / "support" / "dialogue.jsonl"
QUAY, OTHER = "dialogue/quay", "dialogue/other"
ALONE = replace(recall.DEFAULT, after=(1.0, 0.0, 0.0, 0.0), before=(1.0, 0.0, 0.0, 0.0))


@pytest.fixture
def quay(live: Live) -> Live:
    """The dialogue of the fixture, by words only."""
    (found,) = dialogue.read(FILE)
    dialogue.store(live.run, None, found, project_id=QUAY, user_id="ann")
    return live


def found(
    live: Live,
    question: str,
    *,
    project: str = QUAY,
    weights: recall.Weights = recall.DEFAULT,
    embedder: object = None,
) -> list[str]:
    query = retrieval.prepare(question, embedder)  # type: ignore[arg-type]
    hits = recall.find(live.run, query, project_id=project, limit=5, weights=weights)
    return [hit.narrative for hit in hits]


def test_turns_are_episodes_in_their_order_with_speaker_and_sitting(quay: Live) -> None:
    (row,) = quay.rows(
        "MATCH p = (first:Episode)-[:NEXT*10]->(:Episode) WHERE NOT EXISTS { (first)<-[:NEXT]-() } "
        "RETURN [n IN nodes(p) | [split(n.narrative, ':')[0], "
        "head([(n)-[:SPOKEN_BY]->(s) | s.name]), "
        "split(head([(n)-[:FROM_SESSION]->(s) | s.session_id]), ':')[-1]]] AS said"
    )
    assert [part[1] for part in row["said"]] == [part[0] for part in row["said"]]
    assert [part[2] for part in row["said"]] == ["1"] * 6 + ["2"] * 5
    assert quay.value("MATCH (s:Speaker) RETURN count(s)") == 2
    assert quay.value("MATCH (e:Episode) WHERE e.injectable RETURN count(e)") == 0


def test_a_dialogue_imported_twice_is_stored_once(quay: Live) -> None:
    (same,) = dialogue.read(FILE)
    census = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n) + count(r)"
    before = quay.value(census)
    again = dialogue.store(quay.run, None, same, project_id=QUAY, user_id="ann")
    assert (again.turns, again.created) == (11, 0)
    assert quay.value(census) == before


def test_credentials_in_a_dialogue_are_cut_out(quay: Live) -> None:
    stored = quay.value("MATCH (e:Episode) WHERE e.narrative CONTAINS 'lose' RETURN e.narrative")
    assert "[REDACTED:" in stored
    assert quay.value("MATCH (e:Episode) WHERE e.narrative CONTAINS 'Tr0ub' RETURN count(e)") == 0


@requirement("MEM-W35")
def test_an_answer_without_a_common_word_is_found_beside_its_question(quay: Live) -> None:
    question = "What did she call the boat?"
    assert "Nora: Petrel, after my aunt." not in found(quay, question, weights=ALONE)
    assert "Nora: Petrel, after my aunt." in found(quay, question)[:2]


def test_who_is_named_in_the_question_is_preferred_as_speaker(quay: Live) -> None:
    nora, will = "Nora: I repaired a bicycle too, the green one.", "Will: Lovely. I spent"
    assert found(quay, "Which bicycle did Nora repair?")[0] == nora
    assert found(quay, "Which bicycle did Will repair?")[0].startswith(will)
    indifferent = replace(recall.DEFAULT, speaker=1.0)
    first = {
        found(quay, f"Which bicycle did {n} repair?", weights=indifferent)[0]
        for n in ("Nora", "Will")
    }
    assert len(first) == 1


def test_a_speakers_name_is_not_searched_as_a_word_unless_it_is_all_there_is(quay: Live) -> None:
    assert not any("anybody sail" in line for line in found(quay, "Nora's cello", weights=ALONE))
    assert found(quay, "Nora?", weights=ALONE)[0].startswith("Will: Does anybody sail")


def test_words_meet_by_their_stems_and_captions_count(quay: Live) -> None:
    assert found(quay, "orchestras", weights=ALONE) == [
        "Will: My sister plays the cello in an orchestra."
    ]
    assert found(quay, "lighthouses", weights=ALONE)[0].startswith("Will: Look at mine.")


def test_a_turn_that_asks_stands_behind_one_that_tells(quay: Live) -> None:
    question = "What about winter and December?"
    tells = "Nora: Hardly, the harbour freezes by December."
    assert found(quay, question, weights=ALONE)[0] == tells
    asks_more = replace(ALONE, asking=3.0)
    assert found(quay, question, weights=asks_more)[0].startswith("Will: Does anybody sail")


def test_what_is_lent_stays_in_its_sitting_and_its_project(quay: Live) -> None:
    quay.run.execute(
        "CYPHER 25\nMATCH (e:Episode) WHERE e.narrative CONTAINS 'tandem' "
        "CREATE (e)-[:NEXT]->(:Episode {id: 'x', type: 'turn', title: 'leak', narrative: 'leak', "
        "terms: '', live: true, owner_key: 'project:other', session_id: e.session_id, "
        "ended_at: e.ended_at})"
    )
    lines = found(quay, "tandem")
    assert lines[0].startswith("Will: Look at mine.")
    assert "leak" not in lines
    assert not any("cello" in line for line in lines)
    assert found(quay, "tandem", project=OTHER) == []


def test_no_quote_in_a_term_reaches_the_full_text_parser(quay: Live) -> None:
    query = retrieval.Query("x", ['boat") OR owner_token:*', "cello"], None, None, None)
    hits = recall.find(quay.run, query, project_id=QUAY, limit=5, weights=ALONE)
    assert [hit.narrative for hit in hits] == ["Will: My sister plays the cello in an orchestra."]


def test_meaning_finds_what_shares_no_word(live: Live) -> None:
    (said,) = dialogue.read(FILE)
    dialogue.store(live.run, minilm(), said, project_id=QUAY, user_id="ann")
    question = "Which instrument does his sibling perform on?"
    cello = "Will: My sister plays the cello in an orchestra."
    assert found(live, question, embedder=minilm())[0] == cello
    assert cello not in found(live, question)


@pytest.mark.parametrize(
    "text",
    ["", '{"session": "1"}\n', "[{}]", "nonsense", '[{"conversation": {"session_1": [{}]}}]'],
)
def test_a_file_of_another_form_is_refused_with_the_form(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dialogue.jsonl"
    path.write_text(text, encoding="utf-8")
    if not text:
        assert dialogue.read(path)[0].turns == ()
        return
    with pytest.raises(ConfigError, match="another form"):
        dialogue.read(path)
