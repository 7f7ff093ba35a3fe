"""Whether a hit bears on a prompt at all. PROVISIONAL until calibrated on labelled pairs (PERF-05).

One rule per embedding model: near enough by cosine, or sharing enough rare terms; text-only search
has its own, stricter rule. Everything that decides silence stands in this file.
"""

from dataclasses import dataclass

from mkg import lexical
from mkg.features.learnings import Hit


@dataclass(frozen=True, slots=True)
class Rule:
    """Least cosine at which a hit bears: alone, with one shared rare term, with two."""

    floor: float
    floor_one_term: float
    floor_two_terms: float


RULES = {"minilm-l6-int8": Rule(floor=0.36, floor_one_term=0.22, floor_two_terms=0.05)}
TEXT_ONLY_TERMS = 2
RARE = 1.0
"""Least `lexical.weight` of a term that tells a subject: four letters, a digit, another script."""


def bears(hit: Hit, prompt: str, model: str | None) -> bool:
    """Whether a hit says something about this prompt; `model=None` is text-only."""
    shared = len(shared_terms(hit.text, prompt))
    rule = RULES.get(model) if model else None
    if rule is None or hit.cosine is None:
        return shared >= TEXT_ONLY_TERMS
    if hit.cosine >= rule.floor:
        return True
    if shared >= 2:
        return hit.cosine >= rule.floor_two_terms
    return shared == 1 and hit.cosine >= rule.floor_one_term


def shared_terms(one: str, other: str) -> set[str]:
    """Rare terms in both texts; plural and singular count as one."""
    return _rare(one) & _rare(other)


def _rare(text: str) -> set[str]:
    terms = lexical.query_terms(text, limit=400)
    return {_stem(term) for term in terms if lexical.weight(term) >= RARE or not term.isascii()}


def _stem(term: str) -> str:
    for ending in ("ing", "ment", "es", "ed", "s"):
        if term.isascii() and term.endswith(ending) and len(term) - len(ending) >= 4:
            return term[: -len(ending)]
    return term
