"""Turns candidates into stored learnings: screened, decided, folded by value, with their quotes."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mkg import lexical
from mkg.bundle import Runner
from mkg.features import forget, gate, learnings
from mkg.features.gate.decide import Approved, Blocked, Outcome, Waits, decide
from mkg.features.gate.decision import GATE_OFF, NOBODY, Consulted, decision
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.gate.judge import judge, second_screen
from mkg.features.gate.rules import DEFAULT, Rules
from mkg.features.gate.weigh import Told, Weighed, look, weigh, with_outcome
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.extract_phrases import VERY_MOMENT
from mkg.features.learnings.extract_rules import CORRECTED
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
    rules: Rules = DEFAULT,
    consulted: Consulted = NOBODY,
) -> list[Written]:
    """Screen, compare, decide and write candidates through one runner or unit.

    Three round trips where nothing is refused and nothing comes back: look, write, settle. A value
    that comes back after a row before it has ended it begins another round.
    """
    rows = _rows(candidates, vectors, owner, session_id, source, model, at, task_pattern)
    weighed = _screened(candidates, rows, owner, rules, consulted)
    refusals = [
        _refusal(candidates[w.no], w.outcome, owner, session_id, w.row.get("owner_key"), at)
        for w in weighed
        if not _stays(w)
    ]
    if refusals:
        gate.refuse(run, refusals=refusals)
    left = [w for w in weighed if _stays(w)]
    kept: dict[int, Written] = {w.no: Written(candidates[w.no], w.outcome, None) for w in weighed}
    while left:
        done = _round(run, left, consulted, model=model, rules=rules, at=at)
        kept |= {no: Written(candidates[no], outcome, up) for no, (outcome, up) in done.items()}
        left = [w for w in left if w.no not in done] if done else []
    return [kept[w.no] for w in weighed]


def _round(
    run: Runner,
    left: Sequence[Weighed],
    consulted: Consulted,
    *,
    model: str | None,
    rules: Rules,
    at: str,
) -> dict[int, tuple[Outcome, learnings.Upserted]]:
    """Look, write and settle as many as can be told together; by the number of the candidate."""
    near = look(run, left, model=model, rules=rules, at=at, lock=True)
    told = weigh(left, near, consulted.judged, model=model, at=datetime.fromisoformat(at))
    done = [_settled(w, told[w.no]) for w in left if w.no in told]
    stored = _write(run, done, told, _archived(done, near))
    decisions = [
        decision(w, told[w.no], consulted.judged.get(w.no), consulted.screened.get(w.no), rules, at)
        for w in done
        if stored[told[w.no].value_key].action != "refused"
    ]
    for one in decisions:
        one["learning_id"] = stored[one.pop("value_key")].id
    settled = gate.settle(run, decisions=decisions) if decisions else []
    if ended := [id for s in settled for id in s.rejected]:
        gate.flag_derived(run, ids=ended, reason="something it was made from is believed no more")
    statuses = {s.learning_id: s.status for s in settled}
    found = {w.no: (w.outcome, stored[told[w.no].value_key]) for w in done}
    return {
        no: (outcome, replace(up, status=statuses.get(up.id, up.status)))
        for no, (outcome, up) in found.items()
    }


def consult(
    run: Runner,
    candidates: Sequence[Candidate],
    vectors: Sequence[list[float] | None],
    *,
    owner: Owner,
    model: str | None,
    at: str,
    rules: Rules,
) -> Consulted:
    """Ask the model about candidates before they are written: no transaction waits for it."""
    if rules.model is None or not rules.on or not candidates:
        return NOBODY
    rows = _rows(candidates, vectors, owner, None, "", model, at, None)
    weighed = [w for w in _screened(candidates, rows, owner, rules, NOBODY) if _stays(w)]
    texts = {w.no: w.text for w in weighed}
    screened = second_screen(rules.model, texts) if texts else {}
    through = [w for w in weighed if screened[w.no].outcome is None]
    near = look(run, through, model=model, rules=rules, at=at, lock=False)
    beside = {
        w.no: [n for n in near[w.no].neighbours if n["value_key"] != w.row["value_key"]]
        for w in through
    }
    open_ = {w.no: w.text for w in through}
    hints = {no: old for no in open_ if (old := candidates[no].replaces) is not None}
    return Consulted(screened, judge(rules.model, open_, beside, hints))


def _rows(
    candidates: Sequence[Candidate],
    vectors: Sequence[list[float] | None],
    owner: Owner,
    session_id: str | None,
    source: str,
    model: str | None,
    at: str,
    task_pattern: str | None,
) -> list[dict[str, Any]]:
    """The row of each candidate; an empty one where there is nobody to keep it for."""
    rows: list[dict[str, Any]] = []
    for no, (candidate, vector) in enumerate(zip(candidates, vectors, strict=True)):
        key = owner.key(candidate.scope)
        row: dict[str, Any] = {}
        if key is not None:
            row = _row(candidate, key, owner, session_id, source, at, task_pattern)
            row["fixed"]["said_no"] = no
            row["embedding"], row["embedding_model"] = vector, model if vector else None
            row["owner_key"] = key
            row["asked"] = {
                "no": no,
                "owner_key": key,
                "value_key": row["value_key"],
                "words_key": row["words_key"],
                "frame_key": row["fixed"]["frame_key"],
                "terms": lexical.lucene(
                    lexical.query_terms(candidate.text), lexical.owner_token(key)
                ),
                "vector": vector,
                "event_id": candidate.event_id,
            }
        rows.append(row)
    return rows


def _screened(
    candidates: Sequence[Candidate],
    rows: Sequence[dict[str, Any]],
    owner: Owner,
    rules: Rules,
    consulted: Consulted,
) -> list[Weighed]:
    """Each candidate with what the screens and its origin make of it; the stricter one counts."""
    weighed: list[Weighed] = []
    for no, (candidate, row) in enumerate(zip(candidates, rows, strict=True)):
        outcome = decide(candidate.text, origin=candidate.origin, explicit=candidate.explicit)
        outcome = consulted.lower(no, outcome)
        if isinstance(outcome, Approved) and not rules.on:
            outcome = Waits("candidate", GATE_OFF, "the gate is switched off")
        corrects = candidate.reason == CORRECTED and not VERY_MOMENT.search(candidate.text)
        weighed.append(
            Weighed(no, candidate.text, candidate.origin, owner.user_id, outcome, row, corrects)
        )
    return weighed


def _settled(weighed: Weighed, told: Told | None) -> Weighed:
    return with_outcome(weighed, told.outcome) if told and told.outcome else weighed


def _stays(weighed: Weighed) -> bool:
    return bool(weighed.row) and not isinstance(weighed.outcome, Blocked)


def _archived(kept: Sequence[Weighed], near: Mapping[int, gate.Near]) -> list[str]:
    """The keys that archived learnings hold: said again, they come back."""
    held = {str(w.row["value_key"]): near[w.no].holder or {} for w in kept}
    return sorted(key for key, holder in held.items() if holder.get("status") == "archived")


def _write(
    run: Runner, kept: Sequence[Weighed], told: dict[int, Told], archived: Sequence[str]
) -> dict[str, learnings.Upserted]:
    """Write the rows under the ids and keys the comparison gave them; by value key."""
    if not kept:
        return {}
    back = {told[w.no].value_key for w in kept if told[w.no].release}
    if back:
        gate.release(run, keys=sorted(back))
    rows: list[dict[str, Any]] = []
    for w in kept:
        one = told[w.no]
        row = {k: v for k, v in w.row.items() if k not in {"asked", "owner_key", "words_key"}}
        row["value_key"] = one.value_key
        if one.release:
            row["id"] = one.id
            row["short_id"] = hashlib.sha1(one.id.encode()).hexdigest()[:16]
        rows.append(row)
    if archived:
        forget.revive(run, keys=list(archived))
    return {u.value_key: u for u in learnings.upsert(run, rows=rows)}


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
        "frame_key": frame_key(owner_key, candidate.text),
        "words_key": words_key(owner_key, candidate.text),
        "project_id": owner.project_id,
        "user_id": owner.user_id,
        "task_pattern": task_pattern or candidate.task_pattern,
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
        "words_key": fixed["words_key"],
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
