"""Labelled dialogues: the questions of a LoCoMo-like file and the turns that answer them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkg.errors import ConfigError
from mkg.features.timeline import dialogue

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single"}
"""Category 5 asks for what was never said: it has no turn to be found."""
_EVIDENCE = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category, and the ids of the turns that answer it."""

    text: str
    category: int
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A dialogue and what is asked about it."""

    dialogue: dialogue.Dialogue
    questions: tuple[Question, ...]


def load(path: Path) -> list[Labelled]:
    """Every conversation of the file with its questions of categories 1 to 4 that have evidence.

    Raises:
        ConfigError: there is no such file, or it has another form.
    """
    if not path.is_file():
        raise ConfigError(f"there is no data set at {path.name}; give --dataset FILE")
    dialogues = dialogue.read(path)
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [
        Labelled(found, tuple(_questions(entry.get("qa", []), found)))
        for entry, found in zip(entries, dialogues, strict=True)
    ]


def _questions(rows: list[dict[str, Any]], found: dialogue.Dialogue) -> list[Question]:
    known = {turn.id for turn in found.turns}
    asked: list[Question] = []
    for row in rows:
        gold = frozenset(_EVIDENCE.findall(" ".join(row.get("evidence", [])))) & known
        if row["category"] in CATEGORIES and gold:
            asked.append(Question(str(row["question"]), int(row["category"]), gold))
    return asked
