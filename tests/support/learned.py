"""Puts learnings into the store the way the worker does, without a client."""

from datetime import UTC, datetime
from typing import Any

from mkg.embed import Embedder
from mkg.features import timeline
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.windows import Learned, learn
from mkg.features.learnings.write import Owner, Written, store
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import row

SHOP = "host/acme/shop"


def say(
    live: Live,
    prompt: str,
    *,
    session: str = "s1",
    second: float = 0,
    origin: str = "user_typed",
    project: str = SHOP,
    user: str = "ann",
    reply: str = "Noted.",
    embedder: Embedder | None = None,
) -> Learned:
    """A prompt, a stop, and what the worker learns from them."""
    timeline.append(
        live.run,
        events=[
            row(
                "UserPromptSubmit",
                session=session,
                second=second,
                prompt=prompt,
                origin=origin,
                project=project,
                user=user,
            ),
            row(
                "Stop",
                session=session,
                second=second + 1,
                last_message=reply,
                project=project,
                user=user,
            ),
        ],
    )
    return learn(live.run, embedder or minilm(), session_id=session, owner=Owner(project, user))


def put(
    live: Live,
    text: str,
    *,
    origin: str = "user_typed",
    explicit: bool = True,
    scope: str = "project",
    project: str = SHOP,
    user: str = "ann",
    session: str | None = None,
    embedder: Embedder | None = None,
) -> Written:
    """One candidate through screen, gate and store."""
    fields: dict[str, Any] = {"kind": "fact", "confidence": 0.8, "reason": "test", "event_id": ""}
    candidate = Candidate(
        text=text,
        scope=scope,
        origin=origin,
        quote=text,
        start=0,
        end=len(text),  # type: ignore[arg-type]
        explicit=explicit,
        **fields,
    )
    used = embedder or minilm()
    (written,) = store(
        live.run,
        [candidate],
        [used.embed([text])[0]],
        owner=Owner(project, user),
        session_id=session,
        source="hooks-stop",
        model=used.model,
        at=datetime.now(UTC).isoformat(),
    )
    return written


def filler(live: Live, count: int, *, project: str, word: str) -> None:
    """Many approved learnings of one project that all share a word; vectors far from any prompt."""
    text = (
        "UNWIND range(1, $count) AS i "
        "CREATE (l:Learning {id: 'f' + $project + i, short_id: toString(i), "
        "value_key: $project + i, text: $word + ' ' + i, status: 'approved', scope: 'project', "
        "origin: 'user_typed', kind: 'fact', confidence: 0.5, live: true, injectable: true, "
        "consolidated: false, owner_key: 'project:' + $project, "
        "owner_token: $token, source: 'seed', "
        "created_at: datetime(), updated_at: datetime(), support_count: 9, inject_count: 0, "
        "use_count: 0, retrieval_count: 0, decision_count: 1, terms: $word, "
        "embedding: $vector, embedding_model: 'minilm-l6-int8'})"
    )
    from mkg import lexical

    live.run.execute(
        f"CYPHER 25\n{text}",
        {
            "count": count,
            "project": project,
            "word": word,
            "vector": minilm().embed([word])[0],
            "token": lexical.owner_token(f"project:{project}"),
        },
    )
