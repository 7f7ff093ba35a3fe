"""Finds the shipped folders: package data first, the checkout otherwise."""

from functools import cache
from pathlib import Path
from typing import Literal

Kind = Literal["cypher", "gds", "migrations", "hooks", "plugin"]


@cache
def root(kind: Kind) -> Path:
    """The folder of one kind of shipped file."""
    package = Path(__file__).resolve().parents[1]
    packed = package / "_data" / kind
    if packed.is_dir():
        return packed
    return package.parents[1] / kind
