"""SEC-79: the redactor's CPU time, against a JSON round trip of the same text."""

import json
import random
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

from mkg_hooks.redact import redact
from tests.bench.measure import interleaved, percentile, ratio, spread
from tests.bench.report import Report, Row

KB = 1_000
SIZES = {"1 kB": KB, "16 kB": 16 * KB, "1 MB": 1_000 * KB}
# The 99th of a hundred, in milliseconds: security 5.3.
BARS = {"16 kB": 5.0, "1 MB": 50.0}
REPEATS = {"1 kB": 20, "16 kB": 2, "1 MB": 1}


def measure(*, rounds: int, say: Callable[[str], None]) -> Report:
    """Time the redactor on prose, code and a lock file of three sizes."""
    say(f"{rounds} rounds")
    texts = {
        f"{name}, {size}": whole[:length]
        for name, whole in {"prose": prose(), "code": code(), "lock file": lock_file()}.items()
        for size, length in SIZES.items()
    }
    cases: dict[str, Callable[[int], object]] = {}
    for name, text in texts.items():
        times = REPEATS[name.rpartition(", ")[2]]
        cases[name] = lambda _, text=text, times=times: [redact(text) for _ in range(times)]
        cases[f"json {name}"] = lambda _, text=text, times=times: [
            json.loads(json.dumps(text)) for _ in range(times)
        ]
    taken = interleaved(cases, rounds=rounds, clock=time.process_time)
    rows = [
        Row(f"{name}, against a JSON round trip", ratio(taken[name], taken[f"json {name}"]))
        for name in texts
    ]
    for name in texts:
        size = name.rpartition(", ")[2]
        if size in BARS:
            each = [took / REPEATS[size] for took in taken[name]]
            rows.append(Row(f"{name}, 99th of 100, ms of CPU", percentile(each, 99), BARS[size]))
    told = {n: [took / REPEATS[n.rpartition(", ")[2]] for took in taken[n]] for n in texts}
    return Report(
        "redact",
        rows,
        rounds,
        ["ms of CPU, median / p95: " + ", ".join(f"{n} {spread(row)}" for n, row in told.items())],
    )


def prose() -> str:
    """A megabyte of sentences in the words of this repository's pages, none like another."""
    root, chance = Path(__file__).parents[2], random.Random(1)
    words = (root / "README.md").read_text("utf-8").split()
    words += (root / "CONTRIBUTING.md").read_text("utf-8").split()
    lines: list[str] = []
    size = 0
    while size < SIZES["1 MB"]:
        lines.append(" ".join(chance.choices(words, k=chance.randrange(5, 25))))
        size += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def code() -> str:
    """A megabyte of the standard library."""
    library = Path(sysconfig.get_path("stdlib"))
    return "".join(path.read_text("utf-8") for path in sorted(library.glob("*.py"))[:90])


def lock_file() -> str:
    """A megabyte of packages with two checksums each."""
    chance = random.Random(2)
    return "\n".join(
        f"package-{number}=={number % 9}.{number % 7}.1 \\\n"
        f"    --hash=sha256:{chance.getrandbits(256):064x} \\\n"
        f"    --hash=sha256:{chance.getrandbits(256):064x}"
        for number in range(6_000)
    )
