"""The outermost frame of the hook dispatcher: one bad event or frame must not end the worker."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """The work's result."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """What the work raised; a value, so that the caller decides what it means."""

    error: Exception


def outcome(work: Callable[[], T]) -> Done[T] | Failed:
    """Run the work and return how it ended."""
    try:
        return Done(work())
    except Exception as error:
        return Failed(error)
