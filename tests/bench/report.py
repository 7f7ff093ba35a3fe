"""What a run found: kept as JSON beside the code, shown as a table in README."""

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from tests.bench.measure import Estimate

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[2] / "README.md"
Sense = Literal["at most", "at least"]
BEGIN, END = "<!-- generated:bench -->", "<!-- /generated:bench -->"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured figure and, where one is set, its bar."""

    what: str
    value: Estimate
    bar: float | None = None
    sense: Sense = "at most"
    note: str = ""

    @property
    def held(self) -> bool | None:
        """Whether the bar holds at the interval's better end; None without a bar."""
        if self.bar is None:
            return None
        return (
            self.value.low <= self.bar if self.sense == "at most" else self.value.high >= self.bar
        )


@dataclass(frozen=True, slots=True)
class Report:
    """One subject of a run."""

    subject: str
    rows: Sequence[Row]
    rounds: int
    notes: Sequence[str] = ()
    machine: str = field(default_factory=lambda: _machine())
    at: str = field(default_factory=lambda: datetime.now(UTC).date().isoformat())


def save(report: Report) -> Path:
    """Keep a report under its subject."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{report.subject}.json"
    path.write_text(json.dumps(asdict(report), indent=1) + "\n", encoding="utf-8")
    return path


def load_all() -> list[Report]:
    """Every kept report, by subject."""
    return [_read(path) for path in sorted(RESULTS.glob("*.json"))]


def table(report: Report) -> list[str]:
    """A report as lines of Markdown."""
    lines = [
        f"**{report.subject}** ({report.rounds} rounds, {report.machine}, {report.at})",
        "",
        "| measured | value [95 %] | bar | holds |",
        "| --- | --- | --- | --- |",
    ]
    for row in report.rows:
        bar = "" if row.bar is None else f"{row.sense} {row.bar:g}"
        held = {None: "", True: "yes", False: "**no**"}[row.held]
        note = f" ({row.note})" if row.note else ""
        lines.append(f"| {row.what}{note} | {row.value} | {bar} | {held} |")
    return [*lines, "", *(f"- {note}" for note in report.notes), *([""] if report.notes else [])]


def with_tables(readme: str, reports: Sequence[Report]) -> str:
    """README with its tables renewed. Raises ValueError when the markers are missing."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise ValueError(f"README.md needs the line {BEGIN} and the line {END}, once each")
    head, rest = readme.split(BEGIN)
    lines = [line for report in reports for line in table(report)]
    body = "\n".join(lines).rstrip()
    return f"{head}{BEGIN}\n{body + chr(10) if body else ''}{END}" + rest.split(END)[1]


def write_readme() -> None:
    """Renew README's tables from the kept results."""
    text = README.read_text(encoding="utf-8")
    README.write_text(with_tables(text, load_all()), encoding="utf-8")


def _read(path: Path) -> Report:
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(**{**row, "value": Estimate(**row["value"])}) for row in kept.pop("rows")]
    return Report(rows=rows, **kept)


def _machine() -> str:
    import os

    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
