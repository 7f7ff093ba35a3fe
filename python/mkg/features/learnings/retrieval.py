"""Recall at the prompt, facts at the start, and the agent's own pull."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from mkg import embed, lexical, log, same_words
from mkg.bundle import Runner
from mkg.embed import Embedder
from mkg.errors import ModelError, Refused
from mkg.features import learnings
from mkg.features.learnings import inject, silence

POOL, MOST_POOL = 60, 200
MAX_QUERY = 4_000
STATUSES = ("approved", "candidate")
_log = log.get(__name__)
Channel = Literal["hybrid", "text"]


@dataclass(frozen=True, slots=True)
class Query:
    """A prompt made ready for both indexes; `degraded` says why the vector side is missing."""

    text: str
    terms: list[str]
    vector: list[float] | None
    model: str | None
    degraded: str | None

    @property
    def channel(self) -> Channel:
        return "hybrid" if self.vector is not None else "text"


@dataclass(frozen=True, slots=True)
class Recall:
    """What bears on a prompt, and how it was searched."""

    hits: tuple[learnings.Hit, ...]
    channel: Channel
    degraded: str | None
    considered: int


def prepare(text: str, embedder: Embedder | None) -> Query:
    """Embed once and take the informative terms; a failed embedder leaves the text side alive."""
    text = text[:MAX_QUERY]
    terms = lexical.query_terms(text)
    if not text.strip():
        return Query(text, [], None, None, "empty query")
    if embedder is None:
        return Query(text, terms, None, None, "no embedder")
    try:
        vector = embed.hurried(embedder, text)
    except ModelError as error:
        _log.degraded("recall.text_only", type(error).__name__)
        return Query(text, terms, None, None, f"no embedding: {type(error).__name__}")
    if vector is None:
        return Query(text, terms, None, None, "many prompts at once")
    return Query(text, terms, vector, embedder.model, None)


def at_prompt(
    run: Runner,
    query: Query,
    *,
    project_id: str,
    session_id: str | None,
    excluded: Sequence[str],
    limit: int,
) -> Recall:
    """The approved learnings of a project that bear on a prompt; often none."""
    owner = f"project:{project_id}"
    hits = learnings.recall(
        run,
        owner_key=owner,
        terms=lexical.lucene(query.terms, lexical.owner_token(owner)),
        vector=query.vector,
        embedding_model=query.model or "",
        session_id=session_id,
        excluded=list(excluded),
        # What was told already is left out after the indexes answered.
        pool=min(MOST_POOL, POOL + len(excluded)),
        limit=limit * 4,
    )
    fitting = silence.bearing(hits, query.text, query.model)
    return Recall(tuple(inject.capped(fitting, limit)), query.channel, query.degraded, len(hits))


def user_facts(
    run: Runner, *, user_id: str, session_id: str | None, excluded: Sequence[str], limit: int
) -> list[learnings.Known]:
    """The newest approved facts about a user, for the start of a session."""
    return learnings.recent(
        run,
        owner_key=f"user:{user_id}",
        statuses=["approved"],
        injectable_only=True,
        session_id=session_id,
        excluded=list(excluded),
        limit=limit,
    )


def pull(
    run: Runner, query: Query, *, owner_key: str, statuses: Sequence[str], limit: int
) -> list[learnings.Hit | learnings.Known]:
    """What the agent asked for: by meaning and words, else by recency; counted as retrieved."""
    found: list[learnings.Hit | learnings.Known] = []
    if query.text.strip():
        found += hits(run, query, owner_key=owner_key, statuses=statuses, limit=limit)
    if not found:
        found += learnings.recent(
            run,
            owner_key=owner_key,
            statuses=list(statuses),
            injectable_only=False,
            session_id=None,
            excluded=[],
            limit=limit,
        )
    if found:
        learnings.serve(run, ids=[row.id for row in found], at=datetime.now(UTC).isoformat())
    return found


def hits(
    run: Runner,
    query: Query,
    *,
    owner_key: str,
    statuses: Sequence[str] = ("approved",),
    limit: int,
) -> list[learnings.Hit]:
    """What holds now and is about the query, by meaning and words."""
    return learnings.search(
        run,
        owner_key=owner_key,
        terms=_asked(query, owner_key),
        vector=query.vector,
        embedding_model=query.model or "",
        statuses=list(statuses),
        pool=max(POOL, limit * 2),
        limit=limit,
    )


def moment(text: str) -> datetime:
    """A date or time that somebody typed; a date alone means the end of that day.

    Raises:
        Refused: it is neither.
    """
    plain = text.strip()
    try:
        found = datetime.fromisoformat(plain)
    except ValueError:
        raise Refused(
            f"{plain[:40]!r} is no date",
            code="invalid",
            hint="give 2026-11-30 or 2026-11-30T14:00:00+01:00",
        ) from None
    if len(plain) <= len("2026-11-30"):
        found = found + timedelta(days=1) - timedelta(microseconds=1)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def held_at(
    run: Runner, query: Query, *, owner_key: str, at: datetime, limit: int
) -> list[learnings.Version]:
    """What held at a moment: also what has been replaced since."""
    return learnings.as_of(
        run,
        owner_key=owner_key,
        terms=_asked(query, owner_key),
        vector=query.vector,
        embedding_model=query.model or "",
        at=at.isoformat(),
        pool=max(POOL, limit * 2),
        limit=limit,
    )


def _asked(query: Query, owner_key: str) -> str:
    """The words of a question and others for the same things: who asks has time for them."""
    token = lexical.owner_token(owner_key)
    return lexical.lucene(query.terms, token, also=same_words.others(query.terms))
