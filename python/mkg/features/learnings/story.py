"""Everything that can be said of one learning, put together from two queries (SEC-32)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mkg.bundle import Runner, cypher
from mkg.features import learnings


@dataclass(frozen=True, slots=True)
class Story:
    """What became of a learning after it was first stated."""

    owner_key: str
    consistency_status: str | None
    wait_reason: str | None
    rejected_reason: str | None
    reviewed_by: str | None
    use_count: int | None
    last_used_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    last_confirmed_at: datetime | None
    runs: list[dict[str, Any]]
    versions: list[dict[str, Any]]
    replaced: list[dict[str, Any]]
    replaced_by: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    similar: list[dict[str, Any]]
    folded: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]


@cypher("learnings.story")
def story(run: Runner, *, id: str) -> Story | None: ...


@dataclass(frozen=True, slots=True)
class Told:
    """A learning with its story."""

    why: learnings.Why
    story: Story


def of(run: Runner, id: str) -> list[Told]:
    """What is known by a full or short id."""
    found = [(row, story(run, id=row.id)) for row in learnings.why(run, id=id.strip())]
    return [Told(row, more) for row, more in found if more is not None]


def lines(told: Told) -> list[str]:
    """The story in plain sentences, unescaped; whoever shows them escapes them."""
    row, more = told.why, told.story
    past = " once, no longer held" if row.status == "approved" and more.valid_until else ""
    made = [
        f"{row.short_id}  {row.text}",
        f"  {row.status}{past}, {row.scope} scope, origin {row.origin}, "
        f"supported by {row.support_count} session(s)",
    ]
    made += _standing(more)
    for e in row.evidence:
        made.append(
            f"  said in {e['client']} session {e['session_id']} at {e['at']} ({e['event']}):"
        )
        made.append(f"    “{e['quote']}”  (read by {e['extractor']})")
    for run in more.runs:
        with_model = f" with {run['model']}" if run["model"] else ""
        prompt = f", prompt {run['prompt']}" if run["prompt"] else ""
        made.append(f"  found at {run['at']} by {run['extractor']}{with_model}{prompt}")
    for d in row.decisions:
        to = "closed" if d["rule"] == "verdict:outdated" else d["to"]
        made.append(f"  decision {d['no']} by {d['by']}: {to} ({d['rule']}: {d['reason']})")
        made += [f"    {line}" for line in _seen(d)]
    made += [f"  until {v['at']} its text was: {v['text']}" for v in more.versions]
    made += [_step("replaced", r) for r in more.replaced]
    made += [_step("was replaced by", r) for r in more.replaced_by]
    made += [f"  against {c['id']} ({c['status']}): {c['text']}" for c in more.conflicts]
    made += [f"  near {s['id']} ({s['status']}, {s['reason']}): {s['text']}" for s in more.similar]
    made += [f"  says what {f['id']} said: {f['text']}" for f in more.folded]
    for d in row.deliveries:
        made.append(f"  told to session {d['session_id']} at {d['at']} ({d['hook_event']})")
    if not row.deliveries:
        made.append("  told to nobody yet")
    made.append(
        f"  told {row.inject_count} time(s), pulled {row.retrieval_count} time(s), "
        f"used {more.use_count or 0} time(s)"
    )
    for v in more.verdicts:
        note = f": {v['note']}" if v["note"] else ""
        made.append(f"  a person said {v['kind']} at {v['at']}{note}")
    return made


def _standing(more: Story) -> list[str]:
    made: list[str] = []
    if more.reviewed_by:
        made.append(
            f"  decided by {'a person' if more.reviewed_by == 'human' else more.reviewed_by}"
        )
    if more.wait_reason:
        made.append(f"  waits: {more.wait_reason}")
    if more.rejected_reason:
        made.append(f"  rejected: {more.rejected_reason}")
    if more.valid_from or more.valid_until:
        since = f" from {more.valid_from.isoformat()}" if more.valid_from else ""
        until = f" until {more.valid_until.isoformat()}" if more.valid_until else ""
        made.append(f"  valid{since}{until}")
    if more.last_confirmed_at and more.last_confirmed_at != more.valid_from:
        made.append(f"  stated again at {more.last_confirmed_at.isoformat()}")
    return made


def _seen(decision: dict[str, Any]) -> list[str]:
    made: list[str] = []
    if decision["screens"]:
        made.append(f"screens: {', '.join(decision['screens'])}")
    if decision["neighbours"]:
        made.append(f"compared with {', '.join(decision['neighbours'])}")
    if decision["model"]:
        made.append(f"judged by {decision['model']}, prompt {decision['prompt'] or 'unknown'}")
    if decision["undone"]:
        made.append(f"taken back at {decision['undone']}")
    return made


def _step(word: str, row: dict[str, Any]) -> str:
    sure = "" if row["confirmed"] else ", not confirmed"
    # Whose place was taken was not turned down: it held in its time.
    status = "no longer held" if row["status"] == "rejected" else row["status"]
    return f"  {word} {row['id']} ({status}{sure}; {row['reason']}): {row['text']}"
