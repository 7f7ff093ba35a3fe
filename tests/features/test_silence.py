"""What bears on a prompt, and what is met with silence: with vectors and by words alone."""

from dataclasses import replace

import pytest

from mkg.bench import silence as bench
from mkg.features.learnings import Hit, silence
from tests.support.embedding import minilm
from tests.support.hits import hit
from tests.support.requirement import requirement

MODEL = "minilm-l6-int8"
DEPLOY = "We deploy with `make ship`, never with deploy.sh."


def judged(hits: list[Hit], prompt: str, model: str | None = None) -> list[str]:
    return [found.id for found in silence.bearing(hits, prompt, model)]


@pytest.fixture(scope="module", params=["vectors", "words"])
def measured(request: pytest.FixtureRequest) -> dict[tuple[str, str], bench.Rates]:
    embedder = minilm() if request.param == "vectors" else None
    rows = {
        (split, rates.family): rates
        for split in bench.SPLITS
        for rates in bench.measure(embedder, split)
    }
    return rows | {("by", request.param): rows["tune", "written"]}


def test_off_topic_prompts_are_met_with_silence(
    measured: dict[tuple[str, str], bench.Rates],
) -> None:
    most = 0.12 if ("by", "vectors") in measured else 0.23
    for split in bench.SPLITS:
        rates = measured[split, "off topic"]
        assert rates.false_injection is not None
        assert rates.false_injection <= most, rates


def test_prompts_on_a_known_subject_are_answered(
    measured: dict[tuple[str, str], bench.Rates],
) -> None:
    for split in bench.SPLITS:
        written, generated = measured[split, "written"], measured[split, "generated"]
        assert written.miss is not None and written.miss <= 0.27, written
        assert generated.miss == 0.0, generated


def test_without_the_rule_every_off_topic_prompt_is_told_something() -> None:
    open_door = replace(silence.RULES, models={MODEL: silence.Rule(term=0.0, floor=-1.0)})
    rates = {r.family: r for r in bench.measure(minilm(), "held", open_door)}
    assert rates["off topic"].false_injection == 1.0


def test_a_term_that_many_hits_share_tells_less() -> None:
    alone = [hit("one", "the ledger keeps cents", cosine=0.3)]
    assert judged(alone, "ledger", MODEL) == ["one"]
    crowd = [hit(str(n), f"the ledger keeps entry{n}", cosine=0.3) for n in range(8)]
    assert judged(crowd, "ledger", MODEL) == []


def test_nearness_alone_is_enough_when_it_is_great_and_never_when_it_is_small() -> None:
    assert judged([hit("l", DEPLOY, cosine=0.5)], "roll out the release", MODEL) == ["l"]
    assert judged([hit("l", DEPLOY, cosine=0.3)], "roll out the release", MODEL) == []


def test_one_common_word_in_a_long_text_is_not_enough_by_words_alone() -> None:
    text = "Elasticsearch staging heap bulk requests megabytes cluster nodes shards replicas"
    asked = "explain nodes, parsers, grammars, tokens, visitors, listeners and lexers"
    assert judged([hit("l", text, cosine=None)], asked) == []
    assert judged([hit("l", text, cosine=None)], "bulk requests to elasticsearch") == ["l"]


@requirement("PERF-22")
def test_a_model_without_constants_is_judged_by_words_alone() -> None:
    found = [hit("l", "The staging database listens on port 5433.", cosine=0.99)]
    assert judged(found, "a haiku", "some-other-model") == []
    assert judged(found, "staging database", "some-other-model") == ["l"]


def test_the_tuned_and_the_held_part_share_neither_knowledge_nor_prompts() -> None:
    parts = [bench.cases(split) for split in bench.SPLITS]
    (known, asked), (other, held) = parts
    assert not set(known) & set(other)
    assert not {case.prompt for case in asked} & {case.prompt for case in held}
