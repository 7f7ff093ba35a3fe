"""B1 to B3 for every shipped query, and every file as it stands in a plain query tool."""

from collections.abc import Iterator

import pytest

from mkg.bundle import header, load_bundle
from mkg.bundle.rules_server import explained
from mkg.bundle.sample import sample
from mkg.db import Neo4jRunner
from tests.conftest import Live, Server
from tests.support.requirement import requirement

QUERIES = sorted(load_bundle().queries)


@pytest.fixture(scope="module")
def planner(server: Server) -> Iterator[Neo4jRunner]:
    """A runner for EXPLAIN alone: nothing is written, so nothing has to be wiped."""
    with server.runner() as run:
        yield run


@requirement("NEO-08", "NEO-120")
@pytest.mark.parametrize("name", QUERIES)
def test_the_server_accepts_the_query_as_its_header_says(planner: Neo4jRunner, name: str) -> None:
    assert list(explained(load_bundle().queries[name], planner)) == []


@pytest.mark.parametrize("name", QUERIES)
def test_the_file_runs_as_it_stands_in_a_query_tool(planner: Neo4jRunner, name: str) -> None:
    # A query tool sends the file's own text: the header's comments and no language selector.
    query = load_bundle().queries[name]
    plan = planner.explain(query.path.read_text(encoding="utf-8"), sample(query))
    if query.card != "none":
        assert plan.columns == tuple(column.name for column in query.returns)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (("RETURN session.project_id", "RETRUN session.project_id"), "B1"),
        (("MATCH (session:Session", "MERGE (session:Session"), "B2"),
        (("AS epoch", "AS age"), "B3"),
    ],
)
def test_each_live_rule_catches_its_fault(live: Live, change: tuple[str, str], rule: str) -> None:
    good = load_bundle().queries["timeline.scope"]
    assert change[0] in good.body
    import dataclasses

    broken = dataclasses.replace(good, body=good.body.replace(*change))
    assert [f.rule for f in explained(broken, live.run)] == [rule]
    assert isinstance(good, header.QuerySpec)
