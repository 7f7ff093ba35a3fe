"""Imports dialogues: each turn becomes an episode with its order, its speaker and its sitting.

Read are a JSON list of conversations with `session_1`, `session_1_date_time` and so on, as the
LoCoMo data set has them, and JSON lines `{"session", "at", "speaker", "text"}` with an optional
`caption` of a shared picture.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mkg import lexical
from mkg.bundle import Runner
from mkg.embed import Embedder
from mkg.errors import ConfigError
from mkg.features import timeline
from mkg.features.timeline.episode import TITLE

BATCH = 200
LONGEST = 4_000
_SESSION = re.compile(r"session_(\d+)")
_MOMENT = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person said once; `id` is unique in its dialogue."""

    id: str
    sitting: str
    at: datetime
    speaker: str
    text: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation over one or more sittings, its turns in order."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """What an import wrote."""

    turns: int
    created: int
    redacted: int


def read(path: Path) -> list[Dialogue]:
    """The dialogues of a file.

    Raises:
        ConfigError: the file cannot be read or has another form.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read ({type(error).__name__})") from None
    try:
        if text.lstrip().startswith("["):
            return [conversation(entry) for entry in json.loads(text)]
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
        return [Dialogue(path.stem, tuple(_from_lines(lines)))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path.name} has another form ({type(error).__name__}: {str(error)[:80]}); give a "
            'list of conversations, or lines {"session", "at", "speaker", "text"}'
        ) from None


def conversation(entry: dict[str, Any]) -> Dialogue:
    """One conversation of a LoCoMo-like list."""
    held = entry["conversation"]
    numbers = sorted(int(m[1]) for key in held if (m := _SESSION.fullmatch(key)))
    turns: list[Turn] = []
    for number in numbers:
        start = datetime.strptime(held[f"session_{number}_date_time"], _MOMENT)
        for place, said in enumerate(held[f"session_{number}"]):
            turns.append(
                Turn(
                    str(said["dia_id"]),
                    str(number),
                    start.replace(tzinfo=UTC) + timedelta(seconds=place),
                    str(said["speaker"]),
                    str(said["text"]),
                    str(said.get("blip_caption") or ""),
                )
            )
    return Dialogue(str(entry.get("sample_id") or "dialogue"), tuple(turns))


def store(
    run: Runner,
    embedder: Embedder | None,
    dialogue: Dialogue,
    *,
    project_id: str,
    user_id: str,
    progress: Callable[[int], None] = lambda done: None,
) -> Stored:
    """Write a dialogue's turns as episodes of a project; writing it again changes nothing.

    A turn is embedded together with the one it answers: alone, "yes, two of them" means nothing.
    """
    owner, created, masked = timeline.owner_key(project_id), 0, 0
    before: Turn | None = None
    rows: list[dict[str, Any]] = []
    for done, found in enumerate(dialogue.turns, 1):
        turn, cut = _redacted(found)
        masked += cut
        rows.append(_row(turn, before, owner, project_id))
        before = turn
        if len(rows) == BATCH or done == len(dialogue.turns):
            created += _write(run, embedder, rows, project_id, dialogue.id, user_id)
            rows = []
            progress(done)
    return Stored(len(dialogue.turns), created, masked)


def turn_id(project_id: str, id: str) -> str:
    """Deterministic: one episode for one turn of one project."""
    digest = hashlib.sha1(f"{project_id}\n{id}".encode()).hexdigest()[:20]
    return f"turn:{project_id}:{digest}"


def spoken(turn: Turn) -> str:
    """What was said, and what a shared picture shows."""
    return f"{turn.text} [{turn.caption}]" if turn.caption else turn.text


def _write(
    run: Runner,
    embedder: Embedder | None,
    rows: Sequence[dict[str, Any]],
    project_id: str,
    name: str,
    user_id: str,
) -> int:
    texts = [row.pop("embedded") for row in rows]
    vectors = embedder.embed(texts) if embedder else [None] * len(texts)
    for row, vector in zip(rows, vectors, strict=True):
        row["embedding"] = vector
    return timeline.import_turns(
        run,
        project={"id": project_id, "name": name},
        user_id=user_id,
        turns=list(rows),
        embedding_model=embedder.model if embedder else None,
    ).created


def _row(turn: Turn, before: Turn | None, owner: str, project_id: str) -> dict[str, Any]:
    said, line = spoken(turn), f"{turn.speaker}: {spoken(turn)}"
    answered = before is not None and before.sitting == turn.sitting
    context = f"{before.speaker}: {spoken(before)}\n" if before and answered else ""
    word = next(iter(lexical.words(turn.speaker)), "")
    return {
        "id": turn_id(project_id, turn.id),
        "before": turn_id(project_id, before.id) if before else None,
        "session_id": f"dialogue:{project_id}:{turn.sitting}",
        "at": turn.at,
        "speaker": {
            "id": f"{owner}\n{turn.speaker}",
            "name": turn.speaker,
            "word": word,
            "owner_key": owner,
        },
        "embedded": context + line,
        "content": {
            "type": "question" if turn.text.rstrip().endswith("?") else "turn",
            "title": line if len(line) <= TITLE else line[: TITLE - 3].rstrip() + "...",
            "facts": [],
            "narrative": line,
            "terms": " ".join(lexical.index_terms(said)),
            "safety_status": "unscreened",
            "injectable": False,
            "owner_key": owner,
            "owner_token": lexical.owner_token(owner),
            "source": "import",
        },
    }


def _redacted(turn: Turn) -> tuple[Turn, int]:
    """Credentials are cut out before anything is stored, as in every other way in."""
    from mkg_hooks.redact import redact

    text, found = redact(turn.text[:LONGEST])
    caption, more = redact(turn.caption[:LONGEST])
    masked = len(found) + len(more)
    return Turn(turn.id, turn.sitting, turn.at, turn.speaker, text, caption), masked


def _from_lines(lines: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    for place, line in enumerate(lines):
        at = datetime.fromisoformat(str(line["at"]).replace("Z", "+00:00"))
        yield Turn(
            str(line.get("id") or place + 1),
            str(line["session"]),
            at if at.tzinfo else at.replace(tzinfo=UTC),
            str(line["speaker"]),
            str(line["text"]),
            str(line.get("caption") or ""),
        )
