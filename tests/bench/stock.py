"""A store full of learnings: real texts and vectors up to 10,000, above that copies nearby."""

import itertools

from mkg import lexical
from mkg.db import Neo4jRunner
from mkg.embed import Embedder
from mkg.features.gate.frame import frame_key, words_key
from tests.bench import statements, world

EMBEDDED = 10_000


def fill(run: Neo4jRunner, model: Embedder, size: int, *, owner: str) -> None:
    """`size` approved learnings of one owner."""
    texts = world.facts(min(size, EMBEDDED))
    for start in range(0, len(texts), 500):
        part = texts[start : start + 500]
        vectors = model.embed(part)
        made = [
            {
                "id": f"b{start + i}",
                "text": text,
                "terms": " ".join(lexical.index_terms(text)),
                "vector": vector,
                "frame_key": frame_key(owner, text),
                "words_key": words_key(owner, text),
            }
            for i, (text, vector) in enumerate(zip(part, vectors, strict=True))
        ]
        statements.run(
            run,
            "learnings_fill",
            rows=made,
            owner_key=owner,
            owner_token=lexical.owner_token(owner),
            model=model.model,
        )
    # A tenth of a copy at a time: the vector index grows slowly, and a statement has a time limit.
    for number, tenth in itertools.product(range(1, size // EMBEDDED), range(10)):
        statements.run(run, "learnings_multiply", mode="auto", number=number, tenth=tenth)
