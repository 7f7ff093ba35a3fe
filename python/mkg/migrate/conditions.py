"""What a migration asserts or assumes of the server and the graph.

An assertion that does not hold stops the run; an assumption that does not hold skips the migration,
which is recorded as skipped. Versions, editions and procedures are looked up before anything is
written, queries right before the migration itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mkg.bundle import Runner
from mkg.errors import MigrationError
from mkg.migrate.explain import explained, worded
from mkg.migrate.source import Condition, MigrationFile

if TYPE_CHECKING:
    from mkg.migrate.backend import Neo4jBackend


@dataclass
class Facts:
    """What the server is, asked once for a run."""

    run: Runner
    version: str = ""
    edition: str = ""
    procedures: dict[str, bool] = field(default_factory=dict[str, bool])

    def holds(self, condition: Condition) -> tuple[bool, str]:
        """Whether it holds, and what the server has instead."""
        from mkg.localdb import prove

        if condition.subject == "procedure":
            if condition.value not in self.procedures:
                found = prove.server_procedures(self.run, names=[condition.value])
                self.procedures[condition.value] = bool(found)
            return self.procedures[condition.value], "the server does not have it"
        if not self.version:
            kernel = next(c for c in prove.server_components(self.run) if c.name == "Neo4j Kernel")
            self.version, self.edition = kernel.version, kernel.edition
        if condition.subject == "edition":
            return condition.value.casefold() == self.edition.casefold(), f"it is {self.edition}"
        return _numbers(self.version) >= _numbers(condition.value), f"it is {self.version}"


def check(backend: "Neo4jBackend", file: MigrationFile) -> None:
    """Look at what can be known before the first write.

    Raises:
        MigrationError: an assertion about the server does not hold, or a query cannot be asked.
    """
    for condition in file.conditions:
        if condition.subject == "query":
            _check_query(backend, file, condition)
    if skipped_by(_static(file.conditions, "assume"), backend) is not None:
        return
    for condition in _static(file.conditions, "assert"):
        held, found = backend.facts.holds(condition)
        if not held:
            raise _refusal(file, condition, found)


def unmet(backend: "Neo4jBackend", file: MigrationFile) -> str | None:
    """Why the migration is to be skipped; None when it is to run.

    Raises:
        MigrationError: an assertion does not hold; nothing of the migration was run.
    """
    reason = skipped_by(file.conditions, backend)
    if reason is not None:
        return reason
    for condition in file.conditions:
        if condition.key == "assert":
            held, found = _holds(backend, condition)
            if not held:
                raise _refusal(file, condition, found)
    return None


def refused_by(backend: "Neo4jBackend", file: MigrationFile) -> list[str]:
    """The assertions that do not hold as the database is now."""
    return [
        f"{condition} does not hold: {found}"
        for condition in file.conditions
        for held, found in [_holds(backend, condition)]
        if condition.key == "assert" and not held
    ]


def skipped_by(conditions: Sequence[Condition], backend: "Neo4jBackend") -> str | None:
    """The first assumption that does not hold; None when all do."""
    for condition in conditions:
        if condition.key == "assume":
            held, found = _holds(backend, condition)
            if not held:
                return f"{condition} does not hold: {found}"
    return None


def _holds(backend: "Neo4jBackend", condition: Condition) -> tuple[bool, str]:
    if condition.subject != "query":
        return backend.facts.holds(condition)
    rows = backend.execute(worded(condition.value)).rows
    answers = [value for row in rows for value in row.values()]
    return answers == [True], "it does not return true"


def _static(conditions: Sequence[Condition], key: str) -> list[Condition]:
    return [c for c in conditions if c.key == key and c.subject != "query"]


def _check_query(backend: "Neo4jBackend", file: MigrationFile, condition: Condition) -> None:
    at = f"{file.path}:{condition.line}"
    found = explained(backend.run, condition.value, at)
    if found.query_type != "r" or len(found.columns) != 1:
        raise MigrationError(f"{at}: a condition only reads and returns one column, true or false")


def _refusal(file: MigrationFile, condition: Condition, found: str) -> MigrationError:
    return MigrationError(
        f"{file.path}:{condition.line}: {condition} does not hold: {found}; nothing of {file.id} "
        "was run; make it hold, then run: mkg migrate apply"
    )


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version; `2026.01.3` is 2026, 1, 3."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
