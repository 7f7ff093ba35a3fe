"""Where else a text may lie: spool, what was put aside, logs, backups, the store's own files."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mkg.features.forget.act import FILLING
from mkg.features.forget.select import Selector, Targets, forms
from mkg.json_shape import texts_in
from mkg.private import write_private
from mkg.settings import Paths
from mkg_hooks import spool_mask
from mkg_hooks.spool import Spool

CHUNK = 4 * 1024 * 1024
Meant = Callable[[dict[str, Any]], bool]


@dataclass(slots=True)
class Copies:
    """Files that still hold it or may hold it; by path, because only a person can judge them."""

    spool: int = 0
    quarantine: int = 0
    logs: list[str] = field(default_factory=list[str])
    store: list[str] = field(default_factory=list[str])
    backups: list[str] = field(default_factory=list[str])
    torn: list[str] = field(default_factory=list[str])


def meant(selector: Selector, targets: Targets, until: str) -> Meant:
    """Whether a spool record belongs to a wish; one that came after `until` does not."""
    sessions = {part.session_id for part in targets.sessions}
    events = set(targets.events)
    looked_for = forms(selector.value) if selector.kind == "text" else []

    def one(record: dict[str, Any]) -> bool:
        if str(record.get("received_at") or record.get("at") or "") > until:
            return False
        if record.get("session_id") in sessions or record.get("agent_id") in sessions:
            return True
        key = str(record.get("event_key") or "")
        if key and (key in events or f"{key}@{record.get('received_at')}" in events):
            return True
        return bool(looked_for) and any(holds(text, looked_for) for text in texts_in(record))

    return one


def holds(text: str, looked_for: Sequence[str]) -> bool:
    """Whether one of the forms stands in a text, whatever its case."""
    small = text.lower()
    return any(form in small for form in looked_for)


def waiting(spool: Path, is_meant: Meant) -> int:
    """How many records that wait in the spool are meant."""
    return sum(1 for record in Spool(spool).waiting() if is_meant(record))


def clean_spool(spool: Path, is_meant: Meant, words: Sequence[str]) -> int:
    """Take what is meant out of the segments, also what was applied and still stands there."""
    log = Spool(spool)
    done = spool_mask.purge(log, is_meant)
    if words:
        done += spool_mask.mask(log, lambda record: cast("dict[str, Any]", _without(record, words)))
    return done


def _without(value: Any, words: Sequence[str]) -> Any:
    if isinstance(value, str):
        for word in words:
            value = value.replace(word, FILLING * len(word))
        return value
    if isinstance(value, dict):
        made = cast("dict[str, Any]", value)
        return {name: _without(each, words) for name, each in made.items()}
    if isinstance(value, list):
        return [_without(each, words) for each in cast("list[Any]", value)]
    return value


def clean_aside(spool: Path, needles: Sequence[str]) -> int:
    """Delete what was put aside and holds one of these; nobody ever reads it back."""
    done = 0
    folder = spool / "quarantine"
    for path in sorted(folder.glob("[0-9]*.*")) if folder.is_dir() else ():
        if in_file(path, needles):
            path.unlink(missing_ok=True)
            done += 1
    return done


def in_file(path: Path, needles: Sequence[str]) -> bool:
    """Whether one of these stands in a file's bytes, whatever its case; read in pieces."""
    looked_for = [needle.lower().encode() for needle in needles if needle]
    if not looked_for:
        return False
    keep = max(len(needle) for needle in looked_for) - 1
    before = b""
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                data = before + piece.lower()
                if any(needle in data for needle in looked_for):
                    return True
                before = data[-keep:] if keep else b""
    except OSError:
        return False
    return False


def copies(paths: Paths, needles: Sequence[str], *, managed: bool) -> Copies:
    """Where it still stands on this disk, as far as bytes tell."""
    found = Copies()
    found.logs = _holding(paths.log_dir, needles)
    found.quarantine = len(_holding(paths.spool_dir / "quarantine", needles))
    found.spool = len([p for p in _holding(paths.spool_dir, needles) if p.endswith(".seg")])
    if managed:
        found.store = _holding(paths.store_dir / "data", needles)
        torn = paths.store_dir / "torn"
        found.torn = [str(torn)] if torn.exists() else []
    found.backups = [path for path in _noted(paths.home) if Path(path).exists()]
    return found


def _holding(folder: Path, needles: Sequence[str]) -> list[str]:
    inside = [Path(at) / name for at, _, names in os.walk(folder) for name in names]
    return sorted(str(path) for path in inside if path.is_file() and in_file(path, needles))


def note_backup(home: Path, file: Path) -> None:
    """Remember where a backup was written to."""
    known = [*_noted(home), str(file.expanduser().absolute())]
    write_private(home / "backups.json", json.dumps(list(dict.fromkeys(known)), indent=1) + "\n")


def _noted(home: Path) -> list[str]:
    try:
        found: Any = json.loads((home / "backups.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(path) for path in cast("list[Any]", found)] if isinstance(found, list) else []
