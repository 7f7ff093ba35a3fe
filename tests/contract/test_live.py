"""B1 to B7 and the row types, for every shipped query and for made-up ones, on a real server."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg.bundle import catalog, header, language, load_bundle
from mkg.bundle.catalog import Catalog
from mkg.bundle.header import QuerySpec, parse_type
from mkg.bundle.model import load_model
from mkg.bundle.rules_server import Facts, called, explained, indexed
from mkg.bundle.sample import sample
from mkg.cli.contract import facts
from mkg.db import Explained, Neo4jRunner
from tests.conftest import Server, wipe
from tests.support.requirement import requirement
from tests.support.row_types import PARAMETERS, ROWLESS, fits, row_types, sow, sown

QUERIES = sorted(load_bundle().queries)
FAULTS = Path(__file__).parent / "faults"
MADE_UP = sorted(path.stem for path in (FAULTS / "bad").glob("b*.cypher"))


@pytest.fixture(scope="module")
def planner(server: Server) -> Iterator[Neo4jRunner]:
    """A runner for EXPLAIN, on a database that has every noun of the model."""
    with server.runner(notifications=True) as run:
        wipe(run)
        sow(run)
        yield run


@pytest.fixture(scope="module")
def has(planner: Neo4jRunner) -> Facts:
    return facts(planner)


@requirement("NEO-08", "NEO-120", "NEO-115")
@pytest.mark.parametrize("name", QUERIES)
def test_the_server_accepts_the_query_as_its_header_says(
    planner: Neo4jRunner, has: Facts, name: str
) -> None:
    assert list(explained(load_bundle().queries[name], planner, has)) == []


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_have_the_types_that_the_header_says(planner: Neo4jRunner, name: str) -> None:
    assert row_types(load_bundle().queries[name], planner) == []


@pytest.mark.parametrize("name", QUERIES)
def test_the_file_runs_as_it_stands_in_a_query_tool(planner: Neo4jRunner, name: str) -> None:
    # A query tool sends the file's own text: the header's comments and no language selector.
    query = load_bundle().queries[name]
    plan = planner.explain(query.path.read_text(encoding="utf-8"), sample(query))
    if query.card != "none":
        assert plan.columns == tuple(column.name for column in query.returns)


def _made_up(kind: str, name: str) -> QuerySpec:
    return header.parse(FAULTS / kind / f"{name}.cypher", f"{kind}.{name}")


@requirement("NEO-50", "NEO-122")
@pytest.mark.parametrize("name", MADE_UP)
def test_each_rule_of_the_server_catches_its_fault_and_passes_its_neighbour(
    planner: Neo4jRunner, has: Facts, name: str
) -> None:
    rule = name.split("_")[0].upper()
    bad = list(explained(_made_up("bad", name), planner, has))
    assert {f.rule for f in bad} == {rule}, bad
    assert list(explained(_made_up("good", name), planner, has)) == []


def test_b4_excuses_a_noun_of_the_model_that_a_young_store_does_not_hold(
    planner: Neo4jRunner, has: Facts
) -> None:
    misspelt = _made_up("bad", "b4_unknown")
    assert list(explained(misspelt, planner, has, load_model())) != []
    model = load_model()
    label = dataclasses.replace(model.labels["Session"], name="Sesion")
    named = dataclasses.replace(model, labels={**model.labels, "Sesion": label})
    assert list(explained(misspelt, planner, has, named)) == []


def test_b6_refuses_an_index_that_is_not_online(has: Facts) -> None:
    query = load_bundle().queries["timeline.scope"]
    plan = Explained("r", (), (), (("NodeUniqueIndexSeek", "UNIQUE s:Session(session_id)"),))
    assert list(indexed(query, plan, has)) == []
    late = dataclasses.replace(has.indexes["session_id"], state="POPULATING")
    (found,) = indexed(query, plan, Facts(has.catalog, {**has.indexes, "session_id": late}))
    assert found.message == "@index session_id is populating"


def test_b7_refuses_a_procedure_that_writes_in_a_query_that_reads(has: Facts) -> None:
    query = load_bundle().queries["ops.prove_fulltext"]
    assert list(called(query, has)) == []
    (name,) = query.uses
    changed = {**has.catalog.procedures, name: {**has.catalog.procedures[name], "mode": "WRITE"}}
    (found,) = called(query, Facts(Catalog(changed, has.catalog.functions), has.indexes))
    assert found.rule == "B7" and "is a WRITE procedure" in found.message
    write = dataclasses.replace(query, mode="write")
    assert list(called(write, Facts(Catalog(changed, has.catalog.functions), has.indexes))) == []


def test_the_stored_catalog_tells_of_this_server_what_the_bundle_calls(has: Facts) -> None:
    stored = catalog.read(language.stored_catalog())
    text = "\n".join(query.body for query in load_bundle().queries.values())
    assert catalog.called(stored, text) == catalog.called(has.catalog, text)
    assert catalog.read_text(catalog.text(has.catalog)) == has.catalog


# --- row types and the seed ---------------------------------------------------------------------


def test_the_row_types_catch_a_wrong_column_and_a_query_without_rows(
    planner: Neo4jRunner,
) -> None:
    good = load_bundle().queries["timeline.scope"]
    epoch = dataclasses.replace(good.returns[2], type=parse_type("STRING NOT NULL", "here"))
    wrong = dataclasses.replace(good, returns=(*good.returns[:2], epoch))
    (found,) = row_types(wrong, planner)
    assert found.message == "epoch is INTEGER NOT NULL, declared STRING NOT NULL"
    none = dataclasses.replace(good, body=good.body.replace("$session_id", "'nobody'"), params=())
    assert [f.message for f in row_types(none, planner)] == [
        "no row on the seed graph; see parameters.toml"
    ]


@pytest.mark.parametrize(
    ("declared", "actual", "good"),
    [
        ("STRING", "NULL", True),
        ("STRING NOT NULL", "NULL", False),
        ("STRING", "STRING NOT NULL", True),
        ("FLOAT", "INTEGER NOT NULL", False),
        ("ANY", "NODE NOT NULL", True),
        ("LIST<STRING NOT NULL>", "LIST<STRING NOT NULL> NOT NULL", True),
        ("LIST<STRING NOT NULL>", "LIST<STRING> NOT NULL", False),
        ("LIST<STRING>", "LIST<STRING> NOT NULL", True),
        ("LIST<STRING NOT NULL>", "LIST<NOTHING> NOT NULL", True),
        ("LIST<MAP>", "LIST<STRING NOT NULL> NOT NULL", False),
        ("LIST<STRING>", "STRING NOT NULL", False),
    ],
)
def test_a_declared_type_admits_what_it_says(declared: str, actual: str, good: bool) -> None:
    assert fits(parse_type(declared, "here"), actual) is good


def test_the_seed_uses_every_noun_of_the_model(planner: Neo4jRunner) -> None:
    nodes = {(str(r["label"]), str(r["key"])) for r in sown(planner, "nodes")}
    links = {
        (str(r["type"]), str(r["start"]), str(r["end"]), str(r["key"]))
        for r in sown(planner, "links")
    }
    model = load_model()
    wanted = {(label.name, key) for label in model.labels.values() for key in label.properties}
    assert wanted - nodes == set()
    pairs = {
        (name, link.start, link.end, key)
        for name, ends in model.relationships.items()
        for link in ends
        for key in ["", *link.properties]
    }
    assert pairs - links == set()
    assert {label for label, _ in nodes} - {"MkgTestStore"} == set(model.labels)


def test_parameters_stand_there_for_queries_and_parameters_that_exist() -> None:
    for name, values in PARAMETERS.items():
        assert set(values) <= {p.name for p in load_bundle().queries[name].params}
    assert set(ROWLESS) <= set(load_bundle().queries)
