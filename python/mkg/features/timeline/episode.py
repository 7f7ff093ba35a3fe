"""Composes the one episode of a session from facts the graph holds; no model, nothing invented."""

import hashlib
from dataclasses import dataclass
from typing import Any

from mkg import lexical
from mkg.bundle import Runner
from mkg.embed import Embedder
from mkg.features import timeline
from mkg.features.gate.screen import screen

TITLE, FACT, NARRATIVE, FACTS = 200, 300, 1000, 6
TRIES = 3
_OWN_WORDS = frozenset({"user_typed"})


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of an episode."""

    type: str
    title: str
    facts: list[str]
    narrative: str


def record(
    run: Runner, embedder: Embedder | None, *, session_id: str
) -> timeline.UpsertedEpisode | None:
    """Write (or rewrite) the episode of a session; None when it has no project or no prompt.

    What was erased while it was composed is composed again without.
    """
    for _ in range(TRIES):
        found = timeline.digest(run, session_id=session_id)
        if found is None or found.project_id is None or found.prompt_count == 0:
            return None
        written = _write(run, embedder, session_id, found.project_id, found)
        if written is not None:
            return written
    return None


def _write(
    run: Runner,
    embedder: Embedder | None,
    session_id: str,
    project_id: str,
    found: timeline.Digest,
) -> timeline.UpsertedEpisode | None:
    composed = compose(found)
    text = "\n".join([composed.title, *composed.facts, composed.narrative])
    safe = screened(found, composed)
    vector = embedder.embed([text])[0] if embedder else None
    owner = timeline.owner_key(project_id)
    content: dict[str, Any] = {
        "type": composed.type,
        "title": composed.title,
        "facts": composed.facts,
        "narrative": composed.narrative,
        "terms": " ".join(lexical.index_terms(text)),
        "safety_status": "passed" if safe else "unscreened",
        "injectable": safe,
        "user_id": found.user_id,
        "owner_key": owner,
        "owner_token": lexical.owner_token(owner),
        "source": "code",
    }
    return timeline.upsert_episode(
        run,
        id=episode_id(project_id, session_id),
        session_id=session_id,
        project_id=project_id,
        started_at=found.started_at,
        ended_at=found.ended_at,
        content=content,
        embedding=vector,
        embedding_model=embedder.model if embedder else None,
        erased=found.erased,
    )


def compose(found: timeline.Digest) -> Composed:
    """Say what was asked, which files were touched, what failed and how it ended."""
    asked = [_line(p["text"]) for p in found.prompts if p.get("text")]
    facts: list[str] = []
    if asked:
        facts.append(_cut(f"Asked: {asked[0]}", FACT))
    if len(asked) > 1:
        facts.append(_cut(f"Then asked: {asked[-1]}", FACT))
    if found.files:
        shown = ", ".join(_short(path) for path in found.files[:6])
        more = f" and {len(found.files) - 6} more" if len(found.files) > 6 else ""
        facts.append(_cut(f"Files touched: {shown}{more}", FACT))
    facts += [
        _cut(f"Failed: {failure['tool']}: {_line(failure['error'])}", FACT)
        for failure in found.failures[:2]
    ]
    if found.tools:
        calls = ", ".join(f"{tool['name']} x{tool['calls']}" for tool in found.tools[:5])
        facts.append(_cut(f"Tools: {calls}", FACT))
    facts = facts[: FACTS - 1]
    if len(facts) < 2 or found.outcome is None:
        facts.append(f"Events recorded: {found.events}")
    kind = "problem" if found.failures and not found.files else "change"
    if not found.files and not found.failures:
        kind = "discovery"
    return Composed(kind, _cut(asked[0] if asked else "Session", TITLE), facts, _narrative(found))


def screened(found: timeline.Digest, composed: Composed) -> bool:
    """Whether a headline of this episode may be shown unasked: typed words that pass the screen."""
    first = found.prompts[0] if found.prompts else {}
    if first.get("origin") not in _OWN_WORDS:
        return False
    return screen(composed.title, channel="U").verdict == "pass"


def episode_id(project_id: str, session_id: str) -> str:
    """Deterministic: one episode for one session of one project."""
    digest = hashlib.sha1(f"{project_id}\n{session_id}".encode()).hexdigest()[:16]
    return f"observation:{project_id}:{digest}:0"


def age(seconds: int) -> str:
    """Nm under an hour, Nh under 48 hours, else Nd; 0m for what a clock puts in the future."""
    minutes = max(0, seconds // 60)
    if minutes < 60:
        return f"{minutes}m"
    return f"{minutes // 60}h" if minutes < 48 * 60 else f"{minutes // 1440}d"


def _narrative(found: timeline.Digest) -> str:
    plural = "s" if found.prompt_count != 1 else ""
    parts = [f"The user gave {found.prompt_count} prompt{plural}."]
    if found.failures:
        count = len(found.failures)
        parts.append(f"{count} tool call{'s' if count != 1 else ''} failed.")
    if found.outcome:
        parts.append(f"The agent closed with: {_cut(_line(found.outcome), 600)}")
    else:
        parts.append("The session has no closing message.")
    return _cut(" ".join(parts), NARRATIVE)


def _line(text: str) -> str:
    return " ".join(text.split())


def _short(path: str) -> str:
    return "/".join(path.rstrip("/").split("/")[-2:])


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."
