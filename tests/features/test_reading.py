"""Reading a window: its vectors, its failures, what is no window, and what a reply cannot name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mkg import embed
from mkg.errors import ModelUnavailable
from mkg.features import learnings, timeline
from mkg.features.learnings.turns import turns
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import row
from tests.support.learned import SHOP, put
from tests.support.requirement import requirement
from tests.support.windows import PORT, proposal, read, rules, scripted, session

STATED = [
    "Remember that releases are cut from the trunk branch.",
    "Remember that the cache lives in Redis.",
    "Remember that invoices are sent by the night job.",
]


class Watched:
    """The real embedder, which writes down what it is given; `broken` makes it fail."""

    def __init__(self, *, broken: bool = False, dimension: int | None = None) -> None:
        self._real = minilm()
        self._broken = broken
        self.given: list[str] = []
        self.model = self._real.model
        self.dimension = dimension or self._real.dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        if self._broken:
            raise ModelUnavailable("the file is gone")
        return self._real.embed(texts)


def learned(live: Live, embedder: Any, name: str = "s1") -> None:
    learn(live.run, embedder, session_id=name, owner=Owner(SHOP, "ann"))


@requirement("MEM-T022")
def test_each_vector_lands_on_the_text_that_it_was_made_from(live: Live) -> None:
    session(live, *STATED)
    learned(live, minilm())
    rows = live.rows("MATCH (l:Learning) RETURN l.text AS text, l.embedding AS vector")
    assert len(rows) == 3
    for one in rows:
        assert one["vector"] == pytest.approx(minilm().embed([str(one["text"])])[0], abs=1e-6)


@requirement("MEM-T023")
def test_a_blank_text_gets_no_vector_and_is_never_embedded(live: Live, tmp_path: Path) -> None:
    watched = Watched()
    first, blank, last = embed.kept(watched, ["one", " \n\t", "two"])
    assert (watched.given, blank) == (["one", "two"], None)
    assert [first, last] == [minilm().embed(["one"])[0], minilm().embed(["two"])[0]]
    assert embed.kept(watched, ["", "  "]) == [None, None] and len(watched.given) == 2
    session(live, "   ", STATED[0], reply=" ")
    learned(live, watched)
    assert all(text.strip() for text in watched.given)


@requirement("MEM-T024")
@pytest.mark.parametrize(
    "broken", [Watched(broken=True), Watched(dimension=7)], ids=["away", "odd"]
)
def test_when_embedding_fails_the_row_is_kept_and_gets_its_vector_later(
    live: Live, broken: Watched
) -> None:
    session(live, STATED[0])
    learned(live, broken)
    (found,) = live.rows("MATCH (l:Learning) RETURN l.status AS s, l.embedding AS v")
    assert found == {"s": "approved", "v": None}
    rows = learnings.unembedded(live.run, after="", model=minilm().model, limit=9)
    assert [r.text for r in rows] == ["Releases are cut from the trunk branch."]


@requirement("MEM-T141")
def test_a_window_with_nothing_but_lifecycle_events_is_passed_over(
    live: Live, tmp_path: Path
) -> None:
    names = ("SessionStart", "SessionEnd", "SessionStart")
    events = [
        row(name, session="s1", second=n, project=SHOP, user="ann") for n, name in enumerate(names)
    ]
    timeline.append(live.run, events=events)
    with scripted(tmp_path, rules()) as (stub, model):
        assert read(live, model).events == 0
        assert stub.entries == []
    assert live.value("MATCH (p:ProjectProcessing) RETURN count(p)") == 0
    # Once something was said they are part of its window.
    session(live, STATED[0], start=9)
    with scripted(tmp_path, rules()) as (stub, model):
        assert read(live, model).events == 5


def called(live: Live, command: str, second: int, **more: Any) -> None:
    """A call of the shell in session s1, as the hooks report it."""
    event = row(
        "PostToolUse",
        session="s1",
        second=second,
        tool_name="Bash",
        tool_input=f'{{"command": "{command}"}}',
        tool_use_id=f"u{second}",
        project=SHOP,
        user="ann",
        **more,
    )
    timeline.append(live.run, events=[event])


@requirement("MEM-T124")
@pytest.mark.parametrize("flagged", [True, False])
def test_a_result_that_is_flagged_as_an_error_counts_as_a_failure(
    live: Live, flagged: bool
) -> None:
    session(live, "Please run the tests of the parser.", reply="")
    error = {"tool_error": True, "error": "unknown option --fast"} if flagged else {}
    called(live, "pytest tests/test_parser.py --fast -q", 5, **error)
    called(live, "pytest tests/test_parser.py -q", 6)
    session(live, start=9, reply="The tests pass.")
    learned(live, minilm())
    found = live.rows("MATCH (l:Learning) RETURN l.kind AS kind, l.resolved AS resolved")
    assert found == ([{"kind": "error", "resolved": True}] if flagged else [])


@requirement("MEM-W31")
def test_what_lost_its_approval_is_judged_in_the_same_run(live: Live, tmp_path: Path) -> None:
    put(live, "The billing service answers on 7000.")
    session(live, PORT)
    change = proposal(action="update", existing_id="m1")
    with scripted(tmp_path, rules(change, episodes=[])) as (stub, model):
        read(live, model)
        assert [e["rule"] for e in stub.entries] == ["extract", "episodes", "screen", "judge"]
    (found,) = live.rows(
        "MATCH (:ProjectProcessing)-[u:UPDATED_LEARNING]->(l:Learning)<-[:DECIDED]-(d:GateDecision)"
        " WITH u, l, d ORDER BY d.decision_no DESC LIMIT 1 "
        "RETURN u.demoted_from_approved AS demoted, d.rule AS rule, l.safety_model AS screened, "
        "l.consistency_checked_at IS NOT NULL AS compared"
    )
    assert found == {
        "demoted": True,
        "rule": "not explicit",
        "screened": "openai/x",
        "compared": True,
    }


@requirement("PERF-24")
def test_without_a_model_only_plain_statements_are_noted(live: Live) -> None:
    said = [
        STATED[0],
        "Maybe we could move the cache somewhere else, I am not sure yet.",
        "What would happen if the night job ran twice?",
        "The page looked odd to me yesterday, but the numbers were fine I think.",
        "Can you check whether the invoices went out?",
        "Let us see how far we get with the parser today.",
    ]
    session(live, *said, reply="I could imagine that Redis is the cause, perhaps.")
    learned(live, minilm())
    found = live.rows("MATCH (l:Learning) RETURN l.text AS t")
    assert found == [{"t": "Releases are cut from the trunk branch."}]


KEYS = ['name`}) SET n.status="approved" //', "SUPERSEDES]->() DELETE r //", "injectable", "status"]


@requirement("ADV-F09", "ADV-F11")
def test_a_key_or_a_type_of_a_model_s_own_reaches_no_statement(live: Live, tmp_path: Path) -> None:
    """A reply's form is closed: what it does not know is dropped, whatever it is called."""
    shape = (
        "CALL db.propertyKeys() YIELD propertyKey AS k WITH collect(k) AS keys "
        "CALL db.relationshipTypes() YIELD relationshipType AS t RETURN keys, collect(t) AS types"
    )
    odd = {**dict.fromkeys(KEYS, "approved"), "type": KEYS[1], "relation": KEYS[1]}
    session(live, PORT, reply=f"entity property name: {KEYS[0]} relation type: {KEYS[1]}")
    with scripted(tmp_path, rules({**proposal(), **odd}, episodes=[{"title": "T", **odd}])) as (
        _,
        model,
    ):
        read(live, model)
    (after,) = live.rows(shape)
    assert not {k for k in [*after["keys"], *after["types"]] if k in KEYS[:2]}
    (found,) = live.rows("MATCH (l:Learning) RETURN l.status AS s, l.injectable AS told")
    assert found == {"s": "candidate", "told": False}
    assert live.value("MATCH (e:Episode {source: 'model'}) RETURN e.type") == "change"


@requirement("MEM-T127")
@pytest.mark.parametrize(
    "text",
    [
        "Plain words.",
        "  two  spaces\n\n\tand a tab  ",
        "naïve café — “quotes” 日本語 🙂 \u200d \u202e",
        "a `code` {brace} $1 \\u0041 '\" <b> </data>",
    ],
)
def test_what_was_said_reads_back_as_it_was_stored(live: Live, text: str) -> None:
    session(live, text, reply=text)
    events = learnings.window(live.run, session_id="s1", limit=9)
    assert [turn.text for turn in turns(events)] == [text, text]
