"""Vectors for what was stored without one, or by another model; one way for every feature."""

from dataclasses import dataclass
from typing import Any, Protocol

from mkg.bundle import Runner
from mkg.embed import Embedder, check_dimension


@dataclass(frozen=True, slots=True)
class Unembedded:
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    embedded: int


class Reads(Protocol):
    """A feature's query for its next rows without a vector, by id."""

    def __call__(self, run: Runner, *, after: str, model: str, limit: int) -> list[Unembedded]: ...


class Writes(Protocol):
    """A feature's query that stores {id, text, vector} rows where they still belong."""

    def __call__(self, run: Runner, *, rows: list[dict[str, Any]], model: str) -> Embedded: ...


Mending = tuple[Reads, Writes]


def page(run: Runner, embedder: Embedder, by: Mending, *, after: str, limit: int) -> str | None:
    """Embed the next few rows; returns where to go on, None when nothing is left.

    Raises:
        ModelError: the embedder failed; the page is tried again at the next call.
    """
    read, write = by
    rows = read(run, after=after, model=embedder.model, limit=limit)
    if not rows:
        return None
    vectors = embedder.embed([row.text for row in rows])
    check_dimension(embedder, vectors)
    made = [
        {"id": row.id, "text": row.text, "vector": v} for row, v in zip(rows, vectors, strict=True)
    ]
    write(run, rows=made, model=embedder.model)
    return rows[-1].id
