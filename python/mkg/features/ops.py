"""The sweep: what is stored already is masked by the rules of today, in place and on record.

Rules learn new kinds; what was written before they did is read again in pages, and only rows with a
finding are written. Terms, vectors and value keys follow the new words. What holds texts is told by
the model of the graph, so that no noun can be missed.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mkg import lexical
from mkg.bundle import Runner, Store, cypher
from mkg.bundle.model import Label, load_model
from mkg.embed import Embedder, check_dimension
from mkg.features.learnings.value_key import value_key
from mkg_hooks.redact import redact

PAGE = 200


@dataclass(frozen=True, slots=True)
class Scanned:
    id: str
    ref: str
    texts: list[dict[str, Any]]
    links: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Written:
    refs: list[str]


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


@cypher("ops.scan_texts")
def scan_texts(
    run: Runner,
    *,
    label: str,
    key: str,
    names: list[str],
    types: list[str],
    link_names: list[str],
    after: str,
    limit: int,
) -> list[Scanned]: ...


@cypher("ops.redact_texts")
def redact_texts(run: Runner, *, label: str, rows: list[dict[str, Any]]) -> Written: ...


@cypher("ops.redact_links")
def redact_links(run: Runner, *, type: str, rows: list[dict[str, Any]]) -> Written: ...


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


@dataclass(slots=True)
class _Row:
    """One node or relationship: its texts as they were read and as they are to be."""

    id: str
    ref: str
    was: dict[str, Any]
    texts: dict[str, Any]

    @property
    def changed(self) -> dict[str, Any]:
        return {name: text for name, text in self.texts.items() if text != self.was[name]}

    def to_write(self, more: dict[str, Any]) -> dict[str, Any]:
        """What is compared with, and what is set."""
        changed = self.changed
        was = {name: self.was[name] for name in changed}
        return {"ref": self.ref, "was": was, "texts": {**changed, **more}}


def kind_of(label: str) -> str:
    """How a report calls what has a label."""
    if label == "SessionEvent":
        return "event"
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in label).lstrip("_")


def sweep(
    run: Store,
    embedder: Embedder | None,
    known: Sequence[str],
    *,
    write: bool,
    report: Report,
    progress: Callable[[Report], None] = lambda report: None,
) -> None:
    """Read every text of every noun; with `write`, mask what the rules find, on record.

    Raises:
        GraphUnavailable: pages written before stay masked; run it again.
    """
    model = load_model()
    for label in model.labels.values():
        links = model.link_texts(label.name)
        names = list(model.texts(label.name))
        if not names and not links:
            continue
        after = ""
        while page := scan_texts(
            run,
            label=label.name,
            key=label.key,
            # Read beside the texts: a value's key is made of both.
            names=[*names, "owner_key"],
            types=list(links),
            link_names=sorted({name for texts in links.values() for name in texts}),
            after=after,
            limit=PAGE,
        ):
            _page(run, embedder, known, label, page, report, write=write)
            after = page[-1].id
            progress(report)
    if write:
        _record(run, report)
        report.written = True


def _page(
    run: Store,
    embedder: Embedder | None,
    known: Sequence[str],
    label: Label,
    page: Sequence[Scanned],
    report: Report,
    *,
    write: bool,
) -> None:
    kind, marked = kind_of(label.name), list[_Row]()
    owners: dict[str, str] = {}
    marked_links: dict[str, list[_Row]] = {}
    touched = 0
    for row in page:
        was = _by_name(row.texts)
        owners[row.ref] = str(was.pop("owner_key", ""))
        one = _Row(row.id, row.ref, was, report.masked(kind, was, known))
        found = bool(one.changed)
        if found:
            marked.append(one)
        for link in row.links:
            was = _by_name(link["texts"])
            other = _Row("", link["ref"], was, report.masked(kind, was, known))
            if other.changed:
                marked_links.setdefault(link["type"], []).append(other)
                found = True
        touched += found
    report.scanned[kind] += len(page)
    report.touched[kind] += touched
    if not write:
        return
    if marked:
        _write(run, embedder, label, marked, owners)
    for type_, rows in marked_links.items():
        redact_links(run, type=type_, rows=[row.to_write({}) for row in rows])


def _by_name(texts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {text["name"]: text["value"] for text in texts}


def _write(
    run: Store,
    embedder: Embedder | None,
    label: Label,
    marked: Sequence[_Row],
    owners: dict[str, str],
) -> None:
    """Write the masked texts, and what is made of them."""
    words = [_words(row.texts) for row in marked]
    more: list[dict[str, Any]] = [{} for _ in marked]
    if "terms" in label.properties:
        for made, text in zip(more, words, strict=True):
            made["terms"] = " ".join(lexical.index_terms(text))
    if "embedding" in label.properties:
        for made, vector in zip(more, _vectors(embedder, words), strict=True):
            made["embedding"] = vector
            made["embedding_model"] = embedder.model if embedder else None
    rows = [row.to_write(made) for row, made in zip(marked, more, strict=True)]

    def work(unit: Runner) -> None:
        done = set(redact_texts(unit, label=label.name, rows=rows).refs)
        if label.name == "Learning":
            written = [row for row in marked if row.ref in done]
            redact_learnings(unit, rows=_keys(written, owners))

    run.in_one(work, name="ops.redact")


def _words(texts: dict[str, Any]) -> str:
    """What a row is searched by: a learning's text, an episode's title, facts and narrative."""
    if "text" in texts:
        return str(texts["text"])
    facts: list[str] = texts.get("facts") or []
    return "\n".join([texts.get("title") or "", *facts, texts.get("narrative") or ""])


def _keys(rows: Sequence[_Row], owners: dict[str, str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for row in rows:
        key = value_key(owners[row.ref], str(row.texts["text"]))
        if key in seen:
            # The query tells twins in the store apart, not those of its own rows.
            key += f"~{row.id[-16:]}"
        seen.add(key)
        found.append({"id": row.id, "value_key": key})
    return found


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
