"""`make bench`: run the benchmarks, keep their results, renew README's tables, print them.

make bench                          everything, README's tables renewed
make bench ARGS="--only append"     one subject
make bench ARGS="--quick"           few rounds and small stores; nothing is kept
"""

import argparse
import sys
import time

from tests.bench import (
    append,
    attacks,
    extraction,
    gate,
    hooks,
    recall,
    redaction,
    report,
    spool,
    start,
    updates,
    world,
)

SUBJECTS = (
    "append",
    "attacks",
    "extraction",
    "gate",
    "hooks",
    "recall",
    "redact",
    "spool",
    "start",
    "updates",
)


def main(words: list[str]) -> int:
    """Return 0 when every bar holds at its interval's better end."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=SUBJECTS, action="append", default=[])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args(words)
    wanted = options.only or list(SUBJECTS)
    made = [found for name in wanted for found in _run(name, quick=options.quick)]
    for found in made:
        print("\n".join(report.table(found)))
        if not options.quick:
            report.save(found)
    if not options.quick:
        report.write_readme()
    missed = [row.what for found in made for row in found.rows if row.held is False]
    for what in missed:
        print(f"over its bar: {what}", file=sys.stderr)
    return 1 if missed else 0


def _run(name: str, *, quick: bool) -> list[report.Report]:
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {name}: {text}", file=sys.stderr, flush=True)

    if name == "start":
        return [start.measure(rounds=1 if quick else 5, say=say)]
    if name == "redact":
        return [redaction.measure(rounds=10 if quick else 100, say=say)]
    with world.server() as (run, driver, store):
        if name == "append":
            return [append.measure(run, driver, rounds=30 if quick else 200, say=say)]
        if name == "attacks":
            return [attacks.measure(run, store, every=9 if quick else 1, say=say)]
        if name == "extraction":
            return [extraction.measure(run, rounds=10 if quick else 60, say=say)]
        if name == "gate":
            sizes = (1_000,) if quick else (1_000, 10_000, 50_000)
            return [gate.measure(run, sizes=sizes, candidates=50 if quick else 200, say=say)]
        if name == "hooks":
            size = hooks.QUICK if quick else hooks.FULL
            return [hooks.measure(run, store, size, say)]
        if name == "updates":
            return [updates.measure(run, store, count=30 if quick else 300, say=say)]
        if name == "spool":
            rounds, replayed = (30, 400) if quick else (200, 2_000)
            return [spool.measure(run, driver, rounds=rounds, replayed=replayed, say=say)]
        sizes = (1_000,) if quick else (1_000, 10_000, 100_000)
        return [recall.measure(run, sizes=sizes, rounds=30 if quick else 120, say=say)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
