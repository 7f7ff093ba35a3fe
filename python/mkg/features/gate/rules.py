"""What the settings say of the gate, and the model it may ask."""

from dataclasses import dataclass

from mkg.llm import Model
from mkg.settings import Settings

TOPK, SWEEP = 15, 8


@dataclass(frozen=True, slots=True)
class Rules:
    """How the gate works: off, nothing is approved without a person."""

    on: bool = True
    topk: int = TOPK
    sweep: int = SWEEP
    model: Model | None = None


DEFAULT = Rules()


def chosen(settings: Settings) -> Rules:
    """How the settings want the gate, without a model."""
    return Rules(
        on=settings.consistency_gate,
        topk=settings.consistency_topk,
        sweep=settings.consistency_sweep_limit,
    )
