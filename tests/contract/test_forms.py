"""A10: forms that the floor does not run, found in the text; each with a neighbour that passes."""

import dataclasses
import re
from pathlib import Path

import pytest

from mkg.bundle import load_bundle
from mkg.bundle.check import offline
from mkg.bundle.rules_forms import forms
from mkg.bundle.rules_text import code_only
from tests.support.requirement import requirement

SEARCH = (
    "MATCH (n:Toy)\n  SEARCH n IN (\n    VECTOR INDEX toys\n    FOR $v\n"
    "    WHERE n.owner_key = $o AND n.size >= 3\n    LIMIT $k\n  ) SCORE AS s\nRETURN n.id AS id"
)
FULLTEXT = (
    "CALL db.index.fulltext.queryNodes('toys', $q, {limit: $k}) YIELD node RETURN node.id AS id"
)
PROJECT = "MATCH (n:Toy) RETURN gds.graph.project($name, n, null) AS g"


def found(body: str) -> list[str]:
    query = dataclasses.replace(load_bundle().queries["ops.ping"], name="toys.list", body=body)
    assert {finding.rule for finding in forms(query)} <= {"A10"}
    return [finding.message for finding in forms(query)]


@requirement("NEO-02", "NEO-121")
@pytest.mark.parametrize(
    ("good", "part", "bad", "told"),
    [
        (SEARCH, "    LIMIT $k\n", "", "has no LIMIT"),
        (SEARCH, "n.owner_key = $o", "n.owner_key IN $o", "filters with IN"),
        (SEARCH, "n.size >= 3", "n.size <> 3", "filters with <>"),
        (SEARCH, "AND n.size", "OR n.size", "filters with OR"),
        (FULLTEXT, ", {limit: $k}", "", "without a limit"),
        (PROJECT, "gds.graph.project", "gds.alpha.graph.project", "a tier that gets removed"),
        ("CALL gds.beta.graphSage.stream($g)", "graphSage", "fastRPExtended", "a tier"),
        ("RETURN apoc.util.sha256([$q]) AS h", "util.sha256", "cypher.run", "runs a text"),
        (FULLTEXT, "db.index.fulltext", "db.index.vector", "write SEARCH"),
    ],
)
def test_a_form_that_does_not_run_on_the_floor_is_found_without_a_server(
    good: str, part: str, bad: str, told: str
) -> None:
    assert found(good) == []
    assert part in good and any(told in line for line in found(good.replace(part, bad)))
    assert found(f"// {good.replace(part, bad)!r}\nRETURN '{part}' AS x") == []


@requirement("NEO-133")
@pytest.mark.parametrize(
    "again",
    [
        "MATCH (n:Other) RETURN n.id AS id",
        "UNWIND $ids AS n RETURN n AS id",
        "MATCH (a)-[n:USES]->(b) RETURN a.id AS id",
        "RETURN [n IN $ids | n] AS id",
    ],
)
def test_a_name_is_not_declared_again_beside_a_filtered_search(again: str) -> None:
    both = f"{SEARCH}\n  UNION ALL\n{again}"
    assert [line for line in found(both) if "declared again" in line] != []
    assert found(both.replace(again, re.sub(r"\bn\b", "m", again))) == []


@requirement("NEO-124")
def test_a_projection_and_a_drop_stand_in_files_of_their_own() -> None:
    assert found(PROJECT) == []
    assert found("CALL gds.graph.drop($name) YIELD graphName RETURN graphName") == []
    both = f"{PROJECT}\nCALL gds.graph.drop($name) YIELD graphName RETURN graphName"
    assert len(found(both)) == 2
    assert len(found(f"CALL gds.pageRank.stream($name) YIELD nodeId {PROJECT}")) == 1


@requirement("NEO-125")
def test_one_file_searches_one_vector_index() -> None:
    other = SEARCH.replace("n", "m").replace("INDEX toys", "INDEX games")
    (line,) = [line for line in found(f"{SEARCH} UNION {other}") if "one file" in line]
    assert line == "games and toys are searched in one file; one index, one file"
    assert [line for line in found(f"{SEARCH} UNION {SEARCH}") if "one file" in line] == []


@requirement("NEO-116", "NEO-112")
def test_every_search_of_the_memory_is_held_to_its_owner_and_its_model() -> None:
    looked = 0
    for name, query in load_bundle().queries.items():
        # What looks for secrets, and what proves that a text is gone, looks everywhere.
        if name.startswith(("ops.", "forget.")):
            continue
        body = code_only(query.body)
        for inside in re.findall(r"VECTOR INDEX \w+(.*?)\) SCORE", body, re.DOTALL):
            looked += 1
            assert re.search(r"owner_key = (?:\$|row\.|piece\.)owner_key", inside), name
            assert "embedding_model = $embedding_model" in inside, name
        for after in re.findall(r"fulltext\.queryNodes(.*?)RETURN", body, re.DOTALL):
            looked += 1
            assert re.search(r"owner_key = (?:\$|row\.|piece\.)owner_key", after), name
    assert looked >= 6


def test_a10_is_one_of_the_offline_rules(tmp_path: Path) -> None:
    bundle = load_bundle()
    bad = dataclasses.replace(bundle.queries["ops.ping"], body="RETURN apoc.cypher.run($q) AS x")
    broken = dataclasses.replace(bundle, queries={**bundle.queries, "ops.ping": bad})
    assert "A10" in {finding.rule for finding in offline(broken, tmp_path)}
