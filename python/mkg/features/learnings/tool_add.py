"""`project_add_learning`: an agent proposes something to remember; the gate decides on it.

Its origin is `mcp_write` unless the user typed the claim in the calling session (D10), and nothing
in a call can say otherwise: there is no parameter for source, origin or status.
"""

import json
import math
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mkg.bundle import Runner, cypher
from mkg.errors import ModelError, Refused
from mkg.features.gate.decide import Blocked
from mkg.features.learnings import caller
from mkg.features.learnings.claim import PROMPTS, Said, said_by_user, typed_prompts
from mkg.features.learnings.extract import Candidate, task_pattern
from mkg.features.learnings.extract_errors import SIGNATURE, tool_key
from mkg.features.learnings.inject import cut
from mkg.features.learnings.value_key import value_key
from mkg.features.learnings.write import TEXT, Owner, Written, store
from mkg.features.tool import Answer, Asked, Call
from mkg_hooks.redact import redact

SOURCE = "agent-mcp"
LONGEST_TEXT = 100_000
CONFIDENCE = 0.6
QUERIES = (
    *caller.QUERIES,
    "learnings.typed_prompts",
    "learnings.upsert",
    "learnings.stored",
    "gate.neighbours",
    "gate.release",
    "gate.settle",
    "gate.flag_derived",
    "gate.refuse",
)


@dataclass(frozen=True, slots=True)
class Stored:
    """A learning as it stands after a write."""

    id: str
    text: str
    status: str
    scope: str
    user_id: str | None
    confidence: float
    task_pattern: str | None
    kind: str
    tool_key: str | None
    error_signature: str | None
    resolved: bool | None
    support_count: int
    origin: str
    reason: str | None


@cypher("learnings.stored")
def stored(run: Runner, *, id: str) -> Stored | None: ...


def _one_of(first: str, second: str) -> BeforeValidator:
    """Two words; whatever is not the second counts as the first."""
    return BeforeValidator(lambda value: second if value == second else first)


class LearningAsked(Asked):
    text: str = Field(
        description=(
            "One self-contained statement worth knowing in a later session; white space is "
            "collapsed and what is over 500 characters is cut."
        )
    )
    project_id: str = Field(
        default="", description="A project's id; empty for the current project."
    )
    task_pattern: str = Field(
        default="",
        description=(
            "The kind of task it helps with, at most 6 words and 60 characters; a longer one is "
            "dropped. May be empty."
        ),
    )
    scope: Annotated[Literal["project", "user"], _one_of("project", "user")] = Field(
        default="project",
        description="user for a preference of this person everywhere, project for the rest.",
    )
    confidence: float = Field(default=CONFIDENCE, description="How sure you are, 0 to 1.")
    kind: Annotated[Literal["fact", "error"], _one_of("fact", "error")] = Field(
        default="fact", description="error for a failure and what to do about it."
    )
    tool_key: str = Field(
        default="", description="Of an error: the tool that failed. May be empty."
    )
    error_signature: str = Field(
        default="",
        description="Of an error: its telling line, at most 300 characters. May be empty.",
    )
    resolved: bool = Field(
        default=False, description="Of an error: whether the text says how to fix it."
    )


class LearningAnswer(Answer):
    id: str = Field(
        default="", description="Id of the learning, or of the decision when it was blocked."
    )
    text: str = Field(
        default="", description="The wording that is stored; absent when it was blocked."
    )
    status: str = Field(
        default="",
        description=(
            "candidate, quarantined, approved, rejected, blocked or already_learned; error when "
            "the call failed."
        ),
    )
    scope: str = Field(default="", description="project or user.")
    user_id: str | None = Field(
        default=None, description="Whose fact it is, or who added it first."
    )
    confidence: float = Field(default=0.0, description="The highest confidence seen.")
    task_pattern: str | None = Field(default=None, description="The kind of task it belongs to.")
    kind: str = Field(default="", description="fact or error.")
    tool_key: str | None = Field(default=None, description="Of an error: the tool.")
    error_signature: str | None = Field(default=None, description="Of an error: its line.")
    resolved: bool | None = Field(default=None, description="Of an error: whether a fix is known.")
    support_count: int = Field(default=0, description="In how many sessions it came up.")
    action: str = Field(default="", description="created, updated or refused.")
    origin: str = Field(default="", description="Who said it, as far as the record shows.")
    reason: str = Field(default="", description="Why it waits or was refused.")
    degraded: str = Field(default="", description="What storing had to do without, and why.")


def project_add_learning(call: Call, asked: LearningAsked) -> LearningAnswer:
    """Record one statement; it passes the gate before anybody is told of it.

    Raises:
        Refused: recording is paused, or the statement is no statement.
    """
    if why := call.paused():
        raise Refused(why)
    text = statement(asked.text)
    session = caller.calling(call, patient=True)
    needed = caller.some_project if asked.scope == "project" else caller.project_of
    owner = Owner(needed(call, asked.project_id, session), call.user_id)
    candidate = _candidate(call, asked, text, session)
    vector, degraded = _vector(call, text)

    def work(unit: Runner) -> tuple[Written, Stored | None]:
        (written,) = store(
            unit,
            [candidate],
            [vector],
            owner=owner,
            session_id=session.session_id if session else None,
            source=SOURCE,
            model=call.embed.model if call.embed else None,
            at=call.clock().isoformat(),
            task_pattern=task_pattern(_plain(asked.task_pattern)),
            rules=call.rules,
        )
        kept = written.upserted
        return written, stored(unit, id=kept.id) if kept else None

    written, row = call.run.in_one(work, name="learnings.add")
    answer = _kept(written, row) if row is not None else _blocked(written, owner, candidate)
    if degraded and answer.action == "created":
        answer.degraded = degraded
    return answer


def statement(text: str) -> str:
    """The wording that is kept: without secrets, in one line, at most 500 characters.

    Raises:
        Refused: there is nothing in it, or far too much.
    """
    if len(text) > LONGEST_TEXT:
        raise Refused(
            f"text has {len(text)} characters; at most {LONGEST_TEXT} are read and {TEXT} are kept",
            code="invalid",
            hint="state the one thing worth knowing in a sentence or two",
        )
    # Before the cut: half a secret is harder to recognise than a whole one.
    plain = _plain(text)
    if all(unicodedata.category(c)[0] in "CZ" for c in plain):
        raise Refused("text is empty", code="invalid", hint="state what is worth knowing")
    return cut(plain, TEXT)


def _candidate(
    call: Call, asked: LearningAsked, text: str, session: caller.Calling | None
) -> Candidate:
    said = _said(call, text, session)
    place = said or _place_in_call(text, session)
    error = asked.kind == "error"
    given = "resolved" in asked.model_fields_set
    return Candidate(
        text=text,
        scope=asked.scope,
        kind=asked.kind,
        origin="user_typed" if said else "mcp_write",
        event_id=place.event_id,
        quote=place.quote,
        start=place.start,
        end=place.end,
        explicit=False,
        confidence=_confidence(asked.confidence),
        reason="recorded by an agent",
        tool_key=tool_key(_plain(asked.tool_key)) or None,
        error_signature=_plain(asked.error_signature)[:SIGNATURE].rstrip() or None,
        resolved=asked.resolved if error or given else None,
    )


def _said(call: Call, text: str, session: caller.Calling | None) -> Said | None:
    if session is None:
        return None
    prompts = typed_prompts(call.run, session_id=session.session_id, limit=PROMPTS)
    return said_by_user(text, prompts)


def _place_in_call(text: str, session: caller.Calling | None) -> Said:
    """The event of the call itself, with the span of the text in its recorded input."""
    if session is None or session.event is None:
        return Said("", "", 0, 0)
    recorded = session.event.tool_input or ""
    for quote in (json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]):
        start = recorded.find(quote)
        if start >= 0:
            return Said(session.event.event_id, quote, start, start + len(quote))
    return Said(session.event.event_id, "", 0, 0)


def _kept(written: Written, row: Stored) -> LearningAnswer:
    action = written.upserted.action if written.upserted else "refused"
    answer = LearningAnswer(
        id=row.id,
        text=row.text,
        status=row.status,
        scope=row.scope,
        user_id=row.user_id,
        confidence=row.confidence,
        task_pattern=row.task_pattern,
        kind=row.kind,
        tool_key=row.tool_key,
        error_signature=row.error_signature,
        resolved=row.resolved,
        support_count=row.support_count,
        action=action,
        origin=row.origin,
    )
    if action == "refused":
        answer.reason = row.reason or "refused before; only a person can bring it back"
    elif row.status in {"candidate", "quarantined"}:
        answer.reason = row.reason or "waits for a person or for more evidence"
    return answer


def _blocked(written: Written, owner: Owner, candidate: Candidate) -> LearningAnswer:
    """The answer about a text of which nothing is kept but the reason."""
    outcome = written.outcome
    if isinstance(outcome, Blocked):
        why, mark = f"{outcome.category}: {outcome.reason}", outcome.rule
    else:
        why, mark = f"there is no {candidate.scope} to keep it for", "no owner"
    key = value_key(owner.key(candidate.scope) or "nobody", candidate.text)
    return LearningAnswer(
        id=f"refusal:{key}:{mark}",
        status="blocked",
        scope=candidate.scope,
        kind=candidate.kind,
        action="refused",
        origin=candidate.origin,
        reason=why,
    )


def _vector(call: Call, text: str) -> tuple[list[float] | None, str]:
    if call.embed is None:
        return None, "kept without a vector, so found by words only (no embedder)"
    try:
        return call.embed.embed([text])[0], ""
    except ModelError as error:
        return None, f"kept without a vector, so found by words only ({type(error).__name__})"


def _confidence(value: float) -> float:
    return CONFIDENCE if math.isnan(value) else max(0.0, min(1.0, value))


def _plain(text: str) -> str:
    """One line without secrets and without characters that cannot be stored."""
    whole = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return " ".join(redact(whole)[0].split())
