"""The gate's bench measures what it says: exact neighbours, every statement, a slope."""

import pytest

from tests.bench import gate, stock, world
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.requirement import requirement

SIZES = (100, 200)


@requirement("PERF-50", "PERF-46")
def test_the_gate_bench_runs_small_and_sets_its_bars(live: Live) -> None:
    found = gate.measure(
        live.run, sizes=SIZES, candidates=20, say=lambda text: None, model=minilm()
    )
    bars = [(row.bar, row.sense) for row in found.rows if row.bar is not None]
    near = (0.98, "at least")
    assert bars == [near, near, (3, "at most"), (0.3, "at most")]
    assert [row.value.value for row in found.rows if row.sense == "at least"] == [1.0, 1.0]
    assert [row.value.value for row in found.rows if row.bar == 3] == [3.0]


@requirement("PERF-50")
def test_neighbours_that_the_search_does_not_find_lower_the_recall(live: Live) -> None:
    model = minilm()
    stock.fill(live.run, model, 60, owner=gate.OWNER)
    texts = world.facts(10, seed=21)
    asked = list(zip(texts, model.embed(texts), strict=True))
    near, among = gate.fidelity(live.run, asked, model.model)
    assert (near.value, among.value < 1) == (1.0, True)
    blind, _ = gate.fidelity(live.run, asked, "a model that made none of them")
    assert blind.value == 0


def test_every_statement_of_a_batch_counts(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    from mkg.features import forget
    from mkg.features.learnings import write

    # As it would be if every batch asked what is archived.
    monkeypatch.setattr(write, "_archived", lambda kept, near: ["nothing"])
    found = gate.measure(
        live.run, sizes=(100,), candidates=10, say=lambda text: None, model=minilm()
    )
    (sent,) = (row for row in found.rows if row.bar == 3)
    assert (sent.value.value, sent.held) == (4.0, False)
    assert forget.revive(live.run, keys=["nothing"]).revived == 0
