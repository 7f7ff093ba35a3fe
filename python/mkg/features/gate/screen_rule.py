"""What a rule of the deterministic screen is."""

import re
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["pass", "wait", "block"]
Category = Literal["injection", "privilege", "secret", "other"]
Negation = Literal["none", "before", "sentence"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for, with what follows: `typed` for a person's own words, else `other`."""

    name: str
    category: Category
    typed: Outcome
    other: Outcome
    negation: Negation
    reason: str
    patterns: tuple[re.Pattern[str], ...]


def rule(
    name: str,
    category: Category,
    outcomes: tuple[Outcome, Outcome],
    negation: Negation,
    reason: str,
    *patterns: str,
) -> Rule:
    """Build a rule from (typed, other) outcomes and patterns."""
    compiled = tuple(re.compile(pattern) for pattern in patterns)
    return Rule(name, category, outcomes[0], outcomes[1], negation, reason, compiled)
