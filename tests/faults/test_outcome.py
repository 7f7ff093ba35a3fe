"""What the table of faults counts, and that README shows what the last long run found."""

import pytest

from tests.faults import outcome
from tests.faults.outcome import Outcome, counted, inverted, table, with_table


def test_what_is_missing_is_lost_and_what_is_there_twice_is_doubled():
    found = counted(
        "F1", "x", "short", trials=9, acknowledged=["a", "b", "c"], stored=["a", "a", "c", "d"]
    )
    assert (found.acknowledged, found.lost, found.duplicated) == (3, 1, 1)
    assert not found.held


@pytest.mark.parametrize(
    ("acked", "stored", "blocked", "held"),
    [
        (["a"], ["a", "unacknowledged"], 0, True),
        (["a"], [], 0, False),
        (["a"], ["a", "a"], 0, False),
        (["a"], ["a"], 1, False),
        # Where nothing was promised nothing is proved.
        ([], [], 0, False),
    ],
)
def test_an_outcome_holds_when_something_was_promised_and_all_of_it_is_there_once(
    acked: list[str], stored: list[str], blocked: int, held: bool
):
    found = counted(
        "F1", "x", "short", trials=1, acknowledged=acked, stored=stored, blocked=blocked
    )
    assert found.held is held


def test_a_fault_tried_in_two_ways_is_one_line_and_a_loss_in_either_stays_in_it():
    first = Outcome("F16", "x", "long", 2, 3, 1, 0, 4, 0.5)
    second = Outcome("F16", "x", "long", 10, 20, 0, 30, 0, 0.25)
    assert outcome.together(first, second) == Outcome("F16", "x", "long", 12, 23, 1, 30, 4, 0.5)
    still = Outcome("F16", "x", "long", 1, 1, 0, 0)
    assert outcome.together(still, still).worst_s is None
    short = Outcome("F16", "x", "short", 1, 1, 0, 0)
    assert outcome.together(short, second) == second and outcome.together(None, short) == short


def test_keys_out_of_their_writers_order_are_named():
    assert inverted(["a-0", "b-0", "a-1", "b-7", "a-2"]) == []
    assert inverted(["a-0", "a-2", "a-1", "a-2"]) == ["a-1"]


def test_the_table_is_ordered_by_number_and_goes_between_the_marks_only():
    rows = [
        Outcome("F10", "ten", "short", 1, 2, 0, 0),
        Outcome("F2", "two", "long", 3, 4, 0, 0, 0, 1.5),
    ]
    lines = table(rows).splitlines()
    assert lines[2:] == [
        "| F2 two | 3 | 4 | 0 | 0 | 0 | 1.50 s |",
        "| F10 ten | 1 | 2 | 0 | 0 | 0 |  |",
    ]
    page = f"above\n{outcome.BEGIN}\nold\n{outcome.END}\nbelow"
    assert with_table(page, rows) == (
        f"above\n{outcome.BEGIN}\n{table(rows)}\n{outcome.END}\nbelow"
    )
    with pytest.raises(ValueError, match="once each"):
        with_table("no marks", rows)


def test_readme_shows_what_was_kept_and_every_line_of_it_held():
    kept = outcome.load_all()
    text = outcome.README.read_text(encoding="utf-8")
    assert with_table(text, kept) == text
    faults = {one.fault for one in kept}
    assert {f"F{n}" for n in (*range(1, 8), 10, 11, *range(13, 22), 25)} <= faults
    assert faults <= {f"F{n}" for n in (*range(1, 8), *range(10, 22), 25)}
    assert all(one.held for one in kept)


def test_the_long_form_can_be_run_in_part_and_never_less_than_the_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert (outcome.times("short", 3, 100), outcome.times("long", 3, 100)) == (3, 100)
    monkeypatch.setattr(outcome, "PART", 0.1)
    assert (outcome.times("short", 3, 100), outcome.times("long", 3, 100)) == (3, 10)
    assert outcome.times("long", 3, 10) == 3
