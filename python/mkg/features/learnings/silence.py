"""Whether a hit bears on a prompt: a calibrated rule for each model, and one for words alone.

Nearness has no zero (PERF-05): a search always finds something. The constants stand in
`silence.toml`; `mkg bench silence` measures what they do.
"""

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mkg import lexical
from mkg.features.learnings import Hit

RARE = 1.0
"""Least `lexical.weight` of a term that tells a subject: four letters, a digit, another script."""
MOST_TELLING = 2.0


@dataclass(frozen=True, slots=True)
class Rule:
    """Of one model: cosine and telling terms together must reach the floor."""

    term: float
    floor: float


@dataclass(frozen=True, slots=True)
class Rules:
    """All constants."""

    models: dict[str, Rule]
    telling: float
    share: float
    least: float
    crowd: int


def read(path: Path) -> Rules:
    """The constants of a file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Rules(
        {name: Rule(row["term"], row["floor"]) for name, row in data["models"].items()},
        data["words"]["telling"],
        data["words"]["share"],
        data["rarity"]["least"],
        data["rarity"]["crowd"],
    )


RULES = read(Path(__file__).with_name("silence.toml"))


def bearing(hits: Sequence[Hit], prompt: str, model: str | None, rules: Rules = RULES) -> list[Hit]:
    """The hits that say something about this prompt; `model=None` judges by words alone."""
    asked = rare_terms(prompt)
    held = [rare_terms(hit.text) for hit in hits]
    common = Counter(term for terms in held for term in terms & asked)
    rule = rules.models.get(model) if model else None
    kept: list[Hit] = []
    for hit, terms in zip(hits, held, strict=True):
        shared = terms & asked
        telling = sum(_rarity(common[term], len(hits), rules) for term in shared)
        if rule is None or hit.cosine is None:
            share = len(shared) / max(1, min(len(terms), len(asked)))
            bears = bool(shared) and telling >= rules.telling and share >= rules.share
        else:
            bears = hit.cosine + rule.term * min(MOST_TELLING, telling) >= rule.floor
        if bears:
            kept.append(hit)
    return kept


@lru_cache(maxsize=4096)
def rare_terms(text: str) -> frozenset[str]:
    """The stems of a text's telling terms; plural and singular count as one.

    A resident worker meets the same learnings at prompt after prompt, so they are kept.
    """
    terms = lexical.query_terms(text, limit=400)
    telling = (term for term in terms if lexical.weight(term) >= RARE or not term.isascii())
    return frozenset(_stem(term) for term in telling)


def _rarity(having: int, hits: int, rules: Rules) -> float:
    """1 when one hit has the term, falling to the least when a quarter of them have it."""
    return max(rules.least, 1 - (having - 1) / (max(hits, rules.crowd) / 4))


def _stem(term: str) -> str:
    for ending in ("ing", "ment", "es", "ed", "s"):
        if term.isascii() and term.endswith(ending) and len(term) - len(ending) >= 4:
            return term[: -len(ending)]
    return term
