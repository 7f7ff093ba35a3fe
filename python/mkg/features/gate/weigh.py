"""A batch of candidates against what is known: which relations each has, in the order they came.

Rows of one batch meet each other exactly as if they had come one after the other. What is said
here are relations; what follows from them is decided in the graph, under its locks
(`gate.settle`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from mkg.bundle import Runner
from mkg.features import gate
from mkg.features.gate.compare import NOTHING, Relation, compare, like_refused
from mkg.features.gate.decide import NOT_EXPLICIT, Approved, Blocked, Outcome, Waits
from mkg.features.gate.judge import Judged
from mkg.features.gate.rules import Rules
from mkg.features.gate.similar import nearest

POOL = 60
_OUTDATED = "superseded_by:"
# Who stated a value in so many words may give another one in its place.
_OWN_WORDS = frozenset({"user_typed"})


@dataclass(frozen=True, slots=True)
class Weighed:
    """One candidate as it comes to the gate, with its row and the screen's outcome."""

    no: int
    text: str
    origin: str
    user_id: str | None
    outcome: Outcome
    row: Mapping[str, Any]
    corrects: bool = False
    """Said in answer to something: 'no, ...', 'we moved from a to b'."""


@dataclass(slots=True)
class Told:
    """What the graph, and the rows before it in its batch, say about one candidate."""

    at: datetime
    id: str
    value_key: str
    release: bool
    held: Mapping[str, Any]
    """What has its value key so far; empty where nothing has."""
    neighbours: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    relations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outcome: Outcome | None = None
    """Where what it corrects says more of it than its own words."""


def look(
    run: Runner,
    weighed: Sequence[Weighed],
    *,
    model: str | None,
    rules: Rules,
    at: str,
    lock: bool,
) -> dict[int, gate.Near]:
    """Ask once for the neighbours of all candidates; `lock` holds their owners until the end."""
    asked = [w.row["asked"] for w in weighed if not isinstance(w.outcome, Blocked)]
    if not asked:
        return {}
    owners = sorted({str(row["owner_key"]) for row in asked}) if lock else []
    found = gate.neighbours(
        run,
        owners=owners,
        rows=[dict(row) for row in asked],
        embedding_model=model or "",
        pool=POOL,
        limit=rules.topk,
        at=at,
    )
    return {near.no: near for near in found}


def weigh(
    weighed: Sequence[Weighed],
    near: Mapping[int, gate.Near],
    judged: Mapping[int, Judged],
    *,
    model: str | None,
    at: datetime,
) -> dict[int, Told]:
    """Relations of candidates that are not blocked, as far as they can be told together.

    What became of a value that a row before it has ended only the graph knows, once that row is
    written: the caller writes what is told and asks again about the rest. The first is always told.
    """
    told: dict[int, Told] = {}
    # Both by id: as rows of this batch will stand, and what no longer counts once they do.
    before: dict[str, dict[str, Any]] = {}
    ended: set[str] = set()
    for candidate in weighed:
        found = near.get(candidate.no)
        if found is None:
            continue
        one = _placed(candidate, found, before, ended, at)
        if not ended.isdisjoint((one.id, one.value_key)):
            break
        if _corrects_known(candidate, one):
            one.outcome = Approved("corrects what is known")
            candidate = with_outcome(candidate, one.outcome)
        _relate(candidate, one, judged.get(candidate.no))
        _liken(candidate, one, model)
        told[candidate.no] = one
        _remember(candidate, one, before, ended)
        if one.held.get("valid_until") is not None:
            # Said again later it would come back, which is seen once this one is written.
            break
    return told


def _placed(
    candidate: Weighed,
    found: gate.Near,
    before: Mapping[str, dict[str, Any]],
    ended: set[str],
    at: datetime,
) -> Told:
    """Where the candidate lands: which node, with which neighbours, from when."""
    row = candidate.row
    when: datetime = found.told_at or row["asked"].get("since") or at
    value = str(row["value_key"])
    mine = next((b for b in before.values() if b["value_key"] == value), None)
    holder = mine or found.holder or {}
    node = str(holder.get("id") or row["id"])
    owner = row["asked"]["owner_key"]
    # What the graph shows of a row of this batch is how it stood before the batch.
    there = {n["id"]: before.get(n["id"], n) for n in found.neighbours}
    there |= {id: b for id, b in before.items() if b["owner_key"] == owner}
    neighbours = [n for id, n in there.items() if id not in ended and id != node]
    release = _comes_back(candidate, holder, when)
    if release and holder["status"] != "candidate":
        # Its first time stays where it is; this is a learning of its own.
        node = f"{row['id']}:{int(when.timestamp() * 1000):x}"
    if not holder:
        refused = next((n for n in neighbours if _is_refused(n) and n["words_key"]
                        == row["words_key"]), None)  # fmt: skip
        if refused is not None:
            # Counted on the refused value itself, as an equal key would be.
            key = str(refused["value_key"])
            return Told(when, str(refused["id"]), key, False, refused, neighbours)
    if _open(holder):
        # While it waits, its place is that of the last time it was said.
        when = max(when, holder.get("from", when))
    return Told(when, node, value, release, {} if release else holder, neighbours)


def _open(held: Mapping[str, Any]) -> bool:
    """Whether the gate still decides on what has a value key, or nothing has it yet.

    An archived value waits again once it is said.
    """
    free = held.get("reviewed_by") is None and held.get("valid_until") is None
    return free and held.get("status", "candidate") in {"candidate", "quarantined", "archived"}


def _comes_back(candidate: Weighed, holder: Mapping[str, Any], when: datetime) -> bool:
    """Whether a value that was replaced is stated again, in so many words and later.

    What was replaced while it waited has no first time: it was never believed, so it waits anew.
    """
    until = holder.get("valid_until")
    if not isinstance(candidate.outcome, Approved) or until is None or holder.get("reviewed_by"):
        return False
    outdated = str(holder.get("rejected_reason") or "").startswith(_OUTDATED)
    return (holder["status"] in {"approved", "candidate"} or outdated) and when > until


def _corrects_known(candidate: Weighed, told: Told) -> bool:
    """Whether a person corrects in passing what the same person had stated.

    'No, use 9090 instead of 8080' may be meant for a moment, unless 8080 is what is known.
    """
    waits = isinstance(candidate.outcome, Waits) and candidate.outcome.rule == NOT_EXPLICIT
    if not (waits and candidate.corrects):
        return False
    return any(
        other["status"] == "approved"
        and _own(candidate, other)
        and compare(candidate.text, other["text"], corrects=True).kind in {"names", "changes"}
        for other in told.neighbours
    )


def _own(candidate: Weighed, other: Mapping[str, Any]) -> bool:
    """Whether one person typed both."""
    return (
        candidate.origin in _OWN_WORDS
        and other["origin"] in _OWN_WORDS
        and other.get("user_id") == candidate.user_id
    )


def _relate(candidate: Weighed, told: Told, judged: Judged | None) -> None:
    able = isinstance(candidate.outcome, Approved)
    named: list[tuple[Relation, Mapping[str, Any], dict[str, Any]]] = []
    for other in told.neighbours:
        if judged is not None and (verdict := judged.of(other["id"])) is not None:
            kind, reason = verdict
            if not able and kind in {"wins", "unclear"}:
                kind = "noted"
            told.relations.append(_relation(other, kind, reason, "judge"))
            continue
        if _is_refused(other):
            if like_refused(candidate.text, other["text"]):
                reason = f"nearly the words of {_short(other['id'])}, which was refused"
                # No edge leads to what is gone: the doubt alone makes it wait.
                told.relations.append(_relation(other, "echo", reason, "words"))
            continue
        if not other["live"]:
            continue
        found = compare(candidate.text, other["text"], corrects=candidate.corrects)
        if judged is not None and found.kind == "doubt" and judged.saw(other["id"]):
            found = NOTHING
        if found.kind == "nothing":
            continue
        kind = _kind(candidate, other, found.kind, told.at, able=able)
        made = _relation(other, kind, found.reason, "words")
        if kind == "wins":
            named.append((found, other, made))
        else:
            told.relations.append(made)
    told.relations.extend(_meant(candidate, named))


def _liken(candidate: Weighed, told: Told, model: str | None) -> None:
    """What the same person said before that is near, where nothing else is known of the two."""
    if not isinstance(candidate.outcome, Approved) or told.relations:
        return
    own = [o for o in told.neighbours if o["status"] == "approved" and _own(candidate, o)]
    vector = candidate.row["asked"].get("vector")
    for other, cosine in nearest(candidate.text, vector, model, own):
        told.relations.append(_relation(other, "similar", f"cosine {cosine:.2f}", "vectors"))


def _meant(
    candidate: Weighed, named: list[tuple[Relation, Mapping[str, Any], dict[str, Any]]]
) -> Iterator[dict[str, Any]]:
    """Which of those that have the old value is meant: the nearest, if there is one."""
    least = min((found.apart for found, _, _ in named), default=0)
    nearest = [one for one in named if one[0].apart == least]
    for found, other, made in nearest:
        if len(nearest) > 1:
            # Which of them was meant only a person can say.
            reason = f"one of {len(nearest)} that name the old value"
            yield {**made, "kind": "unclear", "reason": reason}
        elif found.sure:
            yield made
        else:
            # The value alone tells which is meant: it ends, and a person is asked.
            yield {**made, "kind": "changed" if _own(candidate, other) else "unclear"}


def _kind(
    candidate: Weighed, other: Mapping[str, Any], kind: str, at: datetime, *, able: bool
) -> str:
    if not able:
        return "noted"
    later = _later(candidate, at, other)
    if kind == "names":
        return "wins" if later else "unclear"
    own = kind == "changes" and _own(candidate, other)
    if own and later:
        return "changed"
    # Who only waits cannot hold up what a person stated.
    if other["status"] != "approved":
        return "noted"
    return "outdated" if own else "unclear"


def _later(candidate: Weighed, at: datetime, other: Mapping[str, Any]) -> bool:
    """The one order of all statements: when each was said, then how they came to the store.

    Without the second half two that were said at one instant would each be the later one, and
    end each other. What is stored only now comes after all that is there.
    """
    if at != other["from"]:
        return at > other["from"]
    mine = candidate.row["asked"].get("came")
    return mine is None or list(mine) > list(other["came"])


def _relation(other: Mapping[str, Any], kind: str, reason: str, source: str) -> dict[str, Any]:
    return {"id": other["id"], "kind": kind, "reason": reason[:280], "source": source}


def _remember(
    candidate: Weighed, told: Told, before: dict[str, dict[str, Any]], ended: set[str]
) -> None:
    """Let the candidates after this one meet it as it will stand in the graph."""
    kinds = {r["kind"] for r in told.relations}
    able = isinstance(candidate.outcome, Approved)
    if not _open(told.held):
        # It moves nothing; what is believed is now said again, which makes it the later one.
        current = told.held["status"] == "approved" and told.held.get("valid_until") is None
        if current and candidate.origin in _OWN_WORDS:
            latest = max(told.at, told.held["from"])
            before[told.id] = {**told.held, "from": latest}
        return
    waits = (
        candidate.outcome.status if not isinstance(candidate.outcome, Approved | Blocked) else ""
    )
    replaces = able and not kinds & {"vetoed", "refused", "restates"}
    if replaces:
        ended.update(r["id"] for r in told.relations if r["kind"] in {"wins", "changed"})
    status = waits or "approved"
    if able and "unclear" in kinds and not kinds & {"wins", "changed", "outdated"}:
        status = "candidate"
    gone = bool(kinds & {"vetoed", "refused", "restates"}) or (able and "outdated" in kinds)
    if gone:
        ended.update((told.id, told.value_key))
        return
    before[told.id] = {
        "id": told.id,
        "value_key": told.value_key,
        "words_key": candidate.row["words_key"],
        "owner_key": candidate.row["asked"]["owner_key"],
        "text": candidate.text,
        "status": status,
        "origin": candidate.origin,
        "user_id": candidate.user_id,
        "reviewed_by": None,
        "rejected_reason": None,
        "live": status in {"approved", "candidate"},
        "from": told.at,
        "came": candidate.row["asked"].get("came"),
        "vector": candidate.row["asked"].get("vector"),
    }


def _is_refused(other: Mapping[str, Any]) -> bool:
    """Refused as a value; what was only replaced is history."""
    reason = str(other.get("rejected_reason") or "")
    return other["status"] in {"rejected", "blocked"} and not reason.startswith(_OUTDATED)


def _short(id: str) -> str:
    return id.rpartition(":")[2]


def with_outcome(weighed: Weighed, outcome: Outcome) -> Weighed:
    """The same candidate with what a second screen says of it."""
    return replace(weighed, outcome=outcome)
