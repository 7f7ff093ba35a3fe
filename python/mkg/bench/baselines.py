"""Plain retrievers over the same turns, made to do the same work without a graph.

SQLite's full text (BM25, Porter stems), exact cosine, and reciprocal ranks of both; the last one
also reads the turn before and prefers the speaker who is named.
"""

import re
import sqlite3
from collections.abc import Callable, Sequence

from mkg import lexical
from mkg.features.timeline.dialogue import Dialogue, spoken

Ranking = list[str]
Embed = Callable[[Sequence[str]], list[list[float]]]
DEPTH = 100
_K = 60
_SPEAKER = 1.25


class Baselines:
    """Retrievers over one dialogue."""

    def __init__(self, dialogue: Dialogue, embed: Embed):
        import numpy as np

        self._ids = [turn.id for turn in dialogue.turns]
        self._speakers = {turn.id: turn.speaker for turn in dialogue.turns}
        lines = [f"{turn.speaker}: {spoken(turn)}" for turn in dialogue.turns]
        pairs = list(lines)
        for place in range(1, len(lines)):
            if dialogue.turns[place].sitting == dialogue.turns[place - 1].sitting:
                pairs[place] = f"{lines[place - 1]}\n{lines[place]}"
        self._base = sqlite3.connect(":memory:")
        for table, texts in (("turns", lines), ("pairs", pairs)):
            self._base.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(t, tokenize='porter unicode61')"
            )
            self._base.executemany(f"INSERT INTO {table}(rowid, t) VALUES (?, ?)", enumerate(texts))
        self._vectors = np.array(embed(lines)), np.array(embed(pairs))

    def close(self) -> None:
        """Forget the dialogue."""
        self._base.close()

    def rank(self, question: str, vector: Sequence[float]) -> dict[str, Ranking]:
        """Every baseline's ranking of turn ids."""
        names = {name for name in self._speakers.values() if _named(name, question)}
        bare = question
        for name in set(self._speakers.values()):
            bare = re.sub(rf"\b{re.escape(name)}\b", " ", bare, flags=re.IGNORECASE)
        words, around = self._words("turns", question), self._words("pairs", question)
        near, wide = (self._near(vectors, vector) for vectors in self._vectors)
        rich = _fused(
            [
                (words, 1.0),
                (around, 0.5),
                (near, 1.0),
                (wide, 0.5),
                (self._words("turns", bare), 0.5),
            ]
        )
        if len(names) == 1:
            rich = {i: s * (_SPEAKER if self._speakers[i] in names else 1) for i, s in rich.items()}
        return {
            "BM25": words,
            "vectors": near,
            "plain fusion": _best(_fused([(words, 1.0), (near, 1.0)])),
            "fusion, neighbours, speaker": _best(rich),
        }

    def _words(self, table: str, question: str) -> Ranking:
        tokens = [t for t in lexical.words(question) if t not in lexical.STOP and t.isalnum()]
        if not tokens:
            return []
        query = " OR ".join(f'"{token}"' for token in tokens)
        rows = self._base.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? "
            f"ORDER BY bm25({table}), rowid LIMIT ?",
            (query, DEPTH),
        )
        return [self._ids[place] for (place,) in rows]

    def _near(self, vectors: "object", vector: Sequence[float]) -> Ranking:
        import numpy as np

        order = np.argsort(-(np.asarray(vectors) @ np.asarray(vector)), kind="stable")
        return [self._ids[int(place)] for place in order[:DEPTH]]


def _named(name: str, question: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE) is not None


def _fused(lists: Sequence[tuple[Ranking, float]]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for ranking, weight in lists:
        for place, id in enumerate(ranking):
            scores[id] = scores.get(id, 0.0) + weight / (_K + place + 1)
    return scores


def _best(scores: dict[str, float]) -> Ranking:
    return sorted(scores, key=lambda id: (-scores[id], id))[:DEPTH]
