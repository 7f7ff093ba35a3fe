"""What a fault did to the events: counted the same way for every fault, kept, shown in README.

`acknowledged` events were told to be kept; each must be stored once. An event whose writer was
killed has no promise: it may be there or not. `blocked` prompts did not end with exit code 0 while
a client would have waited.
"""

import json
import os
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- generated:faults -->", "<!-- /generated:faults -->"
KEEP = "MKG_KEEP_FAULTS"
# Read here: a test runs without the variables of whoever started it.
PART = float(os.environ.get("MKG_FAULTS_PART", "1"))
HEADER = (
    "| fault | trials | acknowledged | lost | duplicated | blocked prompts | worst delay |\n"
    "|---|---|---|---|---|---|---|"
)


def times(form: str, short: int, long: int) -> int:
    """How often a fault is tried; the long form can be run in part, as the table then shows."""
    if form == "short":
        return short
    return max(short, round(long * PART))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One line of the table; `worst_s` is None where no hook was waited for."""

    fault: str
    what: str
    form: str
    trials: int
    acknowledged: int
    lost: int
    duplicated: int
    blocked: int = 0
    worst_s: float | None = None

    @property
    def held(self) -> bool:
        """Whether anything was acknowledged, and nothing of it lost, doubled or waited for."""
        return self.acknowledged > 0 and not (self.lost or self.duplicated or self.blocked)


def counted(
    fault: str,
    what: str,
    form: str,
    *,
    trials: int,
    acknowledged: Iterable[str],
    stored: Iterable[str],
    blocked: int = 0,
    worst_s: float | None = None,
) -> Outcome:
    """Compare what was promised with what is there, key by key (CHK-01, CHK-02)."""
    told, there = set(acknowledged), Counter(stored)
    return Outcome(
        fault,
        what,
        form,
        trials,
        len(told),
        len(told - set(there)),
        sum(count - 1 for count in there.values()),
        blocked,
        None if worst_s is None else round(worst_s, 3),
    )


def together(earlier: Outcome | None, later: Outcome) -> Outcome:
    """One line for a fault that is tried in several ways; the long form stands alone."""
    if earlier is None or earlier.form != later.form:
        return later
    waited = [one.worst_s for one in (earlier, later) if one.worst_s is not None]
    return replace(
        later,
        trials=earlier.trials + later.trials,
        acknowledged=earlier.acknowledged + later.acknowledged,
        lost=earlier.lost + later.lost,
        duplicated=earlier.duplicated + later.duplicated,
        blocked=earlier.blocked + later.blocked,
        worst_s=max(waited, default=None),
    )


def inverted(stored: Sequence[str]) -> list[str]:
    """Keys that do not stand in the order of their writer, `writer-number` (CHK-04)."""
    last: dict[str, int] = {}
    wrong: list[str] = []
    for key in stored:
        writer, _, number = key.rpartition("-")
        if last.get(writer, -1) >= int(number):
            wrong.append(key)
        last[writer] = int(number)
    return wrong


def save(outcome: Outcome) -> Path:
    """Keep an outcome under its fault."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{outcome.fault}.json"
    kept = {**asdict(outcome), "machine": f"{os.cpu_count()} cores, {platform.system()}"}
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return path


def load_all() -> list[Outcome]:
    """Every kept outcome, by fault."""
    found: list[dict[str, Any]] = [
        json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob("*.json")
    ]
    for one in found:
        one.pop("machine", None)
    return ordered(Outcome(**one) for one in found)


def ordered(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """By the fault's number."""
    return sorted(outcomes, key=lambda outcome: int(outcome.fault[1:]))


def table(outcomes: Iterable[Outcome]) -> str:
    """The outcomes as lines of Markdown."""
    lines = [HEADER]
    for one in ordered(outcomes):
        worst = "" if one.worst_s is None else f"{one.worst_s:.2f} s"
        lines.append(
            f"| {one.fault} {one.what} | {one.trials} | {one.acknowledged} | {one.lost} "
            f"| {one.duplicated} | {one.blocked} | {worst} |"
        )
    return "\n".join(lines)


def with_table(readme: str, outcomes: Sequence[Outcome]) -> str:
    """README with its table renewed. Raises ValueError when the markers are missing."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise ValueError(f"README.md needs the line {BEGIN} and the line {END}, once each")
    head, rest = readme.split(BEGIN)
    return f"{head}{BEGIN}\n{table(outcomes)}\n{END}" + rest.split(END)[1]


def write_readme() -> None:
    """Renew README's table from the kept outcomes."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_table(text, load_all()), encoding="utf-8")
