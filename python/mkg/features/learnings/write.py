"""Turns candidates into stored learnings: screened, decided, folded by value, with their quotes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from mkg import lexical
from mkg.bundle import Runner
from mkg.features import gate, learnings
from mkg.features.gate.decide import Approved, Blocked, Outcome, Waits, decide
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.value_key import value_key

EXTRACTOR = "cues/1"
TEXT, SUMMARY = 500, 160


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose learnings these become."""

    project_id: str | None
    user_id: str | None

    def key(self, scope: str) -> str | None:
        """`project:<id>` or `user:<id>`; None where that owner is unknown."""
        if scope == "user":
            return f"user:{self.user_id}" if self.user_id else None
        return f"project:{self.project_id}" if self.project_id else None


@dataclass(frozen=True, slots=True)
class Written:
    """One candidate after the gate."""

    candidate: Candidate
    outcome: Outcome
    upserted: learnings.Upserted | None


def store(
    run: Runner,
    candidates: Sequence[Candidate],
    vectors: Sequence[list[float] | None],
    *,
    owner: Owner,
    session_id: str | None,
    source: str,
    model: str | None,
    at: str,
    task_pattern: str | None = None,
) -> list[Written]:
    """Screen, decide and write candidates through one runner or unit."""
    outcomes: list[Outcome] = []
    rows: list[dict[str, Any]] = []
    refusals: list[dict[str, Any]] = []
    for candidate, vector in zip(candidates, vectors, strict=True):
        key = owner.key(candidate.scope)
        outcome = decide(candidate.text, origin=candidate.origin, explicit=candidate.explicit)
        outcomes.append(outcome)
        if isinstance(outcome, Blocked) or key is None:
            refusals.append(_refusal(candidate, outcome, owner, session_id, key, at))
            continue
        row = _row(candidate, key, owner, session_id, source, at, task_pattern)
        row["embedding"], row["embedding_model"] = vector, model if vector else None
        rows.append(row)
    if refusals:
        gate.refuse(run, refusals=refusals)
    stored = {u.value_key: u for u in learnings.upsert(run, rows=rows)} if rows else {}
    decisions = _decisions(candidates, outcomes, owner, stored, at)
    settled = (
        {s.learning_id: s.status for s in gate.settle(run, decisions=decisions)}
        if decisions
        else {}
    )
    return [
        Written(candidate, outcome, _after(candidate, owner, stored, settled))
        for candidate, outcome in zip(candidates, outcomes, strict=True)
    ]


def _after(
    candidate: Candidate,
    owner: Owner,
    stored: dict[str, learnings.Upserted],
    settled: dict[str, str],
) -> learnings.Upserted | None:
    key = owner.key(candidate.scope)
    found = stored.get(value_key(key, candidate.text)) if key else None
    if found is None:
        return None
    status = settled.get(found.id, found.status)
    return learnings.Upserted(
        found.id,
        found.value_key,
        status,
        found.action,
        found.support_count,
        found.rejected_reason,
    )


def _decisions(
    candidates: Sequence[Candidate],
    outcomes: Sequence[Outcome],
    owner: Owner,
    stored: dict[str, learnings.Upserted],
    at: str,
) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for candidate, outcome in zip(candidates, outcomes, strict=True):
        key = owner.key(candidate.scope)
        found = stored.get(value_key(key, candidate.text)) if key else None
        if found is None or found.action == "refused":
            continue
        common = {"learning_id": found.id, "by": "gate", "at": at, "origin": candidate.origin}
        match outcome:
            case Approved(rule=rule):
                made.append(
                    {
                        **common,
                        "to": "approved",
                        "rule": rule,
                        "safety_status": "passed",
                        "reason": "passed the screen; the origin allows it",
                    }
                )
            case Waits(status=status, rule=rule, reason=reason):
                made.append(
                    {
                        **common,
                        "to": status,
                        "rule": rule,
                        "reason": reason,
                        "safety_status": "passed" if rule in {"origin", "not explicit"} else "held",
                    }
                )
            case Blocked():
                continue
            case other:  # pyright: ignore[reportUnnecessaryComparison]
                assert_never(other)
    # A value stated twice in one window gets its best decision last.
    return sorted(made, key=lambda d: d["to"] == "approved")


def _row(
    candidate: Candidate,
    owner_key: str,
    owner: Owner,
    session_id: str | None,
    source: str,
    at: str,
    task_pattern: str | None,
) -> dict[str, Any]:
    namespace = owner_key.removeprefix("project:") if candidate.scope == "project" else owner_key
    digest = hashlib.sha1(f"{namespace}\n{candidate.text.strip()}".encode()).hexdigest()[:16]
    fixed: dict[str, Any] = {
        "summary": candidate.text[:SUMMARY],
        "scope": candidate.scope,
        "kind": candidate.kind,
        "origin": candidate.origin,
        "source": source,
        "owner_key": owner_key,
        "owner_token": lexical.owner_token(owner_key),
        "terms": " ".join(lexical.index_terms(candidate.text)),
        "project_id": owner.project_id,
        "user_id": owner.user_id,
        "task_pattern": task_pattern,
        "tool_key": candidate.tool_key,
        "error_signature": candidate.error_signature,
        "resolved": candidate.resolved,
        "last_reason": candidate.reason,
        "created_by_model": EXTRACTOR,
    }
    return {
        "id": f"learning:{namespace}:{digest}",
        "short_id": digest,
        "value_key": value_key(owner_key, candidate.text),
        "at": at,
        "text": candidate.text,
        "confidence": float(candidate.confidence),
        "fixed": {key: value for key, value in fixed.items() if value is not None},
        "project": owner.project_id if candidate.scope == "project" else None,
        "user": owner.user_id,
        "evidence": {
            "session_id": session_id or "",
            "event_id": candidate.event_id,
            "start": candidate.start,
            "end": candidate.end,
            "quote": candidate.quote,
            "origin": candidate.origin,
            "explicit": candidate.explicit,
            "extractor": EXTRACTOR,
        },
    }


def _refusal(
    candidate: Candidate,
    outcome: Outcome,
    owner: Owner,
    session_id: str | None,
    owner_key: str | None,
    at: str,
) -> dict[str, Any]:
    if isinstance(outcome, Blocked):
        category, rule, reason = outcome.category, outcome.rule, outcome.reason
    else:
        category, rule, reason = (
            "scope",
            "no owner",
            f"there is no {candidate.scope} to keep it for",
        )
    key = value_key(owner_key or "nobody", candidate.text)
    return {
        "id": f"refusal:{key}:{rule}",
        "project_id": owner.project_id,
        "session_id": session_id,
        "event_id": candidate.event_id,
        "category": category,
        "rule": rule,
        "reason": reason,
        "value_key": key,
        "at": at,
    }
