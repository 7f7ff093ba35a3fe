"""The bench of changed facts: what it counts, its halves, and a small run of it on a real store."""

from collections import Counter
from itertools import pairwise

import pytest

from mkg.features.gate import weigh
from mkg.features.gate.compare import NOTHING
from tests.bench import updates
from tests.bench.changing import Fact, Told, facts
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import START
from tests.support.requirement import requirement


def _fact() -> Fact:
    told = [Told("Remember that it is 1.", "1", START), Told("No, it is 2.", "2", START)]
    return Fact("seen", "x", 0, "What is it?", told=told)


def test_a_value_counts_as_current_stale_or_of_its_moment() -> None:
    right = updates.Answered(_fact(), ("2",), (("1",), ("2",)))
    assert (right.current, right.stale, right.moments) == (True, False, 2)
    both = updates.Answered(_fact(), ("2", "1"), (("1",), ("2", "1")))
    assert (both.current, both.stale, both.moments) == (True, True, 1)
    nothing = updates.Answered(_fact(), (), ((), ()))
    assert (nothing.current, nothing.stale, nothing.moments) == (False, False, 0)


def test_half_of_the_facts_is_of_kinds_that_no_rule_was_written_for() -> None:
    made = facts(300)
    assert Counter(fact.half for fact in made) == {"seen": 150, "held_out": 150}
    kinds = {half: {f.kind for f in made if f.half == half} for half in ("seen", "held_out")}
    assert not kinds["seen"] & kinds["held_out"] and min(map(len, kinds.values())) >= 10
    assert {len(fact.told) for fact in made} == {2, 3, 4}
    questions = [(fact.project, fact.kind, fact.told[0].prompt[-40:]) for fact in made]
    assert len(set(questions)) > 290
    assert facts(300) == made


@requirement("PERF-61")
def test_the_bench_tells_facts_through_the_hooks_and_asks_for_them(live: Live) -> None:
    made = [fact for fact in facts(300) if fact.half == "seen"][:12]
    answered = updates.ask(live.run, live.server, made, lambda text: None, minilm())
    # What all of them reach is the bench's to say; most of a dozen is what this must.
    assert len([one.fact for one in answered if not one.current]) <= 1
    assert len([one.fact for one in answered if one.stale]) <= 1
    assert sum(one.moments for one in answered) >= sum(len(fact.told) for fact in made) - 3


def test_facts_told_in_two_ways_are_of_different_projects() -> None:
    plain, other = ({fact.project for fact in facts(90, way=way)} for way in ("plain", "reworded"))
    assert plain and other and not plain & other


def test_a_change_names_what_goes_or_is_the_sentence_from_before_unless_it_is_reworded() -> None:
    for way in ("plain", "reworded"):
        for fact in facts(120, way=way):
            for before, after in pairwise(fact.told):
                named = before.value in after.prompt
                ends = {one.prompt.replace(one.value, "")[-10:] for one in (before, after)}
                again = len(ends) == 1
                assert (named or again) if way == "plain" else not named, (before, after)


def test_without_rules_for_what_replaces_what_old_values_are_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weigh, "compare", lambda *_, **__: NOTHING)
    monkeypatch.setattr(weigh, "nearest", lambda *_: [])
    made = [fact for fact in facts(300) if fact.half == "seen"][:6]
    answered = updates.ask(live.run, live.server, made, lambda text: None, minilm())
    assert sum(one.stale for one in answered) >= 3
