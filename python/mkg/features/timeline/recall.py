"""Finding episodes that bear on a question: one statement ranks, this module hands it the parts.

Each weight was chosen on labelled dialogues (`mkg bench recall`); README tells what each brings.
"""

from dataclasses import asdict, dataclass
from typing import Protocol

from mkg import lexical
from mkg.bundle import Runner
from mkg.features import timeline

POOL = 50
"""Taken from each index; a larger pool costs time and brought nothing."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each source counts, next to a best hit by words, which counts 1."""

    vector: float = 0.5
    after: tuple[float, ...] = (1.0, 0.6, 0.36, 0.22)
    """What a hit by words counts itself, and lends to the turns after it, by distance."""
    before: tuple[float, ...] = (1.0, 0.45, 0.27, 0.16)
    speaker: float = 2.5
    """Factor for who is named in the question, when that is one person."""
    asking: float = 0.7
    """Factor for a turn that ends in a question: it asks and seldom tells."""


DEFAULT = Weights()


class Prepared(Protocol):
    """A question made ready for both indexes (`learnings.retrieval.Query`)."""

    @property
    def text(self) -> str: ...
    @property
    def terms(self) -> list[str]: ...
    @property
    def vector(self) -> list[float] | None: ...
    @property
    def model(self) -> str | None: ...


def find(
    run: Runner,
    query: Prepared,
    *,
    project_id: str,
    limit: int,
    weights: Weights = DEFAULT,
    pool: int = POOL,
) -> list[timeline.EpisodeHit]:
    """Episodes of a project, best first; none where neither side finds one."""
    owner = timeline.owner_key(project_id)
    return timeline.search(
        run,
        owner_key=owner,
        owner_token=lexical.owner_token(owner),
        terms=query.terms,
        words=lexical.words(query.text),
        vector=query.vector,
        embedding_model=query.model or "",
        weights={name: _plain(value) for name, value in asdict(weights).items()},
        pool=max(pool, limit),
        limit=limit,
    )


def _plain(value: float | tuple[float, ...]) -> float | list[float]:
    return list(value) if isinstance(value, tuple) else value
