"""The record of migrations in the graph, and what files and records say together.

Source: NEO-83, NEO-85, NEO-88, NEO-89. Records form a chain without gaps; a hash covers the one
before it, so neither a file nor a record can change unnoticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mkg.bundle import Runner, cypher
from mkg.errors import MigrationError, MigrationTampered
from mkg.migrate.source import MigrationFile, number_of

State = Literal[
    "applied",
    "pending",
    "interrupted",
    "failed",
    "skipped",
    "edited",
    "renamed",
    "missing",
    "newer",
]


@dataclass(frozen=True, slots=True)
class Record:
    """One migration as the graph remembers it; `seq` is None for a repeatable one."""

    id: str
    seq: int | None
    checksum: str
    state: str
    kind: str
    applied_at: str | None
    applied_by: str | None
    tool: str | None
    duration_ms: int | None
    message: str | None


@dataclass(frozen=True, slots=True)
class MigrationState:
    """How one migration stands: what its file says compared with what the graph remembers."""

    id: str
    state: State
    path: str | None = None
    seq: int | None = None
    kind: str | None = None
    applied_at: str | None = None
    applied_by: str | None = None
    tool: str | None = None
    duration_ms: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """Whether the constraints the runner stands on exist."""

    ready: bool


@dataclass(frozen=True, slots=True)
class Recorded:
    """A record that was written, with its place in the chain."""

    id: str
    seq: int
    state: str


@dataclass(frozen=True, slots=True)
class Repeated:
    """A record of a repeatable migration that was written."""

    id: str
    state: str


@dataclass(frozen=True, slots=True)
class Named:
    """The id of a record that was changed or taken back."""

    id: str


@cypher("ops.migration_ready")
def migration_ready(run: Runner) -> Ready: ...


@cypher("ops.migration_list")
def migration_list(run: Runner) -> list[Record]: ...


@cypher("ops.migration_record")
def migration_record(
    run: Runner,
    *,
    lock: str,
    owner: str,
    token: int,
    id: str,
    seq: int,
    checksum: str,
    kind: str,
    state: str,
    message: str | None,
    duration_ms: int,
    by: str,
    tool: str,
    operation: str,
    host: str,
    log: str,
) -> Recorded | None: ...


@cypher("ops.migration_repeat")
def migration_repeat(
    run: Runner,
    *,
    lock: str,
    owner: str,
    token: int,
    id: str,
    checksum: str,
    kind: str,
    state: str,
    message: str | None,
    duration_ms: int,
    by: str,
    tool: str,
    operation: str,
    host: str,
    log: str,
) -> Repeated | None: ...


@cypher("ops.migration_unmark")
def migration_unmark(
    run: Runner,
    *,
    lock: str,
    owner: str,
    token: int,
    id: str,
    seq: int,
    by: str,
    host: str,
    tool: str,
    log: str,
) -> Named | None: ...


@cypher("ops.migration_repair")
def migration_repair(
    run: Runner,
    *,
    lock: str,
    owner: str,
    token: int,
    seq: int,
    id: str,
    checksum: str,
    message: str | None,
    by: str,
    host: str,
    tool: str,
    log: str,
) -> Named | None: ...


@cypher("ops.migration_log")
def migration_log(
    run: Runner,
    *,
    log: str,
    operation: str,
    migration: str,
    message: str | None,
    by: str,
    host: str,
    tool: str,
) -> None: ...


def compare(files: Sequence[MigrationFile], records: Sequence[Record]) -> list[MigrationState]:
    """Every migration that a file or a record knows: the chain, what is pending, repeatables."""
    by_id = {file.id: file for file in files}
    by_number = {file.number: file for file in files if file.number is not None}
    newest = max(by_number, default=0)
    states: list[MigrationState] = []
    previous = ""
    for record in records:
        file = by_id.pop(record.id, None)
        if record.seq is None:
            states.append(_state(record, file, _repeatable(record, file)))
            continue
        if file is None and (other := by_number.get(number_of(record.id) or 0)) is not None:
            by_id.pop(other.id, None)
            states.append(_state(record, other, "renamed"))
        else:
            states.append(_state(record, file, _judged(record, file, previous, newest)))
        previous = record.checksum
    states += [MigrationState(file.id, "pending", path=str(file.path)) for file in by_id.values()]
    return sorted(states, key=lambda state: number_of(state.id) is None)


def check_applicable(
    states: Sequence[MigrationState], records: Sequence[Record], *, retry: bool = False
) -> None:
    """Refuse to apply anything to a database whose history does not fit the files.

    Raises:
        MigrationTampered: an applied file was edited, renamed or removed, or the chain has a gap.
        MigrationError: the database is newer than the program, a pending file comes before an
            applied one, or an earlier attempt failed and `retry` was not asked for.
    """
    chain = [record for record in records if record.seq is not None]
    if [record.seq for record in chain] != list(range(len(chain))):
        raise MigrationTampered(
            "the chain of :MkgMigration records has a gap; restore the database from a backup"
        )
    for state in states:
        _refuse(state, retry)
    highest = max((number_of(record.id) or 0 for record in chain), default=-1)
    for state in states:
        number = number_of(state.id)
        if state.state == "pending" and number is not None and number < highest:
            raise MigrationError(
                f"{state.path}: number {number:04d} comes before migrations that are applied; "
                f"give it a number above {highest:04d}"
            )


def waiting(states: Sequence[MigrationState], *, again: bool = False) -> list[str]:
    """Ids of what `apply` would run, in the order of the list; `again` looks at skipped ones."""
    wanted = {"pending", "interrupted", "failed", *(("skipped",) if again else ())}
    return [s.id for s in states if s.state in wanted]


def _judged(record: Record, file: MigrationFile | None, previous: str, newest: int) -> State:
    if file is None:
        return "newer" if (number_of(record.id) or 0) > newest else "missing"
    if record.state == "FAILED":
        return "failed"
    same = file.checksum(previous) == record.checksum
    if record.state == "PENDING":
        # Schema statements are harmless to repeat, data goes on from its stored progress; a text
        # that was changed in between is a person's to judge.
        return "interrupted" if same else "failed"
    if not same:
        return "edited"
    return "skipped" if record.state == "SKIPPED" else "applied"


def _repeatable(record: Record, file: MigrationFile | None) -> State:
    if file is None:
        return "missing"
    same = file.checksum("") == record.checksum
    if same and record.state == "SKIPPED":
        return "skipped"
    return "applied" if same and record.state == "APPLIED" else "pending"


def _state(record: Record, file: MigrationFile | None, state: State) -> MigrationState:
    return MigrationState(
        id=record.id,
        state=state,
        path=str(file.path) if file is not None else None,
        seq=record.seq,
        kind=record.kind,
        applied_at=record.applied_at,
        applied_by=record.applied_by,
        tool=record.tool,
        duration_ms=record.duration_ms,
        message=record.message,
    )


def _refuse(state: MigrationState, retry: bool) -> None:
    match state.state:
        case "edited":
            raise MigrationTampered(
                f"{state.path} was edited after it was applied on {state.applied_at}; restore its "
                "text and put the change into a new file, or accept it as it is: mkg migrate repair"
            )
        case "renamed":
            raise MigrationTampered(
                f"{state.id} was applied on {state.applied_at}, and {state.path} now has its "
                f"number; call the file {state.id}.cypher again, or accept the new name: "
                "mkg migrate repair"
            )
        case "missing" if state.seq is not None:
            raise MigrationTampered(
                f"{state.id} was applied on {state.applied_at} but its file is gone; restore "
                f"{state.id}.cypher, or install the version that ships it"
            )
        case "newer":
            raise MigrationError(
                f"the database is newer than this program: it has {state.id}, applied by "
                f"{state.tool}; update the program, or forget that it was applied: "
                f"mkg migrate unmark {state.id}"
            )
        case "failed" if not retry:
            why = state.message or "it was interrupted and may have run in part"
            raise MigrationError(
                f"{state.id} did not finish: {why}; mend the cause, then run: "
                "mkg migrate apply --retry; or finish it by hand, then run: "
                f"mkg migrate mark {state.id}"
            )
        case _:
            return
