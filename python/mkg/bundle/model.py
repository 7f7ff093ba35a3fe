"""`cypher/model.toml`: the single list of labels, relationship types and properties."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mkg.bundle.files import root
from mkg.errors import BundleError


@dataclass(frozen=True, slots=True)
class Label:
    """A node label, who owns and writes it, and its properties by name."""

    name: str
    owner: str
    writers: tuple[str, ...]
    key: str
    doc: str
    properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class Link:
    """One pair of ends of a relationship type, and who writes it."""

    start: str
    end: str
    writers: tuple[str, ...]
    properties: dict[str, str]


@dataclass(frozen=True, slots=True)
class Model:
    """All nouns."""

    labels: dict[str, Label]
    relationships: dict[str, tuple[Link, ...]]
    machine: frozenset[str] = frozenset()

    def texts(self, label: str) -> tuple[str, ...]:
        """The properties of a label that hold what somebody wrote."""
        found = self.labels[label]
        return self._written({k: v for k, v in found.properties.items() if k != found.key})

    def link_texts(self, label: str) -> dict[str, tuple[str, ...]]:
        """The same of the relationships that begin at a label, by type."""
        found = {
            name: self._written(link.properties)
            for name, links in self.relationships.items()
            for link in links
            if link.start == label
        }
        return {name: texts for name, texts in found.items() if texts}

    def _written(self, properties: dict[str, str]) -> tuple[str, ...]:
        return tuple(
            name
            for name, type_ in properties.items()
            if type_ in {"STRING", "LIST<STRING>"} and name not in self.machine
        )

    @property
    def properties(self) -> frozenset[str]:
        """Every property name of any label or relationship."""
        found = {name for label in self.labels.values() for name in label.properties}
        for links in self.relationships.values():
            found |= {name for link in links for name in link.properties}
        return frozenset(found)


@cache
def load_model() -> Model:
    """The shipped model."""
    return read_model(root("cypher") / "model.toml")


def read_model(path: Path) -> Model:
    """Read a model file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    labels = {
        name: Label(
            name,
            entry["owner"],
            tuple(entry["writers"]),
            entry["key"],
            entry["doc"],
            dict(entry["properties"]),
        )
        for name, entry in data["labels"].items()
    }
    relationships = {
        name: tuple(_link(name, end) for end in ends)
        for name, ends in data["relationships"].items()
    }
    return Model(labels, relationships, frozenset(data.get("machine", ())))


def _link(name: str, end: dict[str, Any]) -> Link:
    if not end.get("writers"):
        raise BundleError(f"model.toml: {name} from {end['from']} to {end['to']} has no writers")
    properties = dict(end.get("properties", {}))
    return Link(end["from"], end["to"], tuple(end["writers"]), properties)
