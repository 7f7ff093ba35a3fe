"""Prompts are versioned files; what is put into them is data, fenced and filled in once.

A file `prompts/<task>.md` begins with `name:` and `version:` lines, then an empty line, then the
words for the model; a line `=== data` divides what the model is told from what it is given.
`{{nonce}}`, `{{schema}}` and `{{data}}` are filled in one pass, so that a text which holds such a
mark stays as it is. Each value is JSON between two lines that carry a nonce made for this call.
"""

import json
import re
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from mkg.errors import BundleError
from mkg_hooks.redact import redact

FOLDER = Path(__file__).parent.parent / "prompts"
_MARK = re.compile(r"\{\{(\w+)\}\}")
_TASK = re.compile(r"[a-z][a-z_]*")
_DIVIDER = "=== data"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One file: how it is called on record, and its two parts."""

    name: str
    version: int
    told: str
    given: str

    @property
    def label(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Filled:
    """What is sent: words of ours, then the data."""

    label: str
    system: str
    user: str


@cache
def load(task: str) -> Prompt:
    """The prompt of a task.

    Raises:
        BundleError: there is none, or its header is not in order.
    """
    path = FOLDER / f"{task}.md"
    if not _TASK.fullmatch(task) or not path.is_file():
        raise BundleError(f"there is no prompt for the task {task[:40]!r}")
    return parsed(path.read_text(encoding="utf-8"), path.name)


def parsed(text: str, where: str) -> Prompt:
    """A prompt from the text of its file.

    Raises:
        BundleError: the header is not in order.
    """
    head, _, body = text.partition("\n\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    told, divider, given = body.partition(f"\n{_DIVIDER}\n")
    if facts.get("name") != where.removesuffix(".md") or not facts.get("version", "").isdigit():
        raise BundleError(f"prompts/{where} needs `name: {where[:-3]}` and `version: <number>`")
    if not divider or "{{data}}" not in given:
        raise BundleError(f"prompts/{where} needs a line `{_DIVIDER}` with {{{{data}}}} below it")
    return Prompt(facts["name"], int(facts["version"]), told.strip(), given.strip())


def fill(prompt: Prompt, data: Mapping[str, object], schema: Mapping[str, object]) -> Filled:
    """The prompt with its data, secrets masked, fenced by a nonce that stands in none of it."""
    encoded = {name: encode(masked(value)) for name, value in data.items()}
    nonce = secrets.token_hex(12)
    while any(nonce in text for text in encoded.values()):
        nonce = secrets.token_hex(12)
    blocks = [
        f"<data-{nonce} name={json.dumps(name)}>\n{text}\n</data-{nonce}>"
        for name, text in encoded.items()
    ]
    values = {"nonce": nonce, "schema": json.dumps(schema), "data": "\n".join(blocks)}

    def put(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise BundleError(f"prompts/{prompt.name}.md has an unknown mark {match[0]}")
        return values[match[1]]

    return Filled(prompt.label, _MARK.sub(put, prompt.told), _MARK.sub(put, prompt.given))


def encode(value: object) -> str:
    """A value as JSON, one item of a list a line, that can neither end its fence nor hide text."""
    if isinstance(value, list | tuple):
        rows = cast("list[object]", value)
        return "\n".join(encode(row) for row in rows) if rows else "[]"
    return "".join(_escaped(c) for c in json.dumps(value, ensure_ascii=False))


def masked(value: object) -> object:
    """The same value with every credential in its texts masked."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, object]", value)
        return {str(key): masked(inner) for key, inner in pairs.items()}
    if isinstance(value, list | tuple):
        rows = cast("list[object]", value)
        return [masked(inner) for inner in rows]
    return value


def _escaped(c: str) -> str:
    if c in "<>&" or unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"}:
        units = c.encode("utf-16-be", "surrogatepass")
        return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
    return c
