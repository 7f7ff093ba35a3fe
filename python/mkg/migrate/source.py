"""Migration files: names, headers, content hashes and the checks that need no server.

Source: NEO-80, NEO-81, NEO-85. `B0000__baseline.cypher` is the runner's own ground,
`V0001__slug.cypher` runs once, `R__slug.cypher` again whenever its text changes. Beside it,
`<name>.predict.cypher` says which counts will come out and `<name>.verify.cypher` returns no rows.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mkg.errors import MigrationError
from mkg.migrate.lexer import Statement, split

Tx = Literal["one", "each", "none"]
KEYS = ("migration", "depends", "tx", "batch", "assert", "assume", "why")
CONDITIONS = ("assert", "assume")
LARGEST_BATCH = 100_000
_FILE = re.compile(r"(?:(?P<letter>[BV])(?P<number>\d{4})|R)__[a-z][a-z0-9_]*")
_LINE = re.compile(r"//\s*@(\w+)(?:\s+(.*\S))?\s*")
_IN_TRANSACTIONS = re.compile(r"\bIN (?:\S+ )?(?:CONCURRENT )?TRANSACTIONS\b", re.IGNORECASE)
_PARAMETER = re.compile(r"`[^`]*`|(\$[\w`][\w]*)")
_PREFIXED = re.compile(r"(?:CYPHER|EXPLAIN|PROFILE|USE)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"(version|edition|procedure|query)\s+(\S.*)")
_VERSION = re.compile(r"\d+(?:\.\d+)*")
_BATCH = frozenset({"$after", "$size"})
_FENCE = frozenset({"$owner", "$token"})
_BESIDE = ("verify", "predict")
_NAMES = (
    "V0001__slug.cypher, R__slug.cypher, V0001__slug.verify.cypher or V0001__slug.predict.cypher"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """What a header asserts or assumes: a version, an edition, a procedure or a query."""

    line: int
    key: str
    subject: str
    value: str

    def __str__(self) -> str:
        return f"@{self.key} {self.subject} {self.value}"


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """One migration as read from disk; `number` is None for a repeatable file."""

    id: str
    path: Path
    number: int | None
    text: str
    depends: tuple[str, ...]
    tx: Tx | None
    batch: int | None
    conditions: tuple[Condition, ...]
    why: str
    statements: tuple[Statement, ...]
    verify: tuple[Statement, ...]
    predict: tuple[Statement, ...]

    def checksum(self, previous: str) -> str:
        """The content hash, which covers the hash of the migration before it."""
        return hashlib.sha256(f"{previous}\n{self.text}".encode()).hexdigest()

    def begun(self, done: int) -> str:
        """The hash of the first `done` statements: what an interrupted run has behind it."""
        texts = "\0".join(part.text for part in self.statements[:done])
        return hashlib.sha256(texts.encode()).hexdigest()


def discover(root: Path) -> list[Path]:
    """The migration files of a folder: baseline first, then by number, repeatables last.

    Raises:
        MigrationError: the folder is missing or empty, or a file in it has a name or number that
            cannot be used.
    """
    if not root.is_dir():
        raise MigrationError(f"there is no folder of migrations at {root}")
    names = {path.name: path for path in root.iterdir() if _counts(path)}
    found: dict[str, Path] = {}
    for name, path in sorted(names.items()):
        stem, _, beside = name.removesuffix(".cypher").partition(".")
        if not _FILE.fullmatch(stem) or not name.endswith(".cypher"):
            raise MigrationError(f"{path}: not a name of a migration; write {_NAMES}")
        if beside:
            if beside not in _BESIDE:
                raise MigrationError(f"{path}: not a name of a migration; write {_NAMES}")
            if f"{stem}.cypher" not in names:
                raise MigrationError(f"{path}: there is no {stem}.cypher that it could {beside}")
            continue
        found[stem] = path
    _check_numbers(root, found)
    return [found[stem] for stem in sorted(found, key=_rank)]


def number_of(id: str) -> int | None:
    """The number in a migration's name; None for a repeatable one."""
    match = _FILE.fullmatch(id)
    return int(match["number"]) if match is not None and match["number"] else None


def read(path: Path) -> MigrationFile:
    """Read one migration and the prediction and verification beside it.

    Raises:
        MigrationError: text, header or statements break the rules; the message starts with file
            and line.
    """
    id = path.name.removesuffix(".cypher")
    text = normalised(path)
    values, conditions, body, line = _header(path, text, KEYS)
    if values.get("migration") != id:
        raise MigrationError(f"{path}:1: the header must start with // @migration {id}")
    tx, batch = _way(path, values)
    statements = split(body, where=str(path), line=line)
    if not statements:
        raise MigrationError(f"{path}:1: the file holds no statement")
    batched = [_check_statement(path, part, tx, batch) for part in statements]
    if batch is not None and not any(batched):
        raise MigrationError(f"{path}:1: @batch {batch}, but no statement uses $after and $size")
    predict = _beside(path, id, "predict")
    if len(predict) not in (0, 2):
        raise MigrationError(
            f"{path.with_name(f'{id}.predict.cypher')}:1: write two statements: what will come "
            "out, asked before, and what came out, asked afterwards"
        )
    return MigrationFile(
        id=id,
        path=path,
        number=number_of(id),
        text=text,
        depends=tuple(values.get("depends", "").replace(",", " ").split()),
        tx=tx,
        batch=batch,
        conditions=conditions,
        why=values.get("why", ""),
        statements=statements,
        verify=_beside(path, id, "verify"),
        predict=predict,
    )


def is_batched(statement: Statement) -> bool:
    """Whether a statement is repeated from key to key."""
    return _parameters(statement) >= _BATCH


def normalised(path: Path) -> str:
    """The text that is hashed and run: LF line ends, no byte order mark, no trailing blanks.

    Raises:
        MigrationError: the file cannot be read, or is not UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MigrationError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise MigrationError(f"{path}: cannot be read ({error.strerror})") from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip(" \t") for line in lines).rstrip("\n") + "\n"


def _counts(path: Path) -> bool:
    if path.name.startswith(".") or path.suffix.lower() != ".cypher":
        return False
    return not path.is_dir()


def _rank(stem: str) -> tuple[int, int, str]:
    number = number_of(stem)
    return (1, 0, stem) if number is None else (0, number, stem)


def _check_numbers(root: Path, found: dict[str, Path]) -> None:
    taken: dict[int, str] = {}
    for stem in found:
        number = number_of(stem)
        if number is None:
            continue
        if number in taken:
            raise MigrationError(
                f"{root}: {taken[number]} and {stem} share a number; give the newer one the next"
            )
        if (stem[0] == "B") != (number == 0):
            raise MigrationError(f"{root}: {stem}: number 0000 is the baseline's, B0000__slug")
        taken[number] = stem
    if 0 not in taken:
        raise MigrationError(f"{root}: the baseline is missing; restore B0000__baseline.cypher")


def _way(path: Path, values: dict[str, str]) -> tuple[Tx | None, int | None]:
    """The transaction and the batch size that the header asks for."""
    tx, size = values.get("tx"), values.get("batch")
    if tx not in (None, "one", "each", "none"):
        raise MigrationError(f"{path}:1: @tx {tx} is not one, each or none")
    if size is None:
        return tx, None
    if not size.isascii() or not size.isdigit() or not 0 < int(size) <= LARGEST_BATCH:
        raise MigrationError(f"{path}:1: @batch {size} is not a number from 1 to {LARGEST_BATCH}")
    if tx not in (None, "each"):
        raise MigrationError(f"{path}:1: a batch is a transaction of its own; @tx is each")
    return "each", int(size)


def _header(
    path: Path, text: str, keys: tuple[str, ...]
) -> tuple[dict[str, str], tuple[Condition, ...], str, int]:
    """Values and conditions of the header, the text after it, and the line where that starts."""
    values: dict[str, str] = {}
    conditions: list[Condition] = []
    last, lines = "", text.split("\n")
    end = 0
    for end, line in enumerate(lines):
        if not line.startswith("//"):
            break
        match = _LINE.fullmatch(line)
        if match is None:
            if last != "why":
                raise MigrationError(f"{path}:{end + 1}: not a header line; write // @key  value")
            values["why"] += " " + line.removeprefix("//").strip()
            continue
        last = _accept(path, end + 1, match[1], values, keys)
        values[last] = match[2] or ""
        if last in CONDITIONS:
            conditions.append(_condition(path, end + 1, last, values[last]))
    return values, tuple(conditions), "\n".join(lines[end:]), end + 1


def _accept(path: Path, line: int, key: str, values: dict[str, str], keys: tuple[str, ...]) -> str:
    if key not in keys:
        raise MigrationError(f"{path}:{line}: @{key} is unknown; known are {', '.join(keys)}")
    if key in values and key not in CONDITIONS:
        raise MigrationError(f"{path}:{line}: @{key} stands twice")
    if any(keys.index(other) > keys.index(key) for other in values):
        raise MigrationError(f"{path}:{line}: the keys stand in the order {', '.join(keys)}")
    return key


def _condition(path: Path, line: int, key: str, text: str) -> Condition:
    at = f"{path}:{line}"
    match = _SUBJECT.fullmatch(text)
    if match is None:
        raise MigrationError(
            f"{at}: write // @{key}  version, edition, procedure or query, and what it must be"
        )
    subject, value = match[1], match[2]
    if subject == "version" and not _VERSION.fullmatch(value):
        raise MigrationError(f"{at}: {value} is not a version such as 2026.01")
    if subject == "query":
        parts = split(value, where=str(path), line=line)
        if len(parts) != 1:
            raise MigrationError(f"{at}: write one query, on this line")
        _check_statement(path, parts[0], None, None)
        value = parts[0].text
    return Condition(line, key, subject, value)


def _parameters(statement: Statement) -> frozenset[str]:
    return frozenset(match[1] for match in _PARAMETER.finditer(statement.bare) if match[1])


def _check_statement(path: Path, statement: Statement, tx: str | None, batch: int | None) -> bool:
    """Whether the statement is one of a batch; refuses what cannot be run as it stands."""
    at = f"{path}:{statement.line}"
    prefix = _PREFIXED.match(statement.bare)
    if prefix is not None:
        raise MigrationError(f"{at}: a statement cannot start with {prefix[0].upper()}")
    used = _parameters(statement)
    known = _BATCH if batch is not None else _FENCE if tx == "none" else frozenset[str]()
    for parameter in sorted(used - known):
        # EXPLAIN accepts a parameter that nobody will give.
        given = f"none but {' and '.join(sorted(known))}" if known else "no parameters"
        raise MigrationError(f"{at}: {parameter}: a migration has {given}; write the value")
    inside = _IN_TRANSACTIONS.search(statement.bare)
    if inside and tx != "none":
        raise MigrationError(f"{at}: CALL .. IN TRANSACTIONS needs // @tx none")
    if tx == "none" and not (inside and used >= _FENCE):
        # Its inner transactions commit by themselves: only the lock's token, read in each of
        # them, stops a runner that has lost the lock.
        raise MigrationError(
            f"{at}: @tx none is for CALL .. IN TRANSACTIONS whose inside checks $owner and $token "
            "against the lock; for anything else write // @tx each"
        )
    if used & _BATCH and not used >= _BATCH:
        raise MigrationError(f"{at}: a batch uses $after and $size, both")
    return bool(used & _BATCH)


def _beside(path: Path, id: str, kind: str) -> tuple[Statement, ...]:
    """The statements of the prediction or verification that stands beside a migration."""
    beside = path.with_name(f"{id}.{kind}.cypher")
    if not beside.exists():
        return ()
    values, _, body, line = _header(beside, normalised(beside), (kind, "why"))
    if values.get(kind) != id:
        raise MigrationError(f"{beside}:1: the header must start with // @{kind} {id}")
    statements = split(body, where=str(beside), line=line)
    if not statements:
        raise MigrationError(f"{beside}:1: the file holds no statement")
    for statement in statements:
        _check_statement(beside, statement, None, None)
    return statements
