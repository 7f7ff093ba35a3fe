"""A small graph to read, and readers on the test server."""

from collections.abc import Iterator

import pytest

from mkg.db.raw import RawReader
from mkg.features.reader.meter import Meter
from mkg.features.reader.reader import Reader
from tests.conftest import Live, Server

SEED = """
CREATE (p:Project {id: 'p', name: 'shop'})
CREATE (s:Session {session_id: 's', event_count: 3}), (p)-[:HAS_SESSION]->(s)
FOREACH (i IN range(1, 30) |
  CREATE (p)-[:HAS_LEARNING]->(:Learning {
    id: 'l' + i, text: 'words ' + i, live: true, use_count: i,
    embedding: [x IN range(1, 384) | x / 384.0], embedding_model: 'minilm-l6-int8'
  })
)
CREATE (s)-[:HAS_EVENT]->(:SessionEvent {
  event_id: 'e', prompt: 'the <b>key</b> is AKIA' + 'QWERTYUIOPASDFG2', timestamp: datetime()
})
"""


def raw_on(server: Server, *, seconds: float = 10.0) -> RawReader:
    return RawReader(
        server.uri, (server.username, server.password), server.database, seconds=seconds
    )


@pytest.fixture(scope="module")
def patient(server: Server) -> Iterator[RawReader]:
    """Connections with the product's own time limit."""
    with raw_on(server) as found:
        yield found


@pytest.fixture(scope="module")
def raw(server: Server) -> Iterator[RawReader]:
    """Connections that only read, with one second a query: what is slow shall end soon."""
    with raw_on(server, seconds=1.0) as found:
        yield found


@pytest.fixture
def graph(live: Live) -> Live:
    """The test database with a few nodes of the model in it."""
    live.run.execute(f"CYPHER 25\n{SEED}")
    return live


@pytest.fixture
def reader(graph: Live, patient: RawReader) -> Reader:
    return Reader(patient, Meter())
