"""A chunk shown to a model: what it would note, and what it says happened.

Nothing is written here. A sheet that is too much to read or to answer at once is shown in halves;
whatever else goes wrong is told, and the chunk waits for another try.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mkg.bundle import Store
from mkg.embed import Embedder
from mkg.features.gate.rules import DEFAULT, Rules
from mkg.features.learnings import observe, propose
from mkg.features.learnings.chunks import Chunk, Shown, halved
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.write import Owner
from mkg.llm import Failed, Model, Skipped

MOST_HALVINGS = 3
NO_MODEL = "deterministic extraction"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads, and with what."""

    run: Store
    embedder: Embedder | None
    session_id: str
    owner: Owner
    rules: Rules = DEFAULT
    client: str | None = None

    @property
    def model(self) -> Model | None:
        """Who is asked, if anybody."""
        return self.rules.model

    @property
    def vectors_by(self) -> str | None:
        """The name of the model that makes the vectors."""
        return self.embedder.model if self.embedder else None

    @property
    def owner_keys(self) -> list[str]:
        """Whose learnings a model may see and change."""
        keys = (self.owner.key("project"), self.owner.key("user"))
        return [key for key in keys if key is not None]


@dataclass(frozen=True, slots=True)
class Thought:
    """What the model said of one chunk, ready to be written."""

    facts: dict[str, Any]
    proposed: tuple[propose.Proposed, ...] = ()
    observed: tuple[observe.Observed, ...] = ()


def think(reader: Reader, chunk: Chunk, found: Sequence[Candidate]) -> Thought | Failed:
    """Both calls for every sheet of a chunk; the first decides whether it was read."""
    if reader.model is None:
        return Thought({"llm_status": "skipped", "llm_skip_reason": NO_MODEL})
    proposed: list[propose.Proposed] = []
    observed: list[observe.Observed] = []
    facts: dict[str, Any] = {"llm_status": "skipped", "llm_skip_reason": "nothing was said"}
    for sheet in chunk.sheets:
        for part, answer in _heard(reader, reader.model, sheet, found, MOST_HALVINGS):
            if isinstance(answer, Failed):
                return answer
            if isinstance(answer, Skipped):
                facts = {"llm_status": "skipped", "llm_skip_reason": answer.reason[:300]}
                return Thought(facts, tuple(proposed), tuple(observed))
            proposed += answer.proposed
            facts = {"llm_status": "ok", "llm_model": answer.model, "llm_prompt": answer.prompt}
            observed += _observed(reader, reader.model, part)
    return Thought(facts, tuple(proposed), tuple(observed))


def _heard(
    reader: Reader,
    model: Model,
    sheet: Sequence[Shown],
    found: Sequence[Candidate],
    halvings: int,
) -> Iterator[tuple[Sequence[Shown], propose.Heard | Skipped | Failed]]:
    """What came of a sheet; of its halves, where it was too much to read or to answer at once."""
    answer = propose.propose(
        model,
        reader.run,
        reader.embedder,
        sheet,
        owner_keys=reader.owner_keys,
        found=found,
        client=reader.client,
    )
    halves = halved(sheet)
    if not isinstance(answer, Failed) or not answer.cut or not halvings or not halves:
        yield sheet, answer
        return
    for half in halves:
        yield from _heard(reader, model, half, found, halvings - 1)


def _observed(reader: Reader, model: Model, sheet: Sequence[Shown]) -> list[observe.Observed]:
    if reader.owner.project_id is None:
        return []
    return observe.observe(
        model,
        reader.embedder,
        sheet,
        project_id=reader.owner.project_id,
        user_id=reader.owner.user_id,
        session_id=reader.session_id,
        client=reader.client,
    )
