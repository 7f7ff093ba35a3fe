"""Statements at the gate, a whole batch at a time, and what the graph then believes."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from mkg.features.gate.rules import DEFAULT, Rules
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.write import Owner, Written, consult, store
from mkg.llm import Failed, Replied, Skipped
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import row

SHOP = "host/acme/shop"
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
Reply = TypeVar("Reply", bound=BaseModel)


class Scripted:
    """A model that answers as it was told and keeps what it was asked."""

    def __init__(self, **answers: object) -> None:
        self._answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def ask(
        self,
        task: str,
        data: Mapping[str, object],
        reply: type[Reply],
        *,
        client: str | None = None,
    ) -> Replied[Reply] | Skipped | Failed:
        self.asked.append((task, dict(data)))
        answer = self._answers.get(task)
        if callable(answer):
            answer = answer(data)
        if isinstance(answer, Skipped | Failed):
            return answer
        if answer is None and task == "screen":
            texts = cast(list[dict[str, Any]], data["texts"])
            answer = {"verdicts": [{"n": t["n"], "verdict": "pass"} for t in texts]}
        if answer is None:
            asked = cast(list[dict[str, Any]], data["candidates"])
            answer = {"judgements": [{"id": c["id"]} for c in asked]}
        return Replied(reply.model_validate(answer), "scripted", f"{task}@1")

    def available(self, task: str, *, client: str | None = None) -> str | None:
        return None

    def tasks(self) -> list[str]:
        return [task for task, _ in self.asked]


def candidate(
    text: str, *, origin: str = "user_typed", explicit: bool = True, event: str = "",
    scope: str = "project", confidence: float = 0.8,
) -> Candidate:  # fmt: skip
    return Candidate(
        text=text,
        scope="user" if scope == "user" else "project",
        kind="fact",
        origin=origin,
        event_id=event,
        quote=text,
        start=0,
        end=len(text),
        explicit=explicit,
        confidence=confidence,
        reason="test",
    )


def told_in(
    live: Live, text: str, session: str, *, second: float = 0, origin: str = "user_typed"
) -> str:
    """An event in which somebody says `text`; returns its id."""
    from mkg.features import timeline

    (made,) = timeline.append(
        live.run,
        events=[
            row("UserPromptSubmit", session=session, second=second, prompt=text, origin=origin)
        ],
    )
    return made.event_id


def gated(
    live: Live,
    candidates: Sequence[Candidate],
    *,
    session: str | None = None,
    user: str = "ann",
    project: str = SHOP,
    rules: Rules = DEFAULT,
    at: datetime = NOON,
) -> list[Written]:
    """Candidates through consultation and store, as one batch."""
    memo = minilm()
    vectors: list[list[float] | None] = list(memo.embed([c.text for c in candidates]))
    owner, when = Owner(project, user), at.isoformat()
    said = consult(
        live.run, candidates, vectors, owner=owner, model=memo.model, at=when, rules=rules
    )
    return live.run.in_one(
        lambda unit: store(
            unit,
            candidates,
            vectors,
            owner=owner,
            session_id=session,
            source="hooks-stop",
            model=memo.model,
            at=when,
            rules=rules,
            consulted=said,
        ),
        name="test.gated",
    )


def state(live: Live) -> dict[str, dict[str, Any]]:
    """Every learning by its text."""
    rows = live.rows(
        "MATCH (l:Learning) RETURN l.text AS text, l.status AS status, "
        "l.consistency_status AS consistency, l.injectable AS injectable, l.live AS live, "
        "l.valid_until IS NOT NULL AS closed, l.embedding IS NOT NULL AS vector, "
        "l.support_count AS support, l.rejected_reason AS rejected, l.wait_reason AS waits "
        "ORDER BY l.created_at, l.id"
    )
    return {str(r["text"]): {k: v for k, v in r.items() if k != "text"} for r in rows}


def edges(live: Live) -> list[tuple[object, ...]]:
    """Every relation between learnings: from, type, to, confirmed."""
    rows = live.rows(
        "MATCH (a:Learning)-[r]->(b:Learning) "
        "RETURN a.text AS a, type(r) AS r, b.text AS b, r.confirmed AS c ORDER BY a, r, b"
    )
    return [(r["a"], r["r"], r["b"], r["c"]) for r in rows]
