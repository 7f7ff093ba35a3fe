"""The sweep: what is stored already is masked by the rules of today, in place and on record.

Rules learn new kinds; what was written before they did is read again in pages, and only rows with a
finding are written. Terms, vectors and value keys follow the new words.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mkg import lexical
from mkg.bundle import Runner, cypher
from mkg.embed import Embedder, check_dimension
from mkg.features.learnings.value_key import value_key
from mkg_hooks.redact import redact

PAGE = 200


@dataclass(frozen=True, slots=True)
class Scanned:
    id: str
    texts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScannedLearning:
    id: str
    owner_key: str
    texts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Redacted:
    written: int


@dataclass(frozen=True, slots=True)
class ScanRecorded:
    recorded: int


@dataclass(frozen=True, slots=True)
class ServerSetting:
    name: str
    value: str


@cypher("ops.server_settings")
def server_settings(run: Runner, *, names: list[str]) -> list[ServerSetting]: ...


@cypher("ops.scan_events")
def scan_events(run: Runner, *, after: str, limit: int) -> list[Scanned]: ...


@cypher("ops.scan_episodes")
def scan_episodes(run: Runner, *, after: str, limit: int) -> list[Scanned]: ...


@cypher("ops.scan_learnings")
def scan_learnings(run: Runner, *, after: str, limit: int) -> list[ScannedLearning]: ...


@cypher("ops.redact_events")
def redact_events(run: Runner, *, rows: list[dict[str, Any]]) -> Redacted: ...


@cypher("ops.redact_episodes")
def redact_episodes(run: Runner, *, rows: list[dict[str, Any]]) -> Redacted: ...


@cypher("ops.redact_learnings")
def redact_learnings(run: Runner, *, rows: list[dict[str, Any]]) -> Redacted: ...


@cypher("ops.record_scan")
def record_scan(run: Runner, *, rows: list[dict[str, Any]]) -> ScanRecorded: ...


@dataclass(slots=True)
class Report:
    """Counts only, by kind of row and rule: never a value."""

    scanned: Counter[str] = field(default_factory=Counter[str])
    touched: Counter[str] = field(default_factory=Counter[str])
    found: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    written: bool = False

    def masked(self, kind: str, value: Any, known: Sequence[str]) -> Any:
        """The value with every text in it masked, counted under its kind."""
        if isinstance(value, str):
            text, spans = redact(value, known)
            rules = self.found.setdefault(kind, Counter())
            rules.update([span.rule for span in spans])
            return text
        if isinstance(value, dict):
            return {name: self.masked(kind, each, known) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, list):
            return [self.masked(kind, each, known) for each in value]  # pyright: ignore[reportUnknownVariableType]
        return value


def sweep(
    run: Runner,
    embedder: Embedder | None,
    known: Sequence[str],
    *,
    write: bool,
    report: Report,
    progress: Callable[[Report], None] = lambda report: None,
) -> None:
    """Read every stored text; with `write`, mask what the rules find and put it on record.

    Raises:
        GraphUnavailable: pages written before stay masked; run it again.
    """
    for kind, scan in (("event", scan_events), ("episode", scan_episodes)):
        after = ""
        while page := scan(run, after=after, limit=PAGE):
            changed = [
                (row, texts)
                for row in page
                if (texts := report.masked(kind, row.texts, known)) != row.texts
            ]
            _count(report, kind, len(page), len(changed))
            if write and changed:
                _write(run, embedder, kind, changed)
            after = page[-1].id
            progress(report)
    after = ""
    while found := scan_learnings(run, after=after, limit=PAGE):
        marked = [
            (row, texts)
            for row in found
            if (texts := report.masked("learning", row.texts, known)) != row.texts
        ]
        _count(report, "learning", len(found), len(marked))
        if write and marked:
            redact_learnings(run, rows=_learnings(embedder, marked))
        after = found[-1].id
        progress(report)
    if write:
        _record(run, report)
        report.written = True


def _count(report: Report, kind: str, scanned: int, touched: int) -> None:
    report.scanned[kind] += scanned
    report.touched[kind] += touched


def _write(
    run: Runner,
    embedder: Embedder | None,
    kind: str,
    changed: Sequence[tuple[Scanned, dict[str, Any]]],
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": row.id, "texts": {k: v for k, v in texts.items() if v != row.texts[k]}}
        for row, texts in changed
    ]
    if kind == "event":
        redact_events(run, rows=rows)
        return
    whole = [
        "\n".join([t.get("title") or "", *(t.get("facts") or []), t.get("narrative") or ""])
        for _, t in changed
    ]
    for row, text, vector in zip(rows, whole, _vectors(embedder, whole), strict=True):
        row["terms"] = " ".join(lexical.index_terms(text))
        row["embedding"] = vector
        row["embedding_model"] = embedder.model if embedder else None
    redact_episodes(run, rows=rows)


def _learnings(
    embedder: Embedder | None, changed: Sequence[tuple[ScannedLearning, dict[str, Any]]]
) -> list[dict[str, Any]]:
    words = [str(texts["text"]) for _, texts in changed]
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for (row, texts), text, vector in zip(changed, words, _vectors(embedder, words), strict=True):
        key = value_key(row.owner_key, text)
        if key in seen:
            # The query tells twins in the store apart, not those of its own rows.
            key += f"~{row.id[-16:]}"
        seen.add(key)
        rows.append(
            {
                "id": row.id,
                "texts": {k: v for k, v in texts.items() if k != "quotes" and v != row.texts[k]},
                "quotes": texts["quotes"],
                "terms": " ".join(lexical.index_terms(text)),
                "value_key": key,
                "embedding": vector,
                "embedding_model": embedder.model if embedder else None,
            }
        )
    return rows


def _vectors(embedder: Embedder | None, texts: Sequence[str]) -> list[list[float] | None]:
    if embedder is None:
        # The old vector was made of the old words: none is better, and words still find the row.
        return [None] * len(texts)
    vectors = embedder.embed(texts)
    check_dimension(embedder, vectors)
    return list(vectors)


def _record(run: Runner, report: Report) -> None:
    at, mark = datetime.now(UTC).isoformat(), uuid.uuid4().hex[:12]
    rows = [
        {"id": f"scan:{mark}:{kind}:{rule}", "kind": kind, "rule": rule, "times": times, "at": at}
        for kind, rules in sorted(report.found.items())
        for rule, times in sorted(rules.items())
    ]
    if rows:
        record_scan(run, rows=rows)
