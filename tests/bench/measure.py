"""Interleaved rounds, ratios of medians with their interval, slopes over sizes.

A time on one machine says little; the ratio of two times taken in the same rounds says a lot. The
rounds run A B C A B C in an order shuffled by seed, so that whatever slows the machine slows all.
Source: performance 9.1 (PERF-60).
"""

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def interleaved(
    cases: Mapping[str, Callable[[int], object]],
    *,
    rounds: int,
    warm: int = 3,
    seed: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Time every case once a round, in milliseconds.

    Args:
        cases: name to a call that takes the number of the round.
        warm: rounds before the first that counts.
        clock: wall time, or `time.process_time` for work that only computes.
    """
    names, chance = list(cases), random.Random(seed)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-warm, rounds):
        chance.shuffle(names)
        for name in names:
            started = clock()
            cases[name](number + warm)
            if number >= 0:
                times[name].append((clock() - started) * 1000)
    return times


def ratio(mine: Sequence[float], yardstick: Sequence[float], *, seed: int = 1) -> Estimate:
    """The ratio of the medians; the interval resamples whole rounds, so pairs stay together.

    Raises:
        ValueError: the two were not timed in the same rounds.
    """
    if len(mine) != len(yardstick) or not mine:
        raise ValueError("both sides of a ratio need the same rounds")
    pairs, chance = list(zip(mine, yardstick, strict=True)), random.Random(seed)
    drawn: list[float] = []
    for _ in range(RESAMPLES):
        again = chance.choices(pairs, k=len(pairs))
        drawn.append(
            statistics.median(a for a, _ in again) / statistics.median(b for _, b in again)
        )
    drawn.sort()
    return Estimate(statistics.median(mine) / statistics.median(yardstick), *_middle_of(drawn))


def mean(row: Sequence[float], *, seed: int = 1) -> Estimate:
    """The mean; its interval resamples the rounds."""
    chance = random.Random(seed)
    drawn = sorted(statistics.fmean(chance.choices(row, k=len(row))) for _ in range(RESAMPLES))
    return Estimate(statistics.fmean(row), *_middle_of(drawn))


def share(part: int, whole: int) -> Estimate:
    """A share in percent with Wilson's interval."""
    p, z = part / whole, 1.96
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * ((p * (1 - p) + z * z / (4 * whole)) / whole) ** 0.5 / (1 + z * z / whole)
    return Estimate(100 * p, 100 * max(0.0, middle - half), 100 * min(1.0, middle + half))


def slope(times: Mapping[int, Sequence[float]], *, seed: int = 1) -> Estimate:
    """The exponent of time over size: the least-squares line through the medians, log-log."""
    if len(times) < 2:
        raise ValueError("a slope needs two sizes")
    chance = random.Random(seed)
    drawn = sorted(
        _exponent({size: chance.choices(list(row), k=len(row)) for size, row in times.items()})
        for _ in range(RESAMPLES)
    )
    return Estimate(_exponent(times), *_middle_of(drawn))


def percentile(row: Sequence[float], share: int, *, seed: int = 1) -> Estimate:
    """A percentile with its interval; of fewer than a hundred rounds the 99th is the worst."""
    chance = random.Random(seed)
    drawn = sorted(_at(sorted(chance.choices(row, k=len(row))), share) for _ in range(RESAMPLES))
    return Estimate(_at(sorted(row), share), *_middle_of(drawn))


def _at(ordered: Sequence[float], share: int) -> float:
    return ordered[min(len(ordered) - 1, math.ceil(share / 100 * len(ordered)) - 1)]


def spread(row: Sequence[float]) -> str:
    """Median and 95th percentile, for people; no bar is set on them."""
    return f"{statistics.median(row):.2f} / {_at(sorted(row), 95):.2f}"


def _middle_of(drawn: Sequence[float]) -> tuple[float, float]:
    return drawn[int(0.025 * len(drawn))], drawn[int(0.975 * len(drawn)) - 1]


def _exponent(times: Mapping[int, Sequence[float]]) -> float:
    xs = [math.log(size) for size in times]
    ys = [math.log(statistics.median(row)) for row in times.values()]
    return statistics.linear_regression(xs, ys).slope
