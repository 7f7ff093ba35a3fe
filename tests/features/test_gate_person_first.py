"""A person who decides between a sweep's reading and its decision has the last word."""

from datetime import UTC, datetime
from typing import Any

import pytest

from mkg.features import gate
from mkg.features.gate import review
from mkg.features.gate.review import By, Decided
from tests.conftest import Live
from tests.features.test_gate_sweep import explicit, swept, waits
from tests.support.gating import state
from tests.support.requirement import requirement

FACT = "The API listens on port 8080."


@requirement("MEM-W11", "SEC-10")
@pytest.mark.parametrize("action", ["reject", "approve"])
def test_a_decision_between_reading_and_judging_stands(
    live: Live, monkeypatch: pytest.MonkeyPatch, action: review.Action
) -> None:
    waits(live, FACT)
    explicit(live)
    real = gate.oldest

    def meanwhile(*words: Any, **more: Any) -> list[gate.Old]:
        found = real(*words, **more)
        (seen,) = review.standing(live.run, id=found[0].id)
        made = review.decide(live.run, seen, action, By("ann"), at=datetime.now(UTC).isoformat())
        assert isinstance(made, Decided)
        return found

    monkeypatch.setattr(gate, "oldest", meanwhile)
    assert swept(live).moved == 0
    told = {"reject": "rejected", "approve": "approved"}[action]
    assert state(live)[FACT]["status"] == told
    by = "MATCH (d:GateDecision)-[:DECIDED]->(l) RETURN d.by AS by ORDER BY d.decision_no"
    assert [r["by"] for r in live.rows(by)][-1] == "human"
