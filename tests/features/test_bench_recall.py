"""`mkg bench recall` on generated dialogues whose answers are known, and its arithmetic by hand."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from mkg.bench import labelled
from mkg.bench import recall as bench
from mkg.errors import ConfigError
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.requirement import requirement

PEOPLE = ("Nora", "Will")
THINGS = ("kettle", "tent", "violin", "ladder", "camera", "bicycle", "stove", "lantern")
ACTS = ("repaired", "sold", "painted", "borrowed")
FILLER = (
    "That sounds good to me.",
    "I was busy all week.",
    "It rained again yesterday.",
    "Let us talk about it later.",
)


def generated(seed: int, *, sittings: int = 6) -> list[dict[str, Any]]:
    """Two dialogues in LoCoMo's form: each sitting states one fact, which one question asks for."""
    chance = random.Random(seed)
    made: list[dict[str, Any]] = []
    for number in range(2):
        held: dict[str, Any] = {"speaker_a": PEOPLE[0], "speaker_b": PEOPLE[1]}
        asked: list[dict[str, Any]] = []
        for sitting, thing in enumerate(chance.sample(THINGS, sittings), 1):
            who, act = chance.choice(PEOPLE), chance.choice(ACTS)
            turns = [
                {"speaker": PEOPLE[place % 2], "text": chance.choice(FILLER)} for place in range(6)
            ]
            place = chance.randrange(6)
            turns[place] = {"speaker": who, "text": f"Last month I {act} the {thing}."}
            for at, turn in enumerate(turns, 1):
                turn["dia_id"] = f"D{sitting}:{at}"
            held[f"session_{sitting}"] = turns
            held[f"session_{sitting}_date_time"] = f"1:0{sitting} pm on {sitting} May, 2023"
            question = f"What did {who} do with the {thing}?"
            gold = [f"D{sitting}:{place + 1}"]
            asked.append({"question": question, "category": 4, "evidence": gold, "answer": act})
        # Neither of these can be counted: one was never said, one names a turn that is not there.
        asked.append({"question": "Who flew?", "category": 5, "evidence": ["D1:1"]})
        asked.append({"question": "Who swam?", "category": 1, "evidence": ["D99:1"]})
        made.append({"sample_id": str(number), "conversation": held, "qa": asked})
    return made


def file_of(folder: Path, entries: list[dict[str, Any]]) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@requirement("PERF-04", "PERF-10", "PERF-11", "PERF-61")
def test_on_generated_dialogues_the_shipped_query_finds_the_known_turns(
    live: Live, tmp_path: Path
) -> None:
    assert generated(5) == generated(5) != generated(6)
    sets = labelled.load(file_of(tmp_path, generated(5)))
    assert [len(found.questions) for found in sets] == [6, 6]
    told: list[str] = []
    found = bench.bench(live.run, minilm(), sets, prefix="bench/test", progress=told.append)
    assert (found["query"], found["questions"]) == ("timeline.search", 12)
    assert len(told) == 4
    shipped = found["systems"]["as shipped"]
    assert shipped["recall@5"] == shipped["single"] == 1.0
    assert {"BM25", "vectors", "plain fusion", "fusion, neighbours, speaker"} < set(
        found["systems"]
    )
    assert all(0 <= rate <= 1 for rates in found["systems"].values() for rate in rates.values())
    assert found["interval_at_10"] == (1.0, 1.0)
    assert found["ms_per_question"]["median"] > 0


def test_a_question_about_nothing_that_was_said_lowers_the_score(
    live: Live, tmp_path: Path
) -> None:
    entries = generated(7)
    for entry in entries:
        entry["qa"][0]["question"] = "Zebras?"
    sets = labelled.load(file_of(tmp_path, entries))
    found = bench.bench(live.run, minilm(), sets, prefix="bench/low", ablate=False)
    assert found["systems"]["as shipped"]["mrr"] < 1.0
    assert "without vectors" not in found["systems"]


def asked(found: float, first: int | None, *, conversation: int = 0) -> bench.Asked:
    return bench.Asked(conversation, 4, (found, found, found), first)


@requirement("PERF-12")
def test_a_gain_is_paired_over_the_same_questions_and_told_with_its_interval() -> None:
    ours = [asked(1.0, 1)] * 30 + [asked(0.0, None)] * 10
    best = [asked(1.0, 2)] * 20 + [asked(0.0, None)] * 20
    systems = {"as shipped": ours, "BM25": best, "vectors": [asked(0.0, None)] * 40}
    made = bench.report(systems, [0.1, 0.2, 0.3], 1)
    gain = made["gain_over_best_baseline"]
    assert (gain["over"], gain["mean"]) == ("BM25", 0.25)
    # Ten of forty pairs differ, all one way: unpaired the interval would reach below zero.
    assert 0.1 < gain["interval"][0] < 0.25 < gain["interval"][1] < 0.4
    assert made["systems"]["as shipped"]["mrr"] == 0.75
    assert made["untuned"] == {}
    assert made["ms_per_question"] == {"median": 200.0, "p95": 300.0}


def test_conversations_that_nobody_tuned_on_are_told_apart() -> None:
    rows = [asked(1.0, 1, conversation=n) for n in range(7)]
    rows += [asked(0.0, None, conversation=n) for n in (7, 8, 9)]
    made = bench.report({"as shipped": rows, "BM25": rows}, [0.1], 10)
    assert made["systems"]["as shipped"]["recall@10"] == 0.7
    assert made["untuned"]["as shipped"]["recall@10"] == 0.0


def test_a_ranking_is_judged_by_its_share_of_the_gold_within_each_cut() -> None:
    question = labelled.Question("q", 1, frozenset({"a", "b"}))
    ranking = ["x"] * 4 + ["a"] + ["x"] * 9 + ["b"]
    judged = bench.judge(question, ranking, 3)
    assert (judged.found, judged.first) == ((0.5, 0.5, 1.0), 5)
    assert bench.judge(question, [], 3).first is None


def test_a_missing_data_set_says_how_to_name_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give --dataset FILE"):
        labelled.load(tmp_path / "none.json")
