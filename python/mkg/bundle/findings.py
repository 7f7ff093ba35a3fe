"""What a broken rule looks like."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule."""

    rule: str
    query: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule} {self.query}: {self.message}"
