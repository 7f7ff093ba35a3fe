"""Loads every shipped query once, and fails at load rather than at call."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mkg.bundle.files import root
from mkg.bundle.header import QuerySpec, parse
from mkg.errors import BundleError


@dataclass(frozen=True, slots=True)
class Bundle:
    """All queries by name, and the bundle's own version and floors."""

    version: str
    language: str
    schema: str
    queries: dict[str, QuerySpec]
    server: str = ""


@cache
def load_bundle() -> Bundle:
    """The shipped bundle."""
    return read_bundle(root("cypher"), root("gds"))


def read_bundle(cypher: Path, gds: Path | None = None) -> Bundle:
    """Read a bundle from its folders.

    Raises:
        HeaderError: a header is malformed.
        BundleError: `bundle.toml` is missing a value, or two files give one name.
    """
    meta = tomllib.loads((cypher / "bundle.toml").read_text(encoding="utf-8"))
    try:
        version, language, schema = meta["version"], meta["language"], meta["schema"]
    except KeyError as error:
        raise BundleError(f"cypher/bundle.toml has no {error}") from None
    queries: dict[str, QuerySpec] = {}
    for path, name in _files(cypher, gds):
        if name in queries:
            raise BundleError(f"{path} and {queries[name].path} are both called {name}")
        queries[name] = parse(path, name, language=language)
    return Bundle(version, language, schema, queries, meta.get("floors", {}).get("server", ""))


def _files(cypher: Path, gds: Path | None) -> list[tuple[Path, str]]:
    found = [
        (path, f"{path.parent.name}.{path.stem}") for path in sorted(cypher.glob("*/*.cypher"))
    ]
    if gds is not None and gds.is_dir():
        found += [
            (path, f"gds.{path.parent.name}.{path.stem}") for path in sorted(gds.glob("*/*.cypher"))
        ]
    return found


def spec(name: str) -> QuerySpec:
    """One query of the shipped bundle.

    Raises:
        BundleError: there is no such query.
    """
    try:
        return load_bundle().queries[name]
    except KeyError:
        raise BundleError(f"there is no query {name!r}; see `mkg check`") from None
