"""Asking a model: what a caller hands over and what it gets back.

A caller names its task and the form of the reply; which model answers, what it may cost and how
often it is tried again is decided here. A reply that does not fit its form is no reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

Reply = TypeVar("Reply", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Replied(Generic[Reply]):
    """A reply in its form, which model gave it and by which prompt (`name@version`)."""

    value: Reply
    model: str
    prompt: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """No model was asked: none is set up, the cap of the day is reached, or it is too early."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A model was asked in vain; what depends on its reply waits.

    `reached` tells that a model answered, only not in a form of use: more patience will not mend
    that. `cut` tells that there was too much to read or to say: half of it may fit.
    """

    reason: str
    reached: bool = True
    cut: bool = False


class Model(Protocol):
    """Whoever answers; `task` also names the prompt file, `data` is fenced into it as data.

    `available` tells why nobody would be asked, or None.
    """

    def ask(
        self,
        task: str,
        data: Mapping[str, object],
        reply: type[Reply],
        *,
        client: str | None = None,
    ) -> Replied[Reply] | Skipped | Failed: ...

    def available(self, task: str, *, client: str | None = None) -> str | None: ...
