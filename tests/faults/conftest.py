"""Faults report to one table, printed at the end of a run and kept by `make soak`."""

import os
from collections.abc import Callable

import pytest

from tests.faults import outcome as outcomes
from tests.faults.outcome import Outcome
from tests.faults.test_path import user
from tests.hooks.conftest import home, offline

__all__ = ["home", "offline", "user"]
_seen: dict[str, Outcome] = {}
# The forms: what `make test` runs, and what takes long. Both are checked the same way.
FORMS = ["short", pytest.param("long", marks=[pytest.mark.soak, pytest.mark.timeout(4 * 3600)])]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    """How much of a fault is tried: "short" or "long"."""
    return str(request.param)


@pytest.fixture
def held() -> Callable[[Outcome], None]:
    """Take an outcome into the table, then demand that the invariant held."""

    def take(outcome: Outcome) -> None:
        _seen[outcome.fault] = outcomes.together(_seen.get(outcome.fault), outcome)
        print(outcome)
        assert outcome.held, outcome

    return take


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table; keep it where a person asked for that."""
    if not _seen:
        return
    terminalreporter.write_line("faults of this run")
    terminalreporter.write_line(outcomes.table(_seen.values()))
    if os.environ.get(outcomes.KEEP) == "1":
        for one in _seen.values():
            outcomes.save(one)
        outcomes.write_readme()
