"""Schemas that every client accepts (clients.md 7.4, CL-38).

No references, no type lists, no composition at the root, every object closed: clients have dropped
a tool, or all tools of a server, over each of these.
"""

from typing import Any, Literal, cast

from pydantic import BaseModel

Schema = dict[str, Any]
_KEPT = frozenset(
    {"type", "properties", "required", "items", "description", "enum", "anyOf", "default"}
)


def portable(model: type[BaseModel], use: Literal["question", "answer"]) -> Schema:
    """The schema of a model, written out in full."""
    mode = "validation" if use == "question" else "serialization"
    schema = model.model_json_schema(mode=mode)
    definitions = cast("dict[str, Schema]", schema.pop("$defs", {}))
    made = _written_out(schema, definitions, defaults=use == "question")
    if use == "answer":
        # An answer is either a success or an error, and a client may check both against this.
        made.pop("required", None)
    return made


def _written_out(schema: Schema, definitions: dict[str, Schema], *, defaults: bool) -> Schema:
    if "$ref" in schema:
        target = definitions[str(schema["$ref"]).removeprefix("#/$defs/")]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    made: Schema = {}
    for key, value in schema.items():
        if key not in _KEPT or (key == "default" and not defaults):
            continue
        if key == "properties":
            made[key] = {
                name: _written_out(each, definitions, defaults=defaults)
                for name, each in cast("dict[str, Schema]", value).items()
            }
        elif key == "items":
            made[key] = _written_out(value, definitions, defaults=defaults)
        elif key == "anyOf":
            made[key] = [_written_out(each, definitions, defaults=defaults) for each in value]
        else:
            made[key] = value
    if made.get("type") == "object":
        made.setdefault("properties", {})
        made["additionalProperties"] = False
    return made
