"""`project_explain_learning`: where one line comes from and what became of it."""

from typing import Any, TypeVar

from pydantic import Field

from mkg.errors import Refused
from mkg.features.learnings import story
from mkg.features.tool import PROVENANCE, Answer, Asked, Call, Part

QUERIES = ("learnings.why", "learnings.story")
P = TypeVar("P", bound=Part)


class ExplainAsked(Asked):
    learning_id: str = Field(description="Full or short id, as it stands in a told line.")


class SaidPart(Part):
    quote: str = Field(default="", description="The recorded words, redacted and escaped.")
    origin: str = Field(default="", description="Who said them.")
    event: str = Field(default="", description="The kind of event.")
    session_id: str = Field(default="", description="The session.")
    at: str = Field(default="", description="When.")
    extractor: str = Field(default="", description="What read the statement out of them.")


class DecisionPart(Part):
    to: str = Field(default="", description="The status it led to.")
    by: str = Field(default="", description="gate, human or agent.")
    rule: str = Field(default="", description="The rule or the person's action.")
    reason: str = Field(default="", description="Why.")
    at: str = Field(default="", description="When.")
    undone: str | None = Field(default=None, description="When it was taken back.")


class OtherPart(Part):
    id: str = Field(default="", description="Short id of the other learning.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    status: str = Field(default="", description="Its status.")
    reason: str | None = Field(default=None, description="Why the two are connected.")


class VerdictPart(Part):
    kind: str = Field(default="", description="wrong, outdated or not-here.")
    note: str | None = Field(default=None, description="The person's own words.")
    at: str = Field(default="", description="When.")


class ExplainAnswer(Answer):
    id: str = Field(default="", description="Id of the learning.")
    text: str = Field(default="", description="What it says, redacted and escaped.")
    status: str = Field(default="", description="Its status; error when the call failed.")
    scope: str = Field(default="", description="project or user.")
    origin: str = Field(default="", description="Who said it, as far as the record shows.")
    support_count: int = Field(default=0, description="In how many sessions it came up.")
    told: int = Field(default=0, description="How often it was put before a model.")
    pulled: int = Field(default=0, description="How often an agent asked for it.")
    evidence: list[SaidPart] = Field(default=[], description="The words it rests on.")
    decisions: list[DecisionPart] = Field(default=[], description="In their order.")
    replaced: list[OtherPart] = Field(default=[], description="Older values, the nearest first.")
    replaced_by: list[OtherPart] = Field(default=[], description="Newer ones, the nearest first.")
    conflicts: list[OtherPart] = Field(default=[], description="What stands against it.")
    similar: list[OtherPart] = Field(
        default=[],
        description="Said by the same person, near it in meaning; neither ends the other.",
    )
    verdicts: list[VerdictPart] = Field(default=[], description="What people said of it.")
    lines: list[str] = Field(default=[], description="All of it, as `mkg why` tells it.")
    provenance: str = Field(default="", description="How to read the texts.")


def project_explain_learning(call: Call, asked: ExplainAsked) -> ExplainAnswer:
    """Everything that can be said of one line.

    Raises:
        Refused: nothing is known by this id, several are, or it is another user's.
    """
    mine = f"user:{call.user_id}"
    found = [
        told
        for told in story.of(call.run, asked.learning_id)
        if told.story.owner_key.startswith("project:") or told.story.owner_key == mine
    ]
    if len(found) != 1:
        raise Refused(
            "no learning has this id" if not found else "this id names several; give the full id",
            code="not_found" if not found else "invalid",
            hint="copy it from the line, or ask project_get_context",
        )
    row, more = found[0].why, found[0].story
    return ExplainAnswer(
        id=row.id,
        text=row.text,
        status=row.status,
        scope=row.scope,
        origin=row.origin,
        support_count=row.support_count,
        told=row.inject_count,
        pulled=row.retrieval_count,
        evidence=[_part(SaidPart, e) for e in row.evidence],
        decisions=[_part(DecisionPart, d) for d in row.decisions],
        replaced=[_part(OtherPart, r) for r in more.replaced],
        replaced_by=[_part(OtherPart, r) for r in more.replaced_by],
        conflicts=[_part(OtherPart, c) for c in more.conflicts],
        similar=[_part(OtherPart, s) for s in more.similar],
        verdicts=[_part(VerdictPart, v) for v in more.verdicts],
        lines=story.lines(found[0]),
        provenance=PROVENANCE,
    )


def _part(kind: type[P], row: dict[str, Any]) -> P:
    return kind(**{n: row[n] for n in kind.model_fields if row.get(n) is not None})
