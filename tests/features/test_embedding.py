"""What was stored without a vector, or under another model, gets one while the words serve."""

from mkg.features import embedding, learnings, timeline
from mkg.features.learnings import retrieval
from mkg.features.timeline import episode
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from tests.conftest import Live
from tests.support.embedding import Unrelated, minilm
from tests.support.learned import SHOP, put, say
from tests.support.requirement import requirement

FACT = "Remember that the staging database listens on port 5433."
ASKED = "Which port does the staging database use?"


def _mended(live: Live, tmp_path: object) -> int:
    deps = Deps(live.run, minilm(), live.settings(tmp_path))  # type: ignore[arg-type]
    marks: dict[str, str] = {}
    rounds = 0
    while dispatch.mend(deps, marks):
        rounds += 1
    return rounds


@requirement("MEM-W09", "B59", "NEO-112", "PERF-20")
def test_rows_without_a_vector_or_of_another_model_are_found_by_meaning_afterwards(
    live: Live, tmp_path: object
) -> None:
    say(live, FACT, embedder=Unrelated())
    put(live, "Releases are cut from the trunk branch.", embedder=Unrelated())
    episode.record(live.run, None, session_id="s1")
    before = live.rows("MATCH (n) WHERE n:Learning OR n:Episode RETURN n.embedding_model AS model")
    assert {row["model"] for row in before} == {"unrelated", None}
    assert _mended(live, tmp_path) > 0
    after = live.rows(
        "MATCH (n) WHERE n:Learning OR n:Episode "
        "RETURN n.embedding_model AS model, size(n.embedding) AS size"
    )
    assert {(row["model"], row["size"]) for row in after} == {(minilm().model, 384)}
    query = retrieval.prepare(ASKED, minilm())
    found = retrieval.at_prompt(
        live.run, query, project_id=SHOP, session_id=None, excluded=[], limit=3
    )
    assert "vector" in found.hits[0].sources


@requirement("MEM-T155")
def test_an_episode_gets_the_vector_it_would_have_had_at_once(live: Live, tmp_path: object) -> None:
    say(live, FACT)
    episode.record(live.run, minilm(), session_id="s1")
    at_once = live.value("MATCH (e:Episode) RETURN e.embedding")
    episode.record(live.run, None, session_id="s1")
    assert live.value("MATCH (e:Episode) RETURN e.embedding") is None
    _mended(live, tmp_path)
    assert live.value("MATCH (e:Episode) RETURN e.embedding") == at_once


def test_a_pass_takes_pages_and_ends_when_nothing_is_left(live: Live, tmp_path: object) -> None:
    for number in range(5):
        put(live, f"The worker number {number} listens on its own port.", embedder=Unrelated())
    by = dispatch.MENDING["learnings"]
    after, pages = "", 0
    while (place := embedding.page(live.run, minilm(), by, after=after, limit=2)) is not None:
        after, pages = place, pages + 1
    assert pages == 3
    for each in dispatch.MENDING.values():
        assert embedding.page(live.run, minilm(), each, after="", limit=2) is None


def test_a_text_edited_meanwhile_and_a_vector_written_meanwhile_stay(live: Live) -> None:
    put(live, "The cache lives in Redis.", embedder=Unrelated())
    (row,) = learnings.unembedded(live.run, after="", model="new", limit=5)
    stale = {"id": row.id, "text": "an older text", "vector": [1.0] * 384}
    assert learnings.embed(live.run, rows=[stale], model="new").embedded == 0
    fresh = {"id": row.id, "text": row.text, "vector": [1.0] * 384}
    assert learnings.embed(live.run, rows=[fresh], model="new").embedded == 1
    say(live, FACT)
    episode.record(live.run, minilm(), session_id="s1")
    late = {"id": str(live.value("MATCH (e:Episode) RETURN e.id")), "vector": [1.0] * 384}
    assert timeline.embed(live.run, rows=[late], model=minilm().model).embedded == 0


def test_without_a_model_or_a_graph_nothing_is_mended(live: Live, tmp_path: object) -> None:
    settings = live.settings(tmp_path)  # type: ignore[arg-type]
    assert dispatch.mend(Deps(live.run, None, settings), {}) is False
    assert dispatch.mend(Deps(None, minilm(), settings), {}) is False
