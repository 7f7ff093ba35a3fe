"""What a model proposes to note of a sheet: cited, bounded, resolved against tables of one call.

The model names turns (t1..) and known learnings (m1..) that it was given, never ids of the graph.
A row whose quote does not stand in its turn is dropped, and code computes its origin (SEC-20, 25).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator

from mkg import embed, lexical
from mkg.bundle import Runner, cypher
from mkg.embed import Embedder
from mkg.features.learnings import extract_rules as rules
from mkg.features.learnings.chunks import Shown, origin_of
from mkg.features.learnings.claim import TypedPrompt, said_by_user
from mkg.features.learnings.extract import PER_CHUNK, TEXT, Candidate, task_pattern
from mkg.features.learnings.extract_text import sentences
from mkg.features.learnings.value_key import normalised
from mkg.llm import Failed, Model, Replied, Skipped

PIECES, PIECE = 8, 1_500
PROJECT_KNOWN, USER_KNOWN = 8, 5
QUOTE, SHORTEST_QUOTE = 300, 8
_FILLER = 4


def _one_of(*allowed: str, otherwise: str) -> BeforeValidator:
    return BeforeValidator(lambda value: value if value in allowed else otherwise)


def _short(limit: int) -> BeforeValidator:
    return BeforeValidator(lambda value: value[:limit] if isinstance(value, str) else None)


def _only(kind: type) -> BeforeValidator:
    return BeforeValidator(lambda value: value if isinstance(value, kind) else None)


def _share(value: object) -> object:
    return min(max(float(value), 0.0), 1.0) if isinstance(value, int | float) else 0.6


class Proposal(BaseModel):
    """One entry of the reply."""

    action: Annotated[
        Literal["create", "update", "ignore"],
        _one_of("create", "update", "ignore", otherwise="ignore"),
    ] = "ignore"
    existing_id: Annotated[str | None, _short(10)] = None
    turn: Annotated[str | None, _short(10)] = None
    quote: Annotated[str | None, _short(QUOTE)] = None
    text: Annotated[str | None, _short(TEXT)] = None
    scope: Annotated[
        Literal["project", "user"], _one_of("project", "user", otherwise="project")
    ] = "project"
    kind: Annotated[Literal["fact", "error"], _one_of("fact", "error", otherwise="fact")] = "fact"
    task_pattern: Annotated[str | None, _short(200)] = None
    tool_key: Annotated[str | None, _short(100)] = None
    error_signature: Annotated[str | None, _short(300)] = None
    resolved: Annotated[bool | None, _only(bool)] = None
    replaces: Annotated[str | None, _short(200)] = None
    confidence: Annotated[float, BeforeValidator(_share)] = 0.6
    reason: Annotated[str | None, _short(200)] = None


class Proposals(BaseModel):
    """The reply. The list has to be there: any object would be an empty answer otherwise."""

    learnings: list[Proposal]


@dataclass(frozen=True, slots=True)
class Listed:
    """A learning that the window may be about."""

    id: str
    owner_key: str
    text: str
    status: str
    origin: str
    refused: bool


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal that holds: a candidate, and which known learning it would change."""

    candidate: Candidate
    existing: str | None


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one sheet."""

    proposed: tuple[Proposed, ...]
    model: str
    prompt: str


@cypher("learnings.shortlist")
def shortlist(
    run: Runner,
    *,
    pieces: list[dict[str, Any]],
    embedding_model: str,
    limit: int,
) -> list[Listed]: ...


def propose(
    model: Model,
    run: Runner,
    embedder: Embedder | None,
    sheet: Sequence[Shown],
    *,
    owner_keys: Sequence[str],
    found: Sequence[Candidate],
    client: str | None,
) -> Heard | Skipped | Failed:
    """Ask a model what of a sheet is worth noting."""
    known = known_near(run, embedder, sheet, owner_keys)
    names = {f"m{n}": one for n, one in enumerate(known, 1)}
    data: dict[str, object] = {
        "turns": [shown.row() for shown in sheet],
        "noted": [
            {"id": name, "text": one.text, **({"refused": True} if one.refused else {})}
            for name, one in names.items()
        ],
        "found": [candidate.text for candidate in found],
    }
    answer = model.ask("extract", data, Proposals, client=client)
    if not isinstance(answer, Replied):
        return answer
    kept: list[Proposed] = []
    for proposal in answer.value.learnings:
        one = _resolved(proposal, sheet, names)
        if one is not None:
            kept.append(one)
    return Heard(tuple(kept[:PER_CHUNK]), answer.model, answer.prompt)


def known_near(
    run: Runner, embedder: Embedder | None, sheet: Sequence[Shown], owner_keys: Sequence[str]
) -> list[Listed]:
    """What is known or was refused near the parts of a sheet, the project's and the user's."""
    parts = _parts(sheet)
    if not parts or not owner_keys:
        return []
    vectors = embed.kept(embedder, parts)
    pieces = [
        {
            "owner_key": key,
            "vector": vector,
            "terms": lexical.lucene(lexical.query_terms(part), lexical.owner_token(key)),
        }
        for key in owner_keys
        for part, vector in zip(parts, vectors, strict=True)
    ]
    rows = shortlist(
        run,
        pieces=pieces,
        embedding_model=embedder.model if embedder else "",
        limit=PROJECT_KNOWN,
    )
    users = [r for r in rows if r.owner_key.startswith("user:")][: 2 * USER_KNOWN]
    return [r for r in rows if not r.owner_key.startswith("user:")] + users


def _parts(sheet: Sequence[Shown]) -> list[str]:
    """The sheet in at most PIECES parts that an embedder can take in."""
    texts = [s.text[i : i + PIECE] for s in sheet for i in range(0, len(s.text), PIECE)]
    texts = [text for text in texts if text.strip()]
    step = max(1, -(-len(texts) // PIECES))
    return [" ".join(texts[i : i + step])[: 4 * PIECE] for i in range(0, len(texts), step)]


def _resolved(
    proposal: Proposal, sheet: Sequence[Shown], names: dict[str, Listed]
) -> Proposed | None:
    """The proposal as a candidate, or None when it does not hold."""
    text = " ".join((proposal.text or "").split())
    if proposal.action == "ignore" or not text:
        return None
    known = names.get(proposal.existing_id or "")
    if proposal.action == "update" and (known is None or known.refused):
        return None
    shown = next((one for one in sheet if one.id == proposal.turn), None)
    if shown is None:
        return None
    place = _place(proposal.quote or "", shown.text)
    if place is None:
        return None
    start, end = shown.offset + place[0], shown.offset + place[1]
    quote = shown.text[place[0] : place[1]]
    candidate = Candidate(
        text=text,
        scope=_scope(proposal, known),
        kind=proposal.kind,
        origin=_origin(text, shown, sheet),
        event_id=shown.turn.event_id,
        quote=quote,
        start=start,
        end=end,
        explicit=_explicit(text, quote, shown),
        confidence=proposal.confidence,
        reason=proposal.reason or "proposed by a model",
        tool_key=proposal.tool_key if proposal.kind == "error" else None,
        error_signature=proposal.error_signature if proposal.kind == "error" else None,
        resolved=proposal.resolved if proposal.kind == "error" else None,
        replaces=_old_value(proposal.replaces, shown),
        task_pattern=task_pattern(proposal.task_pattern or ""),
    )
    return Proposed(candidate, known.id if proposal.action == "update" and known else None)


def _old_value(said: str | None, shown: Shown) -> str | None:
    """What the turn says is replaced, in its own words: shown to the judge, and no more than that.

    A model that could name any value would speak with more weight than the words that it cites.
    """
    words = normalised(said or "")
    return " ".join((said or "").split()) if words and words in normalised(shown.text) else None


def _scope(proposal: Proposal, known: Listed | None) -> Literal["project", "user"]:
    """A known learning stays with its owner, whatever the reply says."""
    if proposal.action == "update" and known is not None:
        return "user" if known.owner_key.startswith("user:") else "project"
    return proposal.scope


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, whatever its spaces; None for one that says nothing."""
    words = quote.split()
    flat = normalised(quote)
    if len(flat) < SHORTEST_QUOTE and sum(1 for c in flat if ord(c) > 0x2E80) < 4:
        return None
    match = re.search(r"\s+".join(re.escape(word) for word in words), text)
    return match.span() if match else None


def _origin(text: str, shown: Shown, sheet: Sequence[Shown]) -> str:
    if shown.turn.role == "user" and _said(text, shown):
        return shown.turn.origin
    return origin_of(telling_words(text), shown, sheet, telling_words)


def _explicit(text: str, quote: str, shown: Shown) -> bool:
    """Whether the user asked for just this to be kept; a model's word for it does not count."""
    if shown.turn.role != "user" or not _said(text, shown):
        return False
    asked = [rules.asked(part.visible) for part in sentences(quote)]
    return any(found is not None and found.explicit for found in asked)


def _said(text: str, shown: Shown) -> bool:
    return said_by_user(text, [TypedPrompt(shown.turn.event_id, shown.turn.text)]) is not None


def telling_words(text: str) -> set[str]:
    """Words that say something: long ones, and those with a digit."""
    found = normalised(text).split(" ")
    return {w for w in found if len(w) >= _FILLER or any(c.isdigit() for c in w) or ord(w[0]) > 127}
