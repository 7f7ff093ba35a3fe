"""A release's queries on the schema of the next one: a change that breaks them is found first."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg.bundle.check import outlived
from mkg.bundle.loader import read_bundle
from mkg.cli import app
from mkg.cli.contract import facts
from tests.conftest import Live

PREVIOUS = Path(__file__).parent / "previous" / "cypher"
_VECTOR = (
    "CREATE VECTOR INDEX contract_toy_vector IF NOT EXISTS FOR (n:ContractToy) ON n.embedding "
    "OPTIONS {indexConfig: {`vector.similarity_function`: 'cosine'}}"
)
_DROP = "DROP INDEX {} IF EXISTS"


@pytest.fixture
def toys(live: Live) -> Iterator[Live]:
    """The schema that the previous release was made for; gone afterwards."""
    live.run.execute(_VECTOR)
    yield live
    for name in ("contract_toy_vector", "contract_toy_size"):
        live.run.execute(_DROP.format(name))


def test_a_schema_that_only_grows_serves_the_release_before(toys: Live) -> None:
    toys.run.execute("CREATE INDEX contract_toy_size FOR (n:ContractToy) ON (n.size)")
    assert outlived(read_bundle(PREVIOUS), toys.run, facts(toys.run)) == []


def test_a_schema_that_takes_something_away_is_found_with_the_query_it_breaks(
    toys: Live, own_home: Path
) -> None:
    toys.run.execute(_DROP.format("contract_toy_vector"))
    (found,) = outlived(read_bundle(PREVIOUS), toys.run, facts(toys.run))
    assert (found.rule, found.query) == ("B1", "toys.near")
    toys.server.write_user_file(own_home)
    done = CliRunner().invoke(app, ["check", "--previous", str(PREVIOUS), "--json"])
    assert done.exit_code == 1
    assert [row["query"] for row in json.loads(done.stdout)] == ["toys.near"]
