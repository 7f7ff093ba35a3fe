"""The gate over the size of the store: neighbours against exact cosine, statements, time."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from mkg import lexical
from mkg.bundle import Runner
from mkg.bundle.header import QuerySpec
from mkg.db import Neo4jRunner
from mkg.embed import Embedder, LocalMiniLM
from mkg.features import gate
from mkg.features.gate.frame import frame_key, words_key
from mkg.features.gate.rules import TOPK
from mkg.features.gate.weigh import POOL
from mkg.features.learnings.extract import Candidate
from mkg.features.learnings.write import Owner, store
from tests.bench import statements, stock, world
from tests.bench.measure import Estimate, mean, slope, spread
from tests.bench.report import Report, Row

PROJECT = "host/acme/bench"
OWNER = f"project:{PROJECT}"
BATCH, WARM = 10, 5
PAGE = 2_000


class Counted:
    """A runner that counts what it sends."""

    def __init__(self, run: Runner) -> None:
        self.run, self.names = run, list[str]()

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        self.names.append(query.name)
        return self.run.fetch(query, params)


def measure(
    run: Neo4jRunner,
    *,
    sizes: Sequence[int],
    candidates: int,
    say: Callable[[str], None],
    model: Embedder | None = None,
) -> Report:
    """Put `candidates` new statements through the gate of a store of each size."""
    model = model or LocalMiniLM()
    rows: list[Row] = []
    notes: list[str] = []
    times: dict[int, list[float]] = {}
    sent: list[float] = []
    texts = world.facts(candidates + WARM * BATCH, seed=21)
    vectors = model.embed(texts)
    for size in sizes:
        say(f"{size} learnings")
        world.wipe(run)
        stock.fill(run, model, size, owner=OWNER)
        say(f"{size} learnings: exact neighbours of {candidates} candidates")
        measured = list(zip(texts, vectors, strict=True))[WARM * BATCH :]
        near, among = fidelity(run, measured, model.model)
        rows += [
            Row(f"neighbours by vector, recall@{TOPK}, {size:,} learnings", near, 0.98, "at least"),
            Row(f"nearest {TOPK} among all that the gate compares, {size:,} learnings", among),
        ]
        say(f"{size} learnings: {candidates} candidates in batches of {BATCH}")
        times[size], counted = _through(run, texts, vectors, model.model)
        sent += counted
        notes.append(f"ms a batch at {size:,}, median / p95: {spread(times[size])}")
    rows.append(Row(f"statements a batch of {BATCH} candidates", mean(sent), 3))
    if len(sizes) > 1:
        span = f"{sizes[0]:,} to {sizes[-1]:,} learnings"
        rows.append(Row(f"exponent of the gate's time over {span}", slope(times), 0.3))
    return Report("gate", rows, candidates, notes)


def fidelity(
    run: Neo4jRunner, asked: Sequence[tuple[str, list[float]]], model: str
) -> tuple[Estimate, Estimate]:
    """How many of the exactly nearest the vector side finds, and how many the gate compares."""
    near: list[float] = []
    among: list[float] = []
    exact = _exact(run, [vector for _, vector in asked])
    for start in range(0, len(asked), BATCH):
        part = asked[start : start + BATCH]
        rows = [_row(no, text, vector) for no, (text, vector) in enumerate(part)]
        alone = [{**row, "terms": "", "frame_key": "", "words_key": ""} for row in rows]
        for asking, shares in ((alone, near), (rows, among)):
            found = _neighbours(run, asking, model)
            for true, ids in zip(exact[start : start + BATCH], found, strict=True):
                shares.append(len(true & ids) / len(true))
    return mean(near), mean(among)


def _exact(run: Neo4jRunner, asked: Sequence[list[float]]) -> list[set[str]]:
    """The nearest of each by comparing with every vector."""
    wanted = np.array(asked, dtype=np.float32)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    ids: list[str] = []
    parts: list[Any] = []
    while rows := statements.run(
        run, "vectors", mode="read", owner_key=OWNER, after=ids[-1] if ids else "", limit=PAGE
    ):
        vectors = np.array([row["vector"] for row in rows], dtype=np.float32)
        parts.append(wanted @ (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).T)
        ids += [str(row["id"]) for row in rows]
    best = np.argsort(-np.concatenate(parts, axis=1), axis=1)[:, :TOPK]
    return [{ids[place] for place in row} for row in best]


def _neighbours(run: Runner, rows: list[dict[str, Any]], model: str) -> list[set[str]]:
    found = gate.neighbours(
        run,
        owners=[],
        rows=rows,
        embedding_model=model,
        pool=POOL,
        limit=TOPK,
        at=datetime.now(UTC).isoformat(),
    )
    return [{str(n["id"]) for n in one.neighbours} for one in found]


def _row(no: int, text: str, vector: list[float]) -> dict[str, Any]:
    return {
        "no": no,
        "owner_key": OWNER,
        "value_key": "",
        "words_key": words_key(OWNER, text),
        "frame_key": frame_key(OWNER, text),
        "terms": lexical.lucene(lexical.query_terms(text), lexical.owner_token(OWNER)),
        "vector": vector,
        "event_id": "",
    }


def _through(
    run: Neo4jRunner, texts: Sequence[str], vectors: Sequence[list[float]], model: str
) -> tuple[list[float], list[float]]:
    """Milliseconds and statements of each batch, the warm ones left out."""
    taken: list[float] = []
    sent: list[float] = []
    for start in range(0, len(texts), BATCH):
        part = slice(start, start + BATCH)
        began = time.perf_counter()
        counted = run.in_one(
            lambda unit, part=part: _stored(unit, texts[part], vectors[part], model),
            name="bench.gate",
        )
        if start >= WARM * BATCH:
            taken.append((time.perf_counter() - began) * 1000)
            sent.append(float(len(counted)))
    return taken, sent


def _stored(
    run: Runner, texts: Sequence[str], vectors: Sequence[list[float]], model: str
) -> list[str]:
    counted = Counted(run)
    store(
        counted,
        [_candidate(text) for text in texts],
        vectors,
        owner=Owner(PROJECT, "ann"),
        session_id=None,
        source="bench",
        model=model,
        at=datetime.now(UTC).isoformat(),
    )
    return counted.names


def _candidate(text: str) -> Candidate:
    return Candidate(
        text=text,
        scope="project",
        kind="fact",
        origin="user_typed",
        event_id="",
        quote=text,
        start=0,
        end=len(text),
        explicit=True,
        confidence=0.8,
        reason="bench",
    )
