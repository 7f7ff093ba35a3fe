"""What bears on a prompt (provisional rule): both sides, with vectors and without."""

import pytest

from mkg.features.learnings import silence
from tests.support.embedding import minilm
from tests.support.hits import hit

BEARS = [
    (
        "We deploy with `make ship`, never with deploy.sh.",
        "How do I deploy the service to staging?",
    ),
    ("The staging database listens on port 5433.", "which port does the staging database use"),
    (
        "Tests need REDIS_URL set to a local instance.",
        "the tests fail because REDIS_URL is missing",
    ),
    ("We use pnpm, not npm, in this repo.", "install the dependencies with npm please"),
    ("Migrations run with yoyo and are never edited.", "add a migration for the users table"),
]
SILENT = [
    ("We deploy with `make ship`, never with deploy.sh.", "Write a haiku about autumn"),
    ("We use pnpm, not npm, in this repo.", "What is the capital of France?"),
    ("The staging database listens on port 5433.", "make the button blue"),
    ("Tests need REDIS_URL set to a local instance.", "explain the license of this project"),
]


def bears(stated: str, prompt: str, *, text_only: bool = False) -> bool:
    a, b = minilm().embed([stated, prompt])
    cosine = sum(x * y for x, y in zip(a, b, strict=True))
    found = hit("l", stated, cosine=None if text_only else cosine)
    return silence.bears(found, prompt, None if text_only else "minilm-l6-int8")


@pytest.mark.parametrize(("stated", "prompt"), BEARS)
def test_a_prompt_about_the_subject_is_answered(stated: str, prompt: str) -> None:
    assert bears(stated, prompt)


@pytest.mark.parametrize(("stated", "prompt"), SILENT)
def test_a_prompt_about_something_else_is_met_with_silence(stated: str, prompt: str) -> None:
    assert not bears(stated, prompt)
    assert not bears(stated, prompt, text_only=True)


def test_text_only_asks_for_two_shared_rare_terms() -> None:
    stated = "The staging database listens on port 5433."
    assert bears(stated, "staging database", text_only=True)
    assert not bears(stated, "staging", text_only=True)


def test_a_model_without_a_rule_is_judged_by_words_alone() -> None:
    found = hit("l", "The staging database listens on port 5433.", cosine=0.99)
    assert not silence.bears(found, "a haiku", "some-other-model")
    assert silence.bears(found, "staging database", "some-other-model")
