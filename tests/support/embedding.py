"""The real local embedder, loaded once for a run."""

from collections.abc import Sequence
from functools import cache

from mkg.embed import LocalMiniLM


@cache
def minilm() -> LocalMiniLM:
    return LocalMiniLM()


class Unrelated:
    """An embedder whose vectors tell nothing: every text points another way."""

    model = "unrelated"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        made: list[list[float]] = []
        for text in texts:
            vector = [0.0] * self.dimension
            vector[hash(text) % self.dimension] = 1.0
            made.append(vector)
        return made
