"""What models cost: reserved before a call, settled after it, and a hard stop a day.

The totals of a day stand on one node, which a reservation locks before it reads: two workers
cannot pass the cap together. What a crash left reserved counts as spent until the day is over.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from mkg.bundle import Runner, cypher

# Dollars a million tokens, for a model whose price nobody knows: rather too much than too little.
UNKNOWN_PRICE = (10.0, 40.0)


@dataclass(frozen=True, slots=True)
class Reserved:
    """Whether there was room, and how much of the day's allowance is taken."""

    granted: bool
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Settled:
    calls: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What one task cost on one day with one model; the day's total has `*` for both."""

    day: str
    task: str
    model: str
    calls: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    reserved: int
    reserved_usd: float


@cypher("ops.model_reserve")
def model_reserve(
    run: Runner,
    *,
    day: str,
    call: str,
    tokens: int,
    usd: float,
    most_tokens: int,
    most_usd: float,
) -> Reserved: ...


@cypher("ops.model_settle")
def model_settle(
    run: Runner,
    *,
    day: str,
    call: str,
    task: str,
    model: str,
    tokens: int,
    usd: float,
    input_tokens: int,
    output_tokens: int,
    cost_usd: float,
    failed: bool,
) -> Settled: ...


@cypher("ops.model_usage")
def model_usage(run: Runner, *, since: str) -> list[Usage]: ...


@dataclass(frozen=True, slots=True)
class Call:
    """One reservation."""

    id: str
    day: str
    tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What a call took."""

    input_tokens: int
    output_tokens: int
    usd: float


class Meter(Protocol):
    """Keeps the account."""

    def reserve(self, call: Call) -> bool: ...

    def settle(self, call: Call, task: str, model: str, spent: Spent, *, failed: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class GraphMeter:
    """The account in the graph; `run` hands out a runner when there is something to write."""

    run: Callable[[], Runner]
    most_tokens: int
    most_usd: float

    def reserve(self, call: Call) -> bool:
        """Take what a call may cost from the day's allowance, if it is still there.

        Raises:
            GraphError: nobody can say whether there is room, so nothing may be spent.
        """
        return model_reserve(
            self.run(),
            day=call.day,
            call=call.id,
            tokens=call.tokens,
            usd=call.usd,
            most_tokens=self.most_tokens,
            most_usd=self.most_usd,
        ).granted

    def settle(self, call: Call, task: str, model: str, spent: Spent, *, failed: bool) -> None:
        """Replace a reservation by what was really taken.

        Raises:
            GraphError: the reservation stays and counts as spent.
        """
        model_settle(
            self.run(),
            day=call.day,
            call=call.id,
            task=task,
            model=model,
            tokens=call.tokens,
            usd=call.usd,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=spent.usd,
            failed=failed,
        )


def today() -> str:
    """The day that the cap counts, by UTC."""
    return dt.datetime.now(dt.UTC).date().isoformat()
