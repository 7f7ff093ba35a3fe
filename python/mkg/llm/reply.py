"""Reading a reply: the object in it, in the form that was asked for, or why there is none."""

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Reply = TypeVar("Reply", bound=BaseModel)
LONGEST = 64_000
_PLACES = 50
_DECODER = json.JSONDecoder()


def read(text: str, form: type[Reply]) -> Reply | str:
    """The first object in a text that fits; else what is wrong, without a word of the text.

    Fences and prose round the object do no harm, keys that nobody asked for are dropped.
    """
    problem = "there is no JSON object in it"
    for value in _objects(text[:LONGEST]):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            # A path may hold a key that the model made up: only what the form knows is named.
            known = {*form.model_fields, *_inner_names(form)}
            where = ".".join(str(p) for p in first["loc"] if isinstance(p, int) or p in known)
            problem = f"{where or 'the object'} does not fit: {first['type']}"
        except RecursionError:
            problem = "it nests too deep"
    return problem


def _objects(text: str) -> Iterator[Any]:
    at = text.find("{")
    for _ in range(_PLACES):
        if at < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _inner_names(form: type[BaseModel]) -> set[str]:
    schema: dict[str, Any] = form.model_json_schema().get("$defs", {})
    return {name for inner in schema.values() for name in inner.get("properties", {})}
