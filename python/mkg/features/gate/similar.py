"""Which earlier statements of the same person a new one is near in meaning.

Nearness ends nothing and refuses nothing (D29). The pairs are remembered, and whoever is told the
earlier one is told beside it what was said later.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from mkg.embed import LOCAL_MODEL
from mkg.features.gate.change import two_things
from mkg.features.gate.statement import said

LEAST = {LOCAL_MODEL: 0.5}
"""Cosine from which on two statements are near, by model; chosen on the bench's tuned half."""
MOST = 2


def nearest(
    text: str,
    vector: Sequence[float] | None,
    model: str | None,
    others: Iterable[Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], float]]:
    """The nearest of `others`, MOST at most, each with its cosine; none where a vector is missing.

    What names another thing is passed over: 'the port of the kiosk', 'the port of the web shop'.

    Args:
        text: the new statement.
        vector: its unit vector, of `model`.
        others: each with `text` and `cosine`, found by the index, or `vector`.
    """
    least = LEAST.get(model or "")
    if least is None or vector is None:
        return []
    found = [(other, _cosine(vector, other)) for other in others]
    found.sort(key=lambda one: (-one[1], str(one[0]["id"])))
    mine = said(text)
    near = (one for one in found if one[1] >= least)
    return list(islice((one for one in near if not two_things(mine, said(one[0]["text"]))), MOST))


def _cosine(vector: Sequence[float], other: Mapping[str, Any]) -> float:
    there = other.get("vector")
    if there is not None:
        return sum(a * b for a, b in zip(vector, there, strict=True))
    cosine = other.get("cosine")
    return -1.0 if cosine is None else float(cosine)
