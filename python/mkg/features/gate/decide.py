"""The first gate: the deterministic screen, then the ceiling that a statement's origin sets.

Source: security.md 2.4, D10, D20. A pass of the screen never raises authority; only an explicit
statement that the user typed is approved without a person. The rest waits, unseen by prompts.
"""

from dataclasses import dataclass
from typing import assert_never

from mkg.features.gate.screen import Verdict, screen

QUARANTINED = frozenset({"assistant_tainted", "mcp_write"})
CHANNEL = {
    "user_typed": "U",
    "user_pasted": "P",
    "assistant_clean": "M",
    "assistant_local": "M",
    "assistant_tainted": "M",
    "tool": "T",
    "import": "T",
    "mcp_write": "A",
}


NOT_EXPLICIT = "not explicit"


@dataclass(frozen=True, slots=True)
class Approved:
    """May be told at a prompt."""

    rule: str


@dataclass(frozen=True, slots=True)
class Waits:
    """Kept for a person or for more evidence; `status` is candidate or quarantined."""

    status: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing of it is kept but the reason."""

    category: str
    rule: str
    reason: str


Outcome = Approved | Waits | Blocked


def decide(text: str, *, origin: str, explicit: bool) -> Outcome:
    """What the gate makes of one candidate."""
    verdict: Verdict = screen(text, channel=CHANNEL.get(origin, "T"))
    match verdict.verdict:
        case "block":
            return Blocked(verdict.category, verdict.rule, verdict.reason)
        case "wait":
            status = "quarantined" if origin in QUARANTINED else "candidate"
            return Waits(status, verdict.rule, verdict.reason)
        case "pass":
            return _by_origin(origin, explicit)
        case other:  # pyright: ignore[reportUnnecessaryComparison]
            assert_never(other)


def _by_origin(origin: str, explicit: bool) -> Outcome:
    if origin == "user_typed" and explicit:
        return Approved("typed and explicit")
    if origin in QUARANTINED:
        return Waits("quarantined", "origin", f"origin {origin} needs a person")
    if origin == "user_typed":
        return Waits("candidate", NOT_EXPLICIT, "inferred from what was said, not stated as a fact")
    return Waits("candidate", "origin", f"origin {origin} needs support or a person")
