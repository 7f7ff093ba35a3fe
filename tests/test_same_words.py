"""Words for the same thing: each in one group, phrases as one word, nothing said twice."""

from collections import Counter
from pathlib import Path

import pytest

from mkg import same_words
from mkg.same_words import in_one, others, root, sense

FILE = Path(same_words.__file__).with_name("same_words.txt")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("retention", "purged"),
        ("reviewer", "approved"),
        ("deployed", "rollout"),
        ("settings", "configuration"),
        ("time-out", "timeouts"),
        ("releases", "shipped"),
    ],
)
def test_words_of_one_group_have_one_sense(one: str, other: str) -> None:
    assert sense(one) == sense(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("owner", "maintainer"),
        ("read", "written"),
        ("starts", "ends"),
        ("port", "timeout"),
        ("staging", "production"),
        ("memory", "disk"),
        ("retention", "frequency"),
        ("days", "hours"),
    ],
)
def test_what_two_facts_may_be_about_at_once_stays_apart(one: str, other: str) -> None:
    assert sense(one) != sense(other)


def test_every_word_stands_in_one_group_only() -> None:
    lines = [row.split() for row in FILE.read_text("utf-8").splitlines() if row and row[0] != "#"]
    assert len(lines) > 50 and all(len(line) >= 2 for line in lines)
    # 'sign-in' and 'signin' have one root: the first is there for the phrase.
    roots = [{root(word.replace("-", "")) for word in line} for line in lines]
    count = Counter(word for line in roots for word in line)
    assert [word for word, times in count.items() if times > 1] == []


def test_a_phrase_is_one_word_wherever_it_stands() -> None:
    assert in_one("The entry  points of a.py") == "The entry-points of a.py"
    assert in_one("Sign in, then time\nout.") == "Sign-in, then time-out."
    assert in_one("an entry, points to it") == "an entry, points to it"


def test_a_question_is_widened_by_other_words_only() -> None:
    assert others(["deployments", "shop"]) == ["rollout", "roll"]
    assert others(["ci", "pipeline"]) == ["continuous", "integration", "build", "server"]
    assert others(["shop", "7101"]) == []
