"""The query contract: one list of rules, for `mkg check` and for the contract tests.

Source: style 4.3. Every query of `cypher/` and `gds/` is under it.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mkg.bundle import catalog, language
from mkg.bundle.files import root
from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.language import Analysis
from mkg.bundle.loader import Bundle
from mkg.bundle.lock import locking
from mkg.bundle.model import Model
from mkg.bundle.rules_forms import forms
from mkg.bundle.rules_language import layout, types, words, writers
from mkg.bundle.rules_server import Facts, explained
from mkg.bundle.rules_text import bindings, cypher_in_python, parameters

if TYPE_CHECKING:
    from mkg.db import Neo4jRunner

LANGUAGE_RULES: dict[str, Callable[[QuerySpec, Analysis, Model], Iterator[Finding]]] = {
    "A3": words,
    "A4": layout,
    "A6": types,
    "A8": writers,
}


def offline(bundle: Bundle, sources: Path, lock: Path | None = None) -> list[Finding]:
    """Findings of the files alone; A1 is the loading itself, which raises HeaderError.

    Args:
        sources: the folder of Python packages that A9 reads.
        lock: the lock of the bundle; the shipped one when not given.
    """
    found = [finding for query in bundle.queries.values() for finding in parameters(query)]
    found += [finding for query in bundle.queries.values() for finding in forms(query)]
    found += bindings(bundle)
    found += locking(bundle, lock or lock_path())
    found += [f for path in sorted(sources.rglob("*.py")) for f in cypher_in_python(path, sources)]
    return found


def lock_path() -> Path:
    """The shipped lock."""
    return root("cypher") / "bundle.lock"


def analysed(bundle: Bundle, model: Model) -> dict[str, Analysis]:
    """What the language package says of a bundle's queries.

    Raises:
        LanguageAway: it cannot be asked here.
    """
    stored = catalog.read(language.stored_catalog())
    return language.analyse(bundle.queries.values(), model, stored)


def by_language(bundle: Bundle, analyses: Mapping[str, Analysis], model: Model) -> list[Finding]:
    """Findings of the rules that need the language package."""
    return [
        finding
        for rule in LANGUAGE_RULES.values()
        for name, query in bundle.queries.items()
        for finding in rule(query, analyses[name], model)
    ]


def online(
    bundle: Bundle, run: "Neo4jRunner", facts: Facts, unstored: Model | None = None
) -> list[Finding]:
    """Every finding of a server's EXPLAIN; arguments as for `explained`."""
    return [
        finding
        for query in bundle.queries.values()
        for finding in explained(query, run, facts, unstored)
    ]


def outlived(previous: Bundle, run: "Neo4jRunner", facts: Facts) -> list[Finding]:
    """What a changed schema breaks for the bundle of the release before: B1, B2 and B3.

    How well it would run is no matter here, only whether a program that was not updated yet still
    gets the rows it was promised.
    """
    return [f for f in online(previous, run, facts) if f.rule in ("B1", "B2", "B3")]
