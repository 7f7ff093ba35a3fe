"""The self-test that a store must pass before the first raw query runs on it (D21).

It tries each layer alone with texts that do no harm when a layer fails: nothing here would write
more than one empty node, and that inside a transaction which is rolled back.
"""

from dataclasses import dataclass

from mkg.db.raw import RawReader
from mkg.errors import RawFailed
from mkg.features.reader import plan as plans
from mkg.features.reader.policy import Policy, load_policy
from mkg.features.reader.probes import ALLOWED, FOREIGN, REFUSED, WRITES
from mkg.features.reader.rules import decide


@dataclass(frozen=True, slots=True)
class Failed:
    """A probe that came out wrong: which layer, which probe."""

    layer: str
    probe: str


def prove(raw: RawReader) -> Failed | None:
    """The first layer that does not hold; None when all do.

    Raises:
        GraphUnavailable, ConfigError: the store cannot be asked.
    """
    policy = load_policy()
    for name, text in ALLOWED.items():
        if not decide(text, policy).allowed:
            return Failed("text", name)
    for name, text in {**REFUSED, **FOREIGN, **WRITES}.items():
        if decide(text, policy).allowed:
            return Failed("text", name)
    for name, text in ALLOWED.items():
        if not _planned(raw, text, policy):
            return Failed("plan", name)
    for name, text in {**FOREIGN, **WRITES}.items():
        if _planned(raw, text, policy):
            return Failed("plan", name)
    for name, text in WRITES.items():
        if _runs(raw, text):
            return Failed("session", name)
    return None


def _planned(raw: RawReader, text: str, policy: Policy) -> bool:
    """Whether the plan of a text is admitted."""
    try:
        with raw.unit({"query": "reader.proof"}) as unit:
            return plans.objection(unit.explain(text, {}), policy) == ""
    except RawFailed:
        return False


def _runs(raw: RawReader, text: str) -> bool:
    """Whether a READ transaction takes a write."""
    try:
        with raw.unit({"query": "reader.proof"}) as unit:
            _, rows = unit.stream(text, {})
            for _ in rows:
                pass
    except RawFailed as error:
        # Any other refusal than for the access mode proves nothing.
        return not error.code.endswith("AccessMode")
    return True
