"""Windows and a model that is away, answers too much, or answers oddly: nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from mkg.features.learnings.chunks import halved
from mkg.features.learnings.propose import Proposals
from mkg.features.learnings.think import MOST_HALVINGS
from mkg.features.learnings.windows import MOST_ATTEMPTS
from mkg.llm import reply as replies
from tests.clients.kit.stub_model import text_of
from tests.conftest import Live
from tests.support.learned import put
from tests.support.requirement import requirement
from tests.support.windows import PORT, proposal, read, rules, scripted, session

CUT = {"text": '{"learnings": [{"action": "create", "te', "stop": "max_tokens"}


def kept(live: Live) -> list[object]:
    return [r["t"] for r in live.rows("MATCH (l:Learning) RETURN l.text AS t ORDER BY t")]


def runs(live: Live) -> list[dict[str, object]]:
    return live.rows("MATCH (p:ProjectProcessing) RETURN p.status AS status, p.llm_status AS llm")


@requirement("B57")
@pytest.mark.parametrize("outage", [{"status": 503}, {"status": 429}, {"status": 401}])
def test_an_outage_of_a_model_is_caught_up_with_however_often_it_is_tried(
    live: Live, tmp_path: Path, outage: dict[str, Any]
) -> None:
    session(live, PORT)
    for _ in range(MOST_ATTEMPTS + 2):
        with scripted(tmp_path, [{"then": outage}]) as (_, model):
            assert read(live, model).failed is not None
    assert live.value("MATCH (p:ProjectProcessing) RETURN p.attempt_count") == MOST_ATTEMPTS + 2
    with scripted(tmp_path, rules(proposal())) as (_, model):
        assert read(live, model).events == 2
    assert kept(live) == [proposal()["text"]]
    assert runs(live) == [{"status": "ok", "llm": "ok"}]


@requirement("B57")
def test_an_outage_of_days_ends_with_what_rules_find(live: Live, tmp_path: Path) -> None:
    session(live, PORT)
    for n in range(MOST_ATTEMPTS):
        with scripted(tmp_path, [{"then": {"status": 503}}]) as (_, model):
            found = read(live, model)
        assert (found.events, found.failed is None) == ((0, False) if n < 4 else (2, True))
        live.run.execute(
            "CYPHER 25\nMATCH (p:ProjectProcessing) "
            "SET p.first_error_at = datetime() - duration('P4D')"
        )
    assert runs(live) == [{"status": "ok", "llm": "failed"}]


@requirement("B55", "B49")
def test_a_reply_that_is_cut_off_is_asked_for_in_halves_until_all_was_shown(
    live: Live, tmp_path: Path
) -> None:
    marks = [f"mark{n}end" for n in range(4)]
    session(live, *(f"{m} {PORT}" for m in marks), reply="Well.")
    # Four turns are too many for this model to answer about; two are not.
    both = {"when": {"system": "worth noting", "any": "mark1end(.|\n)*mark2end"}, "then": CUT}
    with scripted(tmp_path, [both, *rules(proposal(), episodes=[])]) as (stub, model):
        assert read(live, model).events == 5
        bodies = [text_of(b) for b in stub.bodies() if "worth noting" in text_of(b)]
    # Asked, mended once, then both halves.
    assert len(bodies) == 4
    for mark in marks:
        assert sum(mark in body for body in bodies[2:]) == 1
    assert kept(live) == [proposal()["text"]]
    assert runs(live) == [{"status": "ok", "llm": "ok"}]


@requirement("B55")
def test_a_model_whose_every_reply_is_cut_off_is_asked_so_often_and_the_chunk_waits(
    live: Live, tmp_path: Path
) -> None:
    session(live, "word " * 1500)
    with scripted(tmp_path, [{"when": {"system": "worth noting"}, "then": CUT}]) as (stub, model):
        found = read(live, model)
        assert found.events == 0 and found.failed is not None
        # One half after the other, and each is asked for twice; the first that fails ends it.
        assert len(stub.bodies()) == 2 * (MOST_HALVINGS + 1)
    assert live.value("MATCH (e:SessionEvent)<-[:PROCESSED_EVENT]-() RETURN count(e)") == 0


def test_a_long_turn_is_cut_between_words_and_its_halves_are_the_whole() -> None:
    from tests.support.shown import shown

    one = shown("t1", "word " * 200)
    (first,), (second,) = halved([one])
    assert first.text + second.text == one.text
    assert (first.offset, second.offset) == (0, len(first.text))
    assert first.text.endswith("word")
    assert halved([shown("t1", "short")]) == ()
    unbroken = halved([shown("t1", "x" * 500)])
    assert [part[0].text for part in unbroken] == ["x" * 250] * 2


ODD: list[object] = [{"a": 1}, [{"a": 1}, {"b": 2}], [1, "a", None], None, float("nan"), 7, True]
FIELDS = ["action", "existing_id", "scope", "kind", "task_pattern", "tool_key", "error_signature"]
FIELDS += ["resolved", "replaces", "confidence", "reason", "unheard_of"]


@requirement("B35")
@pytest.mark.parametrize("odd", ODD, ids=str)
def test_an_odd_value_costs_its_field_or_its_entry_and_nothing_else(
    live: Live, tmp_path: Path, odd: object
) -> None:
    session(live, PORT)
    good = proposal(text="Billing answers on 7001, says the user.")
    entries = [{**proposal(), field: odd} for field in FIELDS]
    # What is stored of each, one reply each; then all of them in one.
    for entry in entries:
        answer = replies.read(json.dumps({"learnings": [entry]}), Proposals)
        assert isinstance(answer, Proposals)
        (read_as,) = answer.learnings
        assert 0.0 <= read_as.confidence <= 1.0
        assert not any(isinstance(v, dict | list) for v in read_as.model_dump().values())
    script = rules(episodes=[{"type": odd, "title": "Told", "facts": odd, "narrative": odd}])
    script[0]["then"] = {"text": json.dumps({"learnings": [good, *entries]})}
    with scripted(tmp_path, script) as (_, model):
        assert read(live, model).events == 2
    assert good["text"] in kept(live)
    assert live.value("MATCH (e:Episode {source: 'model'}) RETURN e.title") == "Told"


MOVED = "We moved the builds from the blue machine to the green one last week, it seems to hold."
CLAIM = {"quote": "moved the builds from the blue machine", "text": "Builds run on the green one."}


@pytest.mark.parametrize(
    ("claimed", "shown"),
    [
        ("the Blue  machine", "the Blue machine"),
        ("the red machine", None),
        ("everything that was said before", None),
        ("", None),
    ],
)
def test_the_old_value_is_shown_to_the_judge_where_the_turn_says_it_and_decides_nothing(
    live: Live, tmp_path: Path, claimed: str, shown: str | None
) -> None:
    put(live, "The blue machine is where builds run.")
    session(live, MOVED)
    with scripted(tmp_path, rules(proposal(**CLAIM, replaces=claimed), episodes=[])) as (
        stub,
        model,
    ):
        read(live, model)
        (asked,) = [text_of(b) for b in stub.bodies() if "compare new statements" in text_of(b)]
    rows = [json.loads(r) for r in asked.splitlines() if r.startswith('{"id": "c')]
    (row,) = [r for r in rows if r["text"] == CLAIM["text"]]
    assert row.get("replaces") == shown
    # The judge said nothing, so nothing ends; what the person typed is a doubt of its own.
    found = live.rows("MATCH (a:Learning)-[r]->(:Learning) RETURN a.text AS text, type(r) AS r")
    assert [(r["text"], r["r"]) for r in found] == [(MOVED, "CONTRADICTS")]
