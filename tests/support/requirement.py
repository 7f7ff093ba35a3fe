"""Ties a test to the requirements it proves; `test_requirements.py` checks both directions."""

from collections.abc import Callable
from typing import TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., object])


def requirement(*ids: str) -> Callable[[F], F]:
    """Mark a test with the ids of the requirements whose loss would make it fail."""
    if not ids:
        raise ValueError("requirement() needs at least one id")
    return pytest.mark.requirement(*ids)
