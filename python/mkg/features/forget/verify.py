"""Is it gone? Looked for in every property, the indexes of words, and files of this machine."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mkg.bundle import Runner
from mkg.errors import ConfigError
from mkg.features import forget
from mkg.features.forget import places
from mkg.features.forget.places import Copies
from mkg.features.forget.select import Selector, check, forms, planned, select
from mkg.private import write_private
from mkg.settings import Settings


@dataclass(slots=True)
class Proof:
    """What still answers, by place; `copies` are files that only a person can judge."""

    graph: dict[str, int] = field(default_factory=dict[str, int])
    indexes: int = 0
    selected: dict[str, int] = field(default_factory=dict[str, int])
    copies: Copies = field(default_factory=Copies)

    @property
    def gone(self) -> bool:
        """Nothing of it is read by anything any more; old bytes on the disk do not count."""
        return not (
            self.graph
            or self.indexes
            or any(self.selected.values())
            or self.copies.spool
            or self.copies.quarantine
            or self.copies.logs
        )


def prove(run: Runner, settings: Settings, selector: Selector) -> Proof:
    """Look for what a selector names, everywhere."""
    proof = Proof()
    counts = asdict(planned(run, select(run, selector)))
    proof.selected = {kind: n for kind, n in counts.items() if n}
    needles = forms(selector.value) if selector.kind == "text" else []
    if needles:
        proof.graph = {p.place: p.hits for p in forget.find(run, forms=needles)}
        words = re.findall(r"\w+", selector.value.lower())
        if words:
            proof.indexes = forget.indexed(run, lucene=f'"{" ".join(words)}"').hits
    proof.copies = places.copies(settings.paths, needles, managed=settings.store.uri is None)
    return proof


def prove_by_receipt(run: Runner, settings: Settings, receipt: dict[str, Any]) -> Proof:
    """The same by hashes alone: no id and no learning's text has one of them."""
    proof = Proof()
    known = set(receipt["checks"])
    left = 0
    for row in forget.names(run, before=datetime.fromisoformat(receipt["at"])):
        left += check(row.id) in known or (row.text is not None and check(row.text) in known)
    proof.selected = {"known": left} if left else {}
    proof.copies = places.copies(settings.paths, [], managed=settings.store.uri is None)
    return proof


def unproved(run: Runner, home: Path, selector: Selector) -> list[forget.State]:
    """Wishes for the same thing that are carried out and have no receipt: a kill came between."""
    known = forget.wishes(run, kind=selector.kind, check=check(selector.value))
    return [one for one in known if one.state == "done" and not _receipt(home, one.id).exists()]


def _receipt(home: Path, id: str) -> Path:
    return home / "forgotten" / f"{id}.json"


def write_receipt(home: Path, state: forget.State, proof: Proof, at: str) -> Path:
    """Keep what was done: kinds, counts, hashes, and what the proof said. No text and no id."""
    path = _receipt(home, state.id)
    kept = {
        "id": state.id,
        "kind": state.kind,
        "at": at,
        "counts": counts(state),
        "gone": proof.gone,
        "checks": state.checks,
    }
    write_private(path, json.dumps(kept, indent=1) + "\n")
    return path


def counts(state: forget.State) -> dict[str, int]:
    """What went, by kind."""
    names: Sequence[str] = ("events", "learnings", "weakened", "episodes", "sessions")
    return {name: getattr(state, name) for name in names}


def read_receipt(path: Path) -> dict[str, Any]:
    """A receipt that `mkg forget` wrote.

    Raises:
        ConfigError: it is none.
    """
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        datetime.fromisoformat(found["at"])
        if not all(isinstance(text, str) for text in found["checks"]):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(f"{path.name} is no receipt of mkg forget") from None
    return found
