"""A3, A4, A6 and A8: what Neo4j's language package says of the shipped queries and of made-up ones.

A file of `faults/bad/` breaks the rule that its name begins with, and no other; the file of the
same name in `faults/good/` is its neighbour that breaks none.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mkg.bundle import catalog, header, language, load_bundle
from mkg.bundle.check import by_language
from mkg.bundle.header import QuerySpec
from mkg.bundle.language import Analysis, LanguageAway
from mkg.bundle.loader import Bundle
from mkg.bundle.model import load_model, read_model
from tests.support.requirement import requirement

FAULTS = Path(__file__).parent / "faults"
NAMES = sorted(path.stem for path in (FAULTS / "bad").glob("a*.cypher"))


def _read(kind: str) -> dict[str, QuerySpec]:
    paths = sorted((FAULTS / kind).glob("a*.cypher"))
    return {f"{kind}.{p.stem}": header.parse(p, f"{kind}.{p.stem}") for p in paths}


def _of(queries: dict[str, QuerySpec]) -> Bundle:
    return Bundle("0.1.0", "CYPHER 25", "V0001__x", queries)


@pytest.fixture(scope="session")
def asked() -> Callable[..., dict[str, Analysis]]:
    """Asks the package; where it is not, the test is skipped aloud, and under CI it fails."""
    stored = catalog.read(language.stored_catalog())

    def ask(queries: dict[str, QuerySpec], model: Path | None = None) -> dict[str, Analysis]:
        nouns = load_model() if model is None else read_model(model)
        try:
            return language.analyse(queries.values(), nouns, stored)
        except LanguageAway as away:
            if os.environ.get("CI") == "true":
                pytest.fail(f"the language package must be there under CI: {away}")
            pytest.skip(str(away))

    return ask


@pytest.fixture(scope="session")
def made_up(asked: Callable[..., dict[str, Analysis]]) -> list[str]:
    """Every finding on the made-up queries, as `rule name`."""
    queries = _read("bad") | _read("good")
    found = by_language(
        _of(queries), asked(queries, FAULTS / "model.toml"), read_model(FAULTS / "model.toml")
    )
    return sorted({f"{f.rule} {f.query}" for f in found})


@requirement("NEO-08")
def test_the_language_package_finds_nothing_in_the_shipped_queries(
    asked: Callable[..., dict[str, Analysis]],
) -> None:
    bundle = load_bundle()
    assert by_language(bundle, asked(bundle.queries), load_model()) == []


@pytest.mark.parametrize("name", NAMES)
def test_each_rule_of_the_language_package_catches_its_fault_and_passes_its_neighbour(
    made_up: list[str], name: str
) -> None:
    rule = name.split("_")[0].upper()
    assert [line for line in made_up if line.endswith(f".{name}")] == [f"{rule} bad.{name}"]


def test_without_the_package_the_reason_is_told_and_nothing_counts_as_checked(
    tmp_path: Path,
) -> None:
    with pytest.raises(LanguageAway, match="from a checkout only"):
        language.analyse([], load_model(), catalog.Catalog({}, {}), room=tmp_path)
