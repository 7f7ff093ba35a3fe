"""One candidate's decision as the graph takes it: ceiling, stamps and relations, no status yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mkg.features.gate.decide import NOT_EXPLICIT, QUARANTINED, Approved, Blocked, Outcome, Waits
from mkg.features.gate.judge import UNANSWERED, Judged, Second
from mkg.features.gate.rules import Rules
from mkg.features.gate.weigh import Told, Weighed

GATE_OFF = "gate off"
# Waits for these reasons although the screen let it pass.
_PASSED = frozenset({"origin", NOT_EXPLICIT, GATE_OFF})
# What a second session's support lets through (security.md 2.4).
_BY_SESSIONS = frozenset({"user_typed", "user_pasted", "assistant_clean"})


@dataclass(frozen=True, slots=True)
class Consulted:
    """What a model said of a batch, by the number of its candidates."""

    screened: Mapping[int, Second] = field(default_factory=dict[int, Second])
    answers: Mapping[int, Judged | Waits] = field(default_factory=dict[int, "Judged | Waits"])

    @property
    def judged(self) -> dict[int, Judged]:
        """Clear answers of the judge."""
        return {no: j for no, j in self.answers.items() if isinstance(j, Judged)}

    @property
    def trouble(self) -> str | None:
        """Why a row waits for a model that gave no clear answer, if one does."""
        said = [second.outcome for second in self.screened.values()]
        waits = [w for w in (*said, *self.answers.values()) if isinstance(w, Waits)]
        return next((w.reason for w in waits if w.rule == UNANSWERED), None)

    def lower(self, no: int, outcome: Outcome) -> Outcome:
        """The stricter of what the rules and the model say."""
        if isinstance(outcome, Blocked):
            return outcome
        second = self.screened.get(no)
        if second is not None and isinstance(second.outcome, Blocked):
            return second.outcome
        if isinstance(outcome, Waits):
            return outcome
        if second is not None and second.outcome is not None:
            return second.outcome
        judged = self.answers.get(no)
        return judged if isinstance(judged, Waits) else outcome


NOBODY = Consulted()


def decision(
    weighed: Weighed,
    told: Told,
    judged: Judged | None,
    second: Second | None,
    rules: Rules,
    at: str,
) -> dict[str, Any]:
    """What `gate.settle` needs of one candidate, with its value key in place of its id."""
    outcome = weighed.outcome
    made: dict[str, Any] = {
        "value_key": told.value_key,
        "at": at,
        "valid_from": told.at.isoformat(),
        "by": "judge" if judged is not None else "gate",
        "origin": weighed.origin,
        "corroborated": _corroborated(weighed, rules),
        "safety_model": second.model if second else None,
        "model": judged.model if judged else None,
        "prompt": judged.prompt if judged else None,
        "neighbours": [str(n["id"]) for n in told.neighbours],
        "relations": told.relations,
    }
    if isinstance(outcome, Approved):
        return {
            **made,
            "ceiling": "approved",
            "rule": outcome.rule,
            "reason": "passed the screen; the origin allows it",
            "safety_status": "passed",
        }
    assert isinstance(outcome, Waits)
    return {
        **made,
        "ceiling": outcome.status,
        "rule": outcome.rule,
        "reason": outcome.reason,
        "safety_status": "passed" if outcome.rule in _PASSED else "held",
    }


def _corroborated(weighed: Weighed, rules: Rules) -> str:
    """Whose repetition would let it pass: other sessions, the person in person, or nobody's."""
    outcome = weighed.outcome
    if not rules.on or not isinstance(outcome, Waits) or outcome.rule not in _PASSED:
        return ""
    if outcome.rule == UNANSWERED:
        return ""
    if weighed.origin in QUARANTINED:
        return "typed"
    return "sessions" if weighed.origin in _BY_SESSIONS else ""
