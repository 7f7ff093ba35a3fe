"""What the settings say of the gate, and the model it may ask."""

from dataclasses import dataclass

from mkg.llm import Model

TOPK, SWEEP = 15, 8


@dataclass(frozen=True, slots=True)
class Rules:
    """How the gate works: off, nothing is approved without a person."""

    on: bool = True
    topk: int = TOPK
    sweep: int = SWEEP
    model: Model | None = None


DEFAULT = Rules()
