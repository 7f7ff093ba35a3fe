"""`neo4j_get_schema`: the nouns of the graph, from the model that the bundle is checked against."""

from dataclasses import dataclass

from pydantic import Field

from mkg.bundle import Runner, cypher
from mkg.bundle.model import load_model
from mkg.features.tool import Answer, Asked, Call, Part, Tool


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a label or a relationship type occurs."""

    kind: str
    name: str
    total: int


@cypher("ops.schema")
def schema(run: Runner, *, labels: list[str], types: list[str]) -> list[Counted]: ...


class SchemaAsked(Asked):
    pass


class PropertyPart(Part):
    name: str = Field(default="", description="Name of the property.")
    type: str = Field(default="", description="Its Cypher type.")


class LabelPart(Part):
    label: str = Field(default="", description="The node label.")
    doc: str = Field(default="", description="What such a node stands for.")
    key: str = Field(default="", description="The property that identifies it.")
    count: int = Field(default=0, description="How many there are.")
    properties: list[PropertyPart] = Field(default=[], description="All properties it may have.")


class EndsPart(Part):
    from_label: str = Field(default="", description="Label of the start node.")
    to_label: str = Field(default="", description="Label of the end node.")
    properties: list[PropertyPart] = Field(default=[], description="Properties between these ends.")


class TypePart(Part):
    type: str = Field(default="", description="The relationship type.")
    count: int = Field(default=0, description="How many there are.")
    ends: list[EndsPart] = Field(default=[], description="What it connects.")


class SchemaAnswer(Answer):
    labels: list[LabelPart] = Field(default=[], description="Node labels.")
    relationships: list[TypePart] = Field(default=[], description="Relationship types.")
    note: str = Field(default="", description="How to read it.")


def neo4j_get_schema(call: Call, asked: SchemaAsked) -> SchemaAnswer:
    """Labels, properties and relationship types with their present counts."""
    model = load_model()
    counts = {
        (row.kind, row.name): row.total
        for row in schema(call.run, labels=sorted(model.labels), types=sorted(model.relationships))
    }
    return SchemaAnswer(
        labels=[
            LabelPart(
                label=label.name,
                doc=label.doc,
                key=label.key,
                count=counts.get(("label", label.name), 0),
                properties=_properties(label.properties),
            )
            for label in model.labels.values()
        ],
        relationships=[
            TypePart(
                type=name,
                count=counts.get(("type", name), 0),
                ends=[
                    EndsPart(
                        from_label=link.start,
                        to_label=link.end,
                        properties=_properties(link.properties),
                    )
                    for link in links
                ],
            )
            for name, links in model.relationships.items()
        ],
        note="The memory's own model; other data in the same database is not listed.",
    )


def _properties(found: dict[str, str]) -> list[PropertyPart]:
    return [PropertyPart(name=name, type=kind) for name, kind in found.items()]


TOOL = Tool(
    "neo4j_get_schema",
    "Show the graph's schema",
    "List the node labels, their properties and keys, and the relationship types of the memory's "
    "graph, with the number of each. Takes no arguments.",
    SchemaAsked,
    SchemaAnswer,
    neo4j_get_schema,
    ("ops.schema",),
)
