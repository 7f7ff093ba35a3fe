"""Changing the text of a known learning: its id stays, its words before are kept as a version."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mkg import lexical
from mkg.bundle import Runner, cypher
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.learnings.extract_origin import no_better_than
from mkg.features.learnings.propose import Proposed
from mkg.features.learnings.value_key import value_key
from mkg.features.learnings.write import SUMMARY, Owner


@dataclass(frozen=True, slots=True)
class Revised:
    """What became of a change: revised, same, foreign, or new: a candidate of its own."""

    id: str
    outcome: str
    demoted: bool


@cypher("learnings.revise")
def revise(run: Runner, *, rows: list[dict[str, Any]], owner_keys: list[str]) -> list[Revised]: ...


def changes(
    proposed: Sequence[Proposed],
    vectors: Sequence[list[float] | None],
    *,
    owner: Owner,
    model: str | None,
    version: str,
    at: str,
) -> list[dict[str, Any]]:
    """The rows of `revise` for every proposal that would change a known learning."""
    rows: list[dict[str, Any]] = []
    for one, vector in zip(proposed, vectors, strict=True):
        key = owner.key(one.candidate.scope)
        if one.existing is None or key is None:
            continue
        text = one.candidate.text
        facts = {
            "task_pattern": one.candidate.task_pattern,
            "tool_key": one.candidate.tool_key,
            "error_signature": one.candidate.error_signature,
            "resolved": one.candidate.resolved,
        }
        digest = hashlib.sha1(f"{version}\n{one.existing}\n{text}".encode()).hexdigest()[:16]
        rows.append(
            {
                "id": one.existing,
                "value_key": value_key(key, text),
                "text": text,
                "fixed": {
                    "summary": text[:SUMMARY],
                    "terms": " ".join(lexical.index_terms(text)),
                    "frame_key": frame_key(key, text),
                    "words_key": words_key(key, text),
                    # What a reply leaves out stays as it is stored.
                    **{name: value for name, value in facts.items() if value is not None},
                },
                "embedding": vector,
                "embedding_model": model if vector else None,
                "origins": no_better_than(one.candidate.origin),
                "version": f"version:{digest}",
                "at": at,
            }
        )
    return rows
