"""The lists that the gate decides by, read from the text files beside this one."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_FILES = ("words", "functions", "procedures", "operators")


@dataclass(frozen=True, slots=True)
class Policy:
    """What is allowed; `fingerprint` changes with every list."""

    first: frozenset[str]
    refused: frozenset[str]
    before_bracket: frozenset[str]
    functions: frozenset[str]
    procedures: frozenset[str]
    operators: frozenset[str]
    fingerprint: str


@lru_cache(maxsize=1)
def load_policy() -> Policy:
    """The shipped lists."""
    texts = {
        name: files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in _FILES
    }
    words = _sections(texts["words"])
    return Policy(
        first=words["first"],
        refused=words["refused"],
        before_bracket=words["before-bracket"],
        functions=frozenset(name.lower() for name in _names(texts["functions"])),
        procedures=frozenset(_names(texts["procedures"])),
        operators=frozenset(_names(texts["operators"])),
        fingerprint=hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()[:16],
    )


def _names(text: str) -> list[str]:
    return [name for line in text.splitlines() if not line.startswith("#") for name in line.split()]


def _sections(text: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    section: set[str] = set()
    for line in text.splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[] "), set())
        elif not line.startswith("#"):
            section.update(word.casefold() for word in line.split())
    return {name: frozenset(words) for name, words in found.items()}
