"""The figures of `make bench`: what a ratio, a slope and a bar say, and that each can fail."""

import random
from pathlib import Path

import pytest

from tests.bench import redaction, report
from tests.bench.measure import Estimate, interleaved, percentile, ratio, slope
from tests.support.requirement import requirement


def _noisy(centre: float, seed: int, count: int = 80) -> list[float]:
    chance = random.Random(seed)
    return [centre * chance.lognormvariate(0, 0.1) for _ in range(count)]


@requirement("PERF-60")
def test_every_case_runs_once_a_round_in_a_changing_order() -> None:
    order: list[str] = []
    cases = {name: lambda _, name=name: order.append(name) for name in "abc"}
    times = interleaved(cases, rounds=20, warm=2)
    rounds = [order[i : i + 3] for i in range(0, len(order), 3)]
    assert all(sorted(names) == ["a", "b", "c"] for names in rounds)
    assert len({tuple(names) for names in rounds}) > 1
    assert {name: len(row) for name, row in times.items()} == {"a": 20, "b": 20, "c": 20}


def test_cases_are_timed_by_the_clock_that_is_given() -> None:
    ticks = iter(range(1_000))
    times = interleaved({"a": lambda _: None}, rounds=3, warm=0, clock=lambda: float(next(ticks)))
    assert times == {"a": [1000.0, 1000.0, 1000.0]}


def test_a_percentile_is_the_value_that_so_many_stay_below() -> None:
    found = percentile([float(n) for n in range(1, 101)], 99)
    assert found.value == 99
    assert 90 < found.low < found.high == 100
    assert percentile([3.0], 99).value == 3


def test_the_redactors_texts_are_large_enough_and_its_rows_carry_the_bars() -> None:
    assert min(map(len, (redaction.prose(), redaction.code(), redaction.lock_file()))) >= 10**6
    made = redaction.measure(rounds=1, say=lambda text: None)
    bars = [row.bar for row in made.rows]
    assert bars == [None] * 9 + [5.0, 50.0] * 3
    assert all(row.value.value > 0 for row in made.rows)


@requirement("PERF-46")
def test_a_ratio_is_that_of_the_medians_and_its_interval_holds_it() -> None:
    found = ratio(_noisy(30, 1), _noisy(20, 2))
    assert found.low < 1.5 < found.high
    assert found.high - found.low < 0.2


def test_sides_that_were_not_timed_together_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="same rounds"):
        ratio([1.0, 2.0], [1.0])


def test_a_slope_is_the_exponent_of_growth() -> None:
    flat = slope({n: _noisy(5, n) for n in (10, 100, 1000)})
    linear = slope({n: _noisy(n, n) for n in (10, 100, 1000)})
    assert abs(flat.value) < 0.05
    assert abs(linear.value - 1) < 0.05
    with pytest.raises(ValueError, match="two sizes"):
        slope({10: [1.0]})


@requirement("PERF-46")
@pytest.mark.parametrize(
    ("value", "bar", "sense", "held"),
    [
        (Estimate(1.7, 1.5, 1.9), 1.6, "at most", True),
        (Estimate(1.9, 1.7, 2.1), 1.6, "at most", False),
        (Estimate(0.70, 0.68, 0.73), 0.724, "at least", True),
        (Estimate(0.70, 0.68, 0.72), 0.724, "at least", False),
        (Estimate(9.0, 8.0, 10.0), None, "at most", None),
    ],
)
def test_a_bar_counts_at_the_better_end_of_the_interval(
    value: Estimate, bar: float | None, sense: report.Sense, held: bool | None
) -> None:
    assert report.Row("x", value, bar, sense).held is held


@requirement("PERF-62")
def test_a_kept_report_comes_back_whole_and_stands_in_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    made = report.Report(
        "append", [report.Row("one event", Estimate(1.8, 1.7, 1.9), 1.6)], 5, ["a note"]
    )
    report.save(made)
    (kept,) = report.load_all()
    assert kept == made
    page = report.with_tables(f"before\n{report.BEGIN}\nlast time\n{report.END}\nafter", [kept])
    assert "| one event | 1.80 [1.70, 1.90] | at most 1.6 | **no** |" in page
    assert "last time" not in page
    assert page.startswith("before\n")
    assert page.endswith("\nafter")
    with pytest.raises(ValueError, match="generated:bench"):
        report.with_tables("no markers", [kept])


@requirement("PERF-53")
def test_the_readme_shows_exactly_the_kept_results() -> None:
    page = report.README.read_text(encoding="utf-8")
    assert report.with_tables(page, report.load_all()) == page
