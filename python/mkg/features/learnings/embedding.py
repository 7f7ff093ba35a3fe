"""Vectors for learnings that were stored without one, or by another model."""

from mkg.bundle import Runner
from mkg.embed import Embedder, check_dimension
from mkg.features import learnings


def page(run: Runner, embedder: Embedder, *, after: str, limit: int) -> str | None:
    """Embed the next few; returns where to go on, None when nothing is left.

    Raises:
        ModelError: the embedder failed; the page is tried again at the next call.
    """
    rows = learnings.unembedded(run, after=after, model=embedder.model, limit=limit)
    if not rows:
        return None
    vectors = embedder.embed([row.text for row in rows])
    check_dimension(embedder, vectors)
    made = [
        {"id": row.id, "text": row.text, "vector": v} for row, v in zip(rows, vectors, strict=True)
    ]
    learnings.embed(run, rows=made, model=embedder.model)
    return rows[-1].id
