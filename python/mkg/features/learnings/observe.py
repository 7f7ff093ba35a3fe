"""What a model records of a chunk: one to three episodes, checked, bounded and screened by code."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, Field

from mkg import embed, lexical
from mkg.bundle import Runner
from mkg.embed import Embedder
from mkg.features import timeline
from mkg.features.gate.screen import screen
from mkg.features.learnings.chunks import Shown, in_typed_words
from mkg.features.learnings.propose import telling_words
from mkg.llm import Model, Replied

MOST = 3
TYPES = frozenset({"change", "bugfix", "feature", "refactor", "discovery", "decision", "problem"})
TITLE, FACT, NARRATIVE, FACTS = 200, 300, 1000, 6


def _cut(limit: int) -> BeforeValidator:
    return BeforeValidator(
        lambda value: " ".join(value.split())[:limit] if isinstance(value, str) else ""
    )


def _type(value: object) -> object:
    return value if isinstance(value, str) and value in TYPES else "change"


def _texts(value: object) -> object:
    return cast(list[object], value) if isinstance(value, list) else []


class Episode(BaseModel):
    """One entry of the reply; an unknown type is a change."""

    type: Annotated[str, BeforeValidator(_type)] = "change"
    title: Annotated[str, _cut(TITLE)] = ""
    facts: Annotated[list[Annotated[str, _cut(FACT)]], BeforeValidator(_texts)] = Field(
        default_factory=list[str]
    )
    narrative: Annotated[str, _cut(NARRATIVE)] = ""


class Episodes(BaseModel):
    """The reply."""

    episodes: list[Episode]


@dataclass(frozen=True, slots=True)
class Observed:
    """An episode ready to be written."""

    id: str
    content: dict[str, Any]
    vector: list[float] | None


def observe(
    model: Model,
    embedder: Embedder | None,
    sheet: Sequence[Shown],
    *,
    project_id: str,
    user_id: str | None,
    session_id: str,
    client: str | None,
) -> list[Observed]:
    """Ask what happened; nothing at all when there is no answer: learnings do not wait for it."""
    answer = model.ask("episodes", {"turns": [s.row() for s in sheet]}, Episodes, client=client)
    if not isinstance(answer, Replied):
        return []
    kept = [one for one in answer.value.episodes if one.title and _passes(one)][:MOST]
    texts = [_text(one) for one in kept]
    vectors = embed.kept(embedder, texts)
    owner = timeline.owner_key(project_id)
    first = sheet[0]
    made: list[Observed] = []
    for n, (one, text, vector) in enumerate(zip(kept, texts, vectors, strict=True), 1):
        content: dict[str, Any] = {
            "type": one.type,
            "title": one.title,
            "facts": [fact for fact in one.facts if fact][:FACTS],
            "narrative": one.narrative,
            "terms": " ".join(lexical.index_terms(text)),
            "safety_status": "passed",
            "injectable": _may_be_told(one.title, sheet),
            "user_id": user_id,
            "owner_key": owner,
            "owner_token": lexical.owner_token(owner),
            "source": "model",
        }
        where = f"{project_id}\n{session_id}\n{first.turn.event_id}\n{first.offset}"
        digest = hashlib.sha1(where.encode()).hexdigest()[:16]
        made.append(Observed(f"observation:{project_id}:{digest}:{n}", content, vector))
    return made


def write(
    unit: Runner,
    observed: Sequence[Observed],
    *,
    project_id: str,
    session_id: str,
    started_at: datetime,
    ended_at: datetime,
    model: str | None,
) -> list[str]:
    """Write episodes inside the transaction of their chunk; returns their ids."""
    for one in observed:
        timeline.upsert_episode(
            unit,
            id=one.id,
            session_id=session_id,
            project_id=project_id,
            started_at=started_at,
            ended_at=ended_at,
            content=one.content,
            embedding=one.vector,
            embedding_model=model if one.vector else None,
            # That its events still stand was made sure of under the same locks.
            erased=None,
        )
    return [one.id for one in observed]


def _text(one: Episode) -> str:
    return "\n".join([one.title, *one.facts[:FACTS], one.narrative])


def _may_be_told(title: str, sheet: Sequence[Shown]) -> bool:
    """Whether a headline may be told unasked: the user's words, as for what code composes (D10).

    Anything else is found when it is asked for.
    """
    typed = in_typed_words(telling_words(title), sheet, telling_words)
    return typed and screen(title, channel="M").verdict == "pass"


def _passes(one: Episode) -> bool:
    """An episode that the screen does not pass is not kept: nobody would look at it again."""
    return screen(_text(one), channel="M").verdict == "pass"
