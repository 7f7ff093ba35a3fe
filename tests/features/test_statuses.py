"""The status values of a learning: one list that every query keeps to, and all of it comes true."""

import re
import tomllib
from datetime import UTC, datetime

import pytest

from mkg.bundle.files import root
from mkg.features.forget import keeping
from mkg.features.gate.rules import Rules
from tests.conftest import Live
from tests.features.test_gate_sweep import swept, waits
from tests.features.test_judge import NEW, OLD, says
from tests.features.test_review import decide, learned
from tests.support.gating import Scripted, candidate, gated
from tests.support.requirement import requirement

_BOUND = re.compile(r"\((\w+):(\w+)")
_COMPARED = re.compile(r"\b(\w+)\.status\s*(?:=|<>|IN)\s*(\[[^\]]*\]|'\w*')")


def declared() -> set[str]:
    model = tomllib.loads((root("cypher") / "model.toml").read_text(encoding="utf-8"))
    return set(model["values"]["Learning.status"])


def named(text: str) -> list[str]:
    """The values that a statement compares the status of a learning with, or sets it to."""
    bound: dict[str, set[str]] = {}
    for name, label in _BOUND.findall(text):
        bound.setdefault(name, set()).add(label)
    found: list[str] = []
    for name, values in _COMPARED.findall(text):
        if "Learning" in bound.get(name, {"Learning"}):
            found.extend(re.findall(r"'(\w*)'", values))
    return found


@requirement("MEM-W21")
def test_no_query_names_a_status_that_is_not_in_the_list() -> None:
    queries = sorted(root("cypher").rglob("*.cypher"))
    found = {path.stem: named(path.read_text(encoding="utf-8")) for path in queries}
    assert sum(map(len, found.values())) > 40
    assert {name: v for name, v in found.items() if not declared().issuperset(v)} == {}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("MATCH (l:Learning) WHERE l.status = 'superseded'", ["superseded"]),
        ("MATCH (l:Learning) WHERE l.status IN ['approved', 'gone']", ["approved", "gone"]),
        ("WITH l WHERE l.status <> 'x'", ["x"]),
        ("MATCH (e:Episode) WHERE e.status = 'active'", []),
    ],
)
def test_the_values_of_a_statement_are_found(text: str, values: list[str]) -> None:
    assert named(text) == values


@requirement("MEM-W21")
def test_every_status_in_the_list_is_one_that_something_writes(live: Live) -> None:
    gated(live, [candidate("The till is on db-7.")])
    keeping.batch(live.run, {"unused": datetime(2027, 12, 1, tzinfo=UTC)})
    # What waits is blocked when the screen has become stricter.
    waits(live, "Deploys run from the trunk.")
    verdict = {"n": 1, "verdict": "block", "category": "other", "reason": "now refused"}
    swept(live, Rules(sweep=1, model=Scripted(screen={"verdicts": [verdict]})))
    decide(live, learned(live, "The shop closes at noon.", origin="mcp_write"), "reject")
    gated(live, [candidate(OLD)])
    gated(live, [candidate(NEW)], rules=Rules(model=Scripted(judge=says(restates=OLD))))
    gated(live, [candidate("The cache is on db-9.", origin="assistant_clean")])
    gated(live, [candidate("The queue is on db-8.", origin="mcp_write")])
    found = live.rows("MATCH (l:Learning) RETURN DISTINCT l.status AS status")
    assert {row["status"] for row in found} == declared()
