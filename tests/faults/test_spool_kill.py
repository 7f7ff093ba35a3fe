"""Kill -9 while many write: the acknowledged keys and the stored keys are compared as sets."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from mkg_hooks import spool as spool_module
from mkg_hooks.spool import Spool
from tests.support.requirement import requirement

WRITER = Path(__file__).with_name("spool_writer.py")
HOOKS = str(Path(spool_module.__file__).parents[1])
WRITERS = 4
KILLS = 16
ENOUGH = 100


def start(folder: Path, name: str, *more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-S",
            str(WRITER),
            HOOKS,
            str(folder / "spool"),
            str(folder / "ledger"),
            name,
            *more,
        ]
    )


def acknowledged(folder: Path) -> list[str]:
    path = folder / "ledger"
    # The ledger's own last line may be torn by the kill; what is torn was not yet reported.
    return [line for line in path.read_text().split("\n")[:-1] if line] if path.exists() else []


def one_batch(spool: Spool) -> list[str]:
    """Read and commit, as the worker does."""
    batch = spool.read(spool.cursor(), 200)
    if batch:
        spool.commit(batch[-1][0])
    return [str(record["event_key"]) for _, record in batch]


def the_rest(spool: Spool) -> list[str]:
    """Read to the end, when nobody writes any more."""
    found: list[str] = []
    while batch := one_batch(spool):
        found += batch
    return found


@requirement("SEC-10")
def test_writers_killed_at_random_moments_lose_and_double_nothing_that_was_acknowledged(
    tmp_path: Path, request: pytest.FixtureRequest
):
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    spool = Spool(tmp_path / "spool")
    found: list[str] = []
    writers = [start(tmp_path, f"w{n}") for n in range(WRITERS)]
    request.addfinalizer(lambda: [writer.kill() for writer in writers])
    kills, until = 0, time.monotonic() + 20
    while (kills < KILLS or len(acknowledged(tmp_path)) < ENOUGH) and time.monotonic() < until:
        pause = time.monotonic() + dice.uniform(0.0, 0.15)
        while time.monotonic() < pause:
            found += one_batch(spool)
        number = dice.randrange(WRITERS)
        writers[number].kill()
        writers[number].wait()
        writers[number] = start(tmp_path, f"k{kills}")
        kills += 1
    for writer in writers:
        writer.kill()
        writer.wait()
    found += the_rest(spool)
    told = acknowledged(tmp_path)
    assert len(told) >= ENOUGH
    assert [key for key, count in Counter(found).items() if count > 1] == []
    assert set(told) - set(found) == set()
    assert len(set(found) - set(told)) <= kills + WRITERS
    assert spool.quarantined() == 0 and spool.counters()["torn"] <= kills + WRITERS
    by_writer: dict[str, list[int]] = {}
    for key in found:
        name, _, number = key.partition("-")
        by_writer.setdefault(name, []).append(int(number))
    assert all(numbers == list(range(len(numbers))) for numbers in by_writer.values())


@requirement("SEC-10")
def test_writers_killed_in_the_middle_of_a_write_lose_nothing_that_was_acknowledged(tmp_path: Path):
    spool = Spool(tmp_path / "spool")
    for round_number, size in enumerate((0, 1, 7, 15, 30, 60, 200)):
        writers = [start(tmp_path, f"r{round_number}w{n}", str(size + n)) for n in range(2)]
        for writer in writers:
            assert writer.wait(20) == -9
    found, told = the_rest(spool), acknowledged(tmp_path)
    assert sorted(found) == sorted(told) and len(set(told)) == len(told) == 7 * 2 * 9
    # What two writers left behind each other is one stretch of torn bytes; one began with nothing.
    assert 7 <= spool.counters()["torn"] <= 13 and spool.quarantined() == 0
