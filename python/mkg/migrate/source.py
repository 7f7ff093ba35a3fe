"""Migration files: names, headers, content hashes and the checks that need no server.

Source: NEO-80, NEO-81, NEO-85. `B0000__baseline.cypher` is the runner's own ground,
`V0001__slug.cypher` runs once, `R__slug.cypher` again whenever its text changes, and
`<name>.verify.cypher` must return no rows.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mkg.errors import MigrationError
from mkg.migrate.lexer import Statement, split

Tx = Literal["one", "each", "none"]
KEYS = ("migration", "depends", "tx", "why")
VERIFY_KEYS = ("verify", "why")
_LATER = ("assert", "assume")
_FILE = re.compile(r"(?:(?P<letter>[BV])(?P<number>\d{4})|R)__[a-z][a-z0-9_]*")
_LINE = re.compile(r"//\s*@(\w+)(?:\s+(.*\S))?\s*")
_IN_TRANSACTIONS = re.compile(r"\bIN (?:\S+ )?(?:CONCURRENT )?TRANSACTIONS\b", re.IGNORECASE)
_PARAMETER = re.compile(r"`[^`]*`|(\$[\w`][\w]*)")
_PREFIXED = re.compile(r"(?:CYPHER|EXPLAIN|PROFILE|USE)\b", re.IGNORECASE)
_NAMES = "V0001__slug.cypher, R__slug.cypher or V0001__slug.verify.cypher"


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """One migration as read from disk; `number` is None for a repeatable file."""

    id: str
    path: Path
    number: int | None
    text: str
    depends: tuple[str, ...]
    tx: Tx | None
    why: str
    statements: tuple[Statement, ...]
    verify: tuple[Statement, ...]

    def checksum(self, previous: str) -> str:
        """The content hash, which covers the hash of the migration before it."""
        return hashlib.sha256(f"{previous}\n{self.text}".encode()).hexdigest()


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
        stem = name.removesuffix(".cypher").removesuffix(".verify")
        if not _FILE.fullmatch(stem) or not name.endswith(".cypher"):
            raise MigrationError(f"{path}: not a name of a migration; write {_NAMES}")
        if name.endswith(".verify.cypher"):
            if f"{stem}.cypher" not in names:
                raise MigrationError(f"{path}: there is no {stem}.cypher that it could verify")
            continue
        found[stem] = path
    _check_numbers(root, found)
    return [found[stem] for stem in sorted(found, key=_rank)]


def number_of(id: str) -> int | None:
    """The number in a migration's name; None for a repeatable one."""
    match = _FILE.fullmatch(id)
    return int(match["number"]) if match is not None and match["number"] else None


def read(path: Path) -> MigrationFile:
    """Read one migration and the verification beside it.

    Raises:
        MigrationError: text, header or statements break the rules; the message starts with file
            and line.
    """
    id = path.name.removesuffix(".cypher")
    text = normalised(path)
    values, body, line = _header(path, text, KEYS)
    if values.get("migration") != id:
        raise MigrationError(f"{path}:1: the header must start with // @migration {id}")
    tx = values.get("tx")
    if tx not in (None, "one", "each", "none"):
        raise MigrationError(f"{path}:1: @tx {tx} is not one, each or none")
    statements = split(body, where=str(path), line=line)
    if not statements:
        raise MigrationError(f"{path}:1: the file holds no statement")
    for statement in statements:
        _check_statement(path, statement, tx)
    return MigrationFile(
        id=id,
        path=path,
        number=number_of(id),
        text=text,
        depends=tuple(values.get("depends", "").replace(",", " ").split()),
        tx=tx,
        why=values.get("why", ""),
        statements=statements,
        verify=_verification(path, id),
    )


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


def _header(path: Path, text: str, keys: tuple[str, ...]) -> tuple[dict[str, str], str, int]:
    """Values of the header, the text after it, and the line number where that starts."""
    values: dict[str, str] = {}
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
    return values, "\n".join(lines[end:]), end + 1


def _accept(path: Path, line: int, key: str, values: dict[str, str], keys: tuple[str, ...]) -> str:
    if key in _LATER:
        raise MigrationError(f"{path}:{line}: @{key} is not supported yet")
    if key not in keys:
        raise MigrationError(f"{path}:{line}: @{key} is unknown; known are {', '.join(keys)}")
    if key in values:
        raise MigrationError(f"{path}:{line}: @{key} stands twice")
    if any(keys.index(other) > keys.index(key) for other in values):
        raise MigrationError(f"{path}:{line}: the keys stand in the order {', '.join(keys)}")
    return key


def _check_statement(path: Path, statement: Statement, tx: str | None) -> None:
    at = f"{path}:{statement.line}"
    prefix = _PREFIXED.match(statement.bare)
    if prefix is not None:
        raise MigrationError(f"{at}: a statement cannot start with {prefix[0].upper()}")
    parameter = next((match[1] for match in _PARAMETER.finditer(statement.bare) if match[1]), None)
    if parameter is not None:
        # EXPLAIN accepts a parameter that nobody will give.
        raise MigrationError(f"{at}: {parameter}: a migration has no parameters; write the value")
    if _IN_TRANSACTIONS.search(statement.bare) and tx != "none":
        raise MigrationError(f"{at}: CALL .. IN TRANSACTIONS needs // @tx none")


def _verification(path: Path, id: str) -> tuple[Statement, ...]:
    verify = path.with_name(f"{id}.verify.cypher")
    if not verify.exists():
        return ()
    values, body, line = _header(verify, normalised(verify), VERIFY_KEYS)
    if values.get("verify") != id:
        raise MigrationError(f"{verify}:1: the header must start with // @verify {id}")
    statements = split(body, where=str(verify), line=line)
    if not statements:
        raise MigrationError(f"{verify}:1: the file holds no statement")
    for statement in statements:
        _check_statement(verify, statement, None)
    return statements
