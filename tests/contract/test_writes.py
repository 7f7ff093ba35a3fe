"""What every write of the bundle and every vector index keeps to, read from the text."""

import re
from collections.abc import Iterator

import pytest

from mkg.bundle import files, load_bundle
from mkg.bundle.header import QuerySpec, parse_type
from mkg.bundle.rules_text import code_only
from mkg.errors import HeaderError
from mkg.migrate.schema import Declared, declared, declares
from mkg.migrate.source import discover, read
from tests.support.requirement import requirement

WRITES = [query for query in load_bundle().queries.values() if query.mode == "write"]
READS_FIRST = re.compile(r"\b(?:OPTIONAL MATCH|EXISTS|COLLECT|COUNT)\b|\bMATCH \(\w*:")


def _declared() -> Iterator[Declared]:
    for migration in map(read, discover(files.root("migrations"))):
        for statement in migration.statements:
            if declares(statement):
                yield declared(statement, migration.id)


def _locked_first(query: QuerySpec) -> bool:
    """Whether the node that `@locks` names is found by its key and written before anything else."""
    label = re.match(r"\(:(\w+)\)", query.locks)
    assert label is not None
    body = code_only(query.body)
    found = re.search(rf"\b(?:MERGE|MATCH) \((\w+):{label[1]} \{{\w+: [\w.$]+\}}\)", body)
    if found is None or READS_FIRST.search(body[: found.start()]):
        return False
    written = re.search(rf"\bSET {found[1]}\.touched(?:_by)? = ", body)
    if written is None:
        return False
    return READS_FIRST.search(body[found.end() : written.start()]) is None


@requirement("NEO-10", "NEO-60", "NEO-123", "SEC-12")
@pytest.mark.parametrize(
    "query",
    [q for q in WRITES if re.match(r"\(:\w+\), exclusive, before", q.locks)],
    ids=lambda query: query.name,
)
def test_what_reads_before_it_writes_writes_its_lock_node_first(query: QuerySpec) -> None:
    assert _locked_first(query)


@requirement("NEO-60", "NEO-123")
@pytest.mark.parametrize("query", WRITES, ids=lambda query: query.name)
def test_a_merge_stands_on_the_key_of_a_constraint_alone(query: QuerySpec) -> None:
    unique = {(item.labels, item.properties) for item in _declared() if item.type == "UNIQUENESS"}
    for label, keys in re.findall(r"MERGE \(\w*:(\w+) \{([^}]*)\}", code_only(query.body)):
        properties = tuple(part.split(":")[0].strip() for part in keys.split(","))
        assert ((label,), properties) in unique, (label, properties)


@requirement("NEO-123")
@pytest.mark.parametrize("name", ["NODE", "RELATIONSHIP NOT NULL", "PATH", "LIST<NODE>"])
def test_no_column_can_be_declared_a_node(name: str) -> None:
    with pytest.raises(HeaderError):
        parse_type(name, "here")


@requirement("NEO-135", "NEO-112")
def test_a_vector_index_is_unquantised_of_no_fixed_length_and_filters_by_owner_and_model() -> None:
    vectors = [item for item in _declared() if item.type == "VECTOR" and not item.dropped]
    assert len(vectors) >= 2
    for item in vectors:
        assert item.options == {
            "vector.similarity_function": "cosine",
            "vector.quantization.enabled": "false",
        }
        assert item.properties == (
            *("embedding", "owner_key", "live", "injectable", "embedding_model"),
        )
