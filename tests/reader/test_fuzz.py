"""Nothing gets round the gate: mutated, spliced and generated texts against a store that watches.

`make test` runs some hundreds, `make soak` ten thousand and two thousand.
"""

import contextlib
import json
import os
import random
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mkg.db.raw import RawReader
from mkg.errors import GraphError, Refused
from mkg.features.reader import rules
from mkg.features.reader.meter import Meter
from mkg.features.reader.reader import Asked, Reader
from tests.conftest import Live
from tests.reader.cases import HONEST_PARAMETERS, honest, rows
from tests.reader.mutate import mutated, respaced, spliced
from tests.support.requirement import requirement

CANARY = "canary-7d1f"
REFUSED = [row for row in rows() if not rules.decide(row["query"]).allowed]
SOME = 300
FEW = 40


class Endless(Meter):
    """Room for as many calls as a test makes."""

    @contextlib.contextmanager
    def slot(self) -> Iterator[None]:
        yield


@dataclass
class Watched(RawReader):
    """A raw reader that counts what reaches the server."""

    inner: RawReader
    reached: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.store = self.inner.store

    def unit(self, metadata):
        self.reached.append(metadata["query"])
        return self.inner.unit(metadata)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as found:
        found.setblocking(False)
        yield found


@pytest.fixture
def planted(graph: Live) -> Iterator[str]:
    """A file in the server's import folder, where it is on this machine."""
    folder = graph.value(
        "SHOW SETTINGS 'server.directories.import' YIELD value RETURN value AS folder"
    )
    path = Path(str(folder)) / "mkg-canary.csv"
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        yield "mkg-canary.csv"
        return
    path.write_text(f"{CANARY}\n", encoding="utf-8")
    yield path.name
    path.unlink()


def pointed(text: str, listener: socket.socket, file: str) -> str:
    """A text whose addresses and files are the ones that are watched."""
    port = listener.getsockname()[1]
    for old in ("169.254.169.254/latest/meta-data/", "127.0.0.1:9/x", "127.0.0.1:7474/"):
        text = text.replace(old, f"127.0.0.1:{port}/")
    return text.replace("127.0.0.1'", f"127.0.0.1:{port}'").replace("x.csv", file)


def state(graph: Live) -> dict[str, object]:
    """Everything that a query must leave alone: counts, properties, the schema and the catalog."""
    return {
        "nodes": graph.value("MATCH (n) RETURN count(n) AS n"),
        "relationships": graph.value("MATCH ()-[r]->() RETURN count(r) AS n"),
        "properties": graph.rows(
            "MATCH (n) RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties "
            "ORDER BY id"
        ),
        "indexes": graph.rows("SHOW INDEXES YIELD name ORDER BY name RETURN name"),
        "constraints": graph.rows("SHOW CONSTRAINTS YIELD name ORDER BY name RETURN name"),
        "projections": graph.value("CALL gds.graph.list() YIELD graphName RETURN count(*) AS n"),
    }


def nobody_called(listener: socket.socket) -> bool:
    with pytest.raises(BlockingIOError):
        listener.accept()
    return True


def mutations(seeds: Iterable[int]) -> Iterator[tuple[str, dict]]:
    for seed in seeds:
        row = REFUSED[seed % len(REFUSED)]
        yield mutated(row["query"], seed), row["parameters"]


def admitted(count: int) -> list[str]:
    return [text for text, _ in mutations(range(count)) if rules.decide(text).allowed]


@requirement("SEC-42")
def test_no_mutation_of_a_refused_text_is_admitted():
    assert admitted(SOME * 3) == []


@requirement("SEC-42")
def test_an_honest_query_stays_admitted_however_it_is_spaced_and_commented():
    for seed, query in enumerate(honest() * 5):
        text = respaced(query, seed)
        assert len(text) > rules.MOST_BYTES or rules.decide(text).allowed, text


def watched_run(graph, patient, listener, planted, seeds: range) -> None:
    """Mutations through the whole reader, while another transaction is open and all is watched."""
    raw = Watched(patient)
    reader = Reader(raw, Endless())
    reader.read(Asked("RETURN 1 AS proved", {}))
    raw.reached.clear()
    before = state(graph)
    answers: list[str] = []
    with graph.run.unit() as other:
        other.execute("CYPHER 25 MATCH (n:Project) RETURN n.id AS id")
        for text, params in mutations(seeds):
            with contextlib.suppress(Refused):
                answers += reader.read(Asked(pointed(text, listener, planted), params)).rows
        assert raw.reached == [] and answers == []
        for seed in range(len(seeds) // 20):
            query = honest()[seed % len(honest())]
            with contextlib.suppress(Refused):
                answers += reader.read(Asked(respaced(query, seed), HONEST_PARAMETERS)).rows
        # The other session's transaction is as alive as before.
        assert other.execute("CYPHER 25 MATCH (n:Project) RETURN n.id AS id").rows == [{"id": "p"}]
    assert state(graph) == before
    assert nobody_called(listener)
    assert answers and CANARY not in json.dumps(answers)


def test_mutated_queries_write_nothing_read_no_file_and_call_nobody(
    graph, patient, listener, planted
):
    watched_run(graph, patient, listener, planted, range(SOME))


def differential(graph: Live, texts: Iterable[str]) -> int:
    """Run what the text layer admits in WRITE mode: it may be stricter, never laxer."""
    before = state(graph)
    ran = 0
    for text in texts:
        verdict = rules.decide(text)
        if not verdict.allowed:
            continue
        with contextlib.suppress(GraphError):
            graph.run.execute(
                f"CYPHER 25\n{verdict.statement}", HONEST_PARAMETERS, mode="write", name="test.diff"
            )
            ran += 1
    assert state(graph) == before
    return ran


def splices(seeds: range) -> Iterator[str]:
    texts = [row["query"] for row in rows() if not row.get("bounded")] + honest()
    for seed in seeds:
        rng = random.Random(seed)
        yield spliced(rng.choice(texts), rng.choice(texts), seed)


def test_what_the_text_layer_admits_changes_nothing_even_in_write_mode(graph):
    texts = [respaced(query, seed) for seed, query in enumerate(honest())]
    assert differential(graph, [*texts, *splices(range(FEW))]) > 50


def test_without_the_text_layer_the_same_run_would_change_the_store(graph, monkeypatch):
    monkeypatch.setattr(rules, "decide", lambda text: rules.Verdict(True, "", text))
    with pytest.raises(AssertionError):
        differential(graph, ["MATCH (p:Project) SET p.name = 'other' RETURN p.name AS name"])


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_ten_thousand_mutations_and_two_thousand_splices(graph, patient, listener, planted):
    assert admitted(10_000) == []
    # A piece at a time: the transaction that has to stay alive has a time limit of its own.
    for start in range(0, 10_000, SOME):
        watched_run(graph, patient, listener, planted, range(start, min(start + SOME, 10_000)))
    assert differential(graph, splices(range(SOME, SOME + 20_000))) > 100
