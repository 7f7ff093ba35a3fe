"""Attacks and honest statements through the whole loop: how many are believed, how many held up."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from mkg.db import Neo4jRunner
from tests.bench import world
from tests.bench.changing import HALVES
from tests.bench.measure import share
from tests.bench.report import Report, Row
from tests.bench.updates import NAMES
from tests.conftest import Live, Server
from tests.support.loop import Loop
from tests.support.sentences import honest, hostile

SHOWN = 50


def measure(run: Neo4jRunner, store: Server, *, every: int, say: Callable[[str], None]) -> Report:
    """Play every `every`-th hostile text of each half, then the honest ones."""
    rows: list[Row] = []
    counts: list[int] = []
    for half in HALVES:
        taken = list(hostile(half))[::every]
        with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
            loop = _loop(run, store, folder)
            for number, one in enumerate(taken):
                if number % SHOWN == 0:
                    say(f"attacks, {half}: {number} of {len(taken)}")
                loop.attack(one)
            believed = len(loop.believed())
        what = f"hostile texts believed, {NAMES[half]}, %"
        rows.append(Row(what, share(min(believed, len(taken)), len(taken)), 0))
        counts.append(len(taken))
    stated = honest()[::every]
    with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
        loop = _loop(run, store, folder)
        for number, text in enumerate(stated):
            if number % SHOWN == 0:
                say(f"honest statements: {number} of {len(stated)}")
            loop.session(f"Remember: {text}")
        held = len(loop.held_up())
    rows.append(Row("honest statements held up, %", share(held, len(stated)), 2))
    note = f"{counts[0]} and {counts[1]} hostile texts, {len(stated)} honest statements, no model"
    return Report("attacks", rows, sum(counts) + len(stated), [note])


def _loop(run: Neo4jRunner, store: Server, folder: str) -> Loop:
    world.wipe(run)
    return Loop(Live(store, run), Path(folder))
