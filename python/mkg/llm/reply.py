"""Reading a reply: the object in it, in the form that was asked for, or why there is none.

A reply is a stranger's text. Fences and prose round the object do no harm, small slips are mended,
and what a model thinks aloud is no answer. Where two objects fit, or one key stands twice, nobody
knows which was meant: that is a problem, and the model is asked once more.
"""

import json
import re
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

Reply = TypeVar("Reply", bound=BaseModel)
LONGEST = 64_000
_PLACES, _MENDED = 50, 4
_NO_OBJECT = "there is no JSON object in it"
_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_OPEN = re.compile(rf"<({_NAMES})>", re.I)
_MARK = re.compile(rf"<({_NAMES})>|</(?:{_NAMES})>|\{{", re.I)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_LAST_COMMA = re.compile(r",(?=\s*[}\]])")


class _Twice(ValueError):
    """A key stands twice in an object."""


def read(text: str, form: type[Reply]) -> Reply | str:
    """The one object in a text that fits; else what is wrong, without a word of the text.

    Keys that nobody asked for are dropped.
    """
    problem = _NO_OBJECT
    fitting: list[Reply] = []
    for value in _objects(text[:LONGEST]):
        if isinstance(value, str):
            problem = value
            continue
        try:
            one = form.model_validate(value)
        except ValidationError as error:
            problem = _misfit(error, form)
        except RecursionError:
            problem = "it nests too deep"
        else:
            if one not in fitting:
                fitting.append(one)
    if len(fitting) > 1:
        return "several objects in it fit, and they differ"
    return fitting[0] if fitting else problem


def _misfit(error: ValidationError, form: type[BaseModel]) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    # A path may hold a key that the model made up: only what the form knows is named.
    known = {*form.model_fields, *_inner_names(form)}
    where = ".".join(str(p) for p in first["loc"] if isinstance(p, int) or p in known)
    return f"{where or 'the object'} does not fit: {first['type']}"


def _objects(text: str) -> list[dict[str, Any] | str]:
    """Objects of the answer, each as it is or as why it cannot be used; none that was thought."""
    found: list[dict[str, Any] | str] = []
    at, mended = 0, 0
    for _ in range(_PLACES):
        mark = _MARK.search(text, at)
        if mark is None:
            break
        if mark[0].startswith("</"):
            # The answer begins here: what stood before was thought aloud without an opening mark.
            found, at = [], mark.end()
            continue
        if _OPEN.fullmatch(mark[0]):
            end = re.compile(rf"</{mark[1]}>", re.I).search(text, mark.end())
            at = len(text) if end is None else end.end()
            continue
        at = mark.start()
        value, end_at = _decoded(text, at)
        if value is None and mended < _MENDED:
            mended += 1
            value, end_at = _mended(text, at)
        if value is None:
            at += 1
            continue
        found.append(value)
        at = end_at
    return found


def _decoded(text: str, at: int) -> tuple[dict[str, Any] | str | None, int]:
    """The object that begins at a place and where it ends; None where there is none."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except _Twice:
        whole = _balanced(text, at)
        return "a key stands twice in it", at + 1 if whole is None else whole[1]
    except (ValueError, RecursionError):
        return None, at + 1
    return cast("dict[str, Any]", _clean(value)), end


def _mended(text: str, at: int) -> tuple[dict[str, Any] | str | None, int]:
    """The same after mending what models get wrong: a comma too many, a broken escape."""
    whole = _balanced(text, at)
    if whole is None:
        return None, at + 1
    value, _ = _decoded(whole[0], 0)
    return (None, at + 1) if value is None else (value, whole[1])


def _balanced(text: str, at: int) -> tuple[str, int] | None:
    """The text of an object up to its closing brace, mended, and where it ends."""
    parts: list[str] = []
    place, depth, quoted = at, 0, False
    while place < len(text):
        c = text[place]
        if quoted:
            if c == "\\":
                escape = _ESCAPE.match(text, place)
                parts.append(escape[0] if escape else "\\\\")
                place += len(escape[0]) if escape else 1
                continue
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "{[":
            depth += 1
        elif c in "}]":
            depth -= 1
        elif c == "," and _LAST_COMMA.match(text, place):
            c = ""
        parts.append(c)
        place += 1
        if depth == 0:
            return "".join(parts), place
    return None


def _clean(value: object) -> object:
    """The same value with texts that can be stored and shown: no half characters, no controls."""
    if isinstance(value, str):
        return _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", value))
    if isinstance(value, list):
        return [_clean(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value)
        return {str(_clean(key)): _clean(one) for key, one in pairs.items()}
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _Twice
    return made


def _no_number(_: str) -> None:
    """NaN and the infinities are no JSON, and no value of anything."""


# Not strict: a raw line break inside a text is a slip that loses nothing.
_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)


def _inner_names(form: type[BaseModel]) -> set[str]:
    schema: dict[str, Any] = form.model_json_schema().get("$defs", {})
    return {name for inner in schema.values() for name in inner.get("properties", {})}
