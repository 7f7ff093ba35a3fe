"""What a checkout says it has: targets, recipes, scripts, entry points, and the flags of a file."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

MOST_BYTES = 256 * 1024

_TARGET = re.compile(rb"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*::?(?!=)", re.MULTILINE)
_OPEN_MAKE = re.compile(rb"^(?:-?include|sinclude)\b|^[^#\t\n]*%[^\n]*:", re.MULTILINE)
# Rather a name too many than a recipe that is called gone.
_RECIPE = re.compile(rb"^@?([A-Za-z_][\w-]*)(?:[ \t][^\n]*?)?:(?!=)", re.MULTILINE)
_ALIAS = re.compile(rb"^alias[ \t]+([\w-]+)[ \t]*:=", re.MULTILINE)
_OPEN_JUST = re.compile(rb"^(?:import|mod)\b", re.MULTILINE)
_TASKS = re.compile(rb"^tasks:[ \t]*\r?\n((?:(?:[ \t].*|#.*)?\r?\n?)*)", re.MULTILINE)
_TASK = re.compile(rb"^(?:  |\t)['\"]?([\w:-]+)['\"]?:", re.MULTILINE)
_OPEN_TASK = re.compile(rb"^includes:|^[ \t]+aliases:|\*", re.MULTILINE)
_OPTION = re.compile(rb"--[a-z][\w-]+")
# Options of another program, or read in another file: what is not in this one says nothing then.
_ELSEWHERE = re.compile(
    rb"\"\$[@*]\"|\$\{?[@*]|parse_known_args|REMAINDER|ignore_unknown|allowUnknown|parents="
    rb"|^from \.",
    re.MULTILINE,
)

Listed = tuple[frozenset[str], bool]
"""Names, and whether these are all of them."""


def targets(place: Path, root: Path) -> Listed | None:
    """The targets of a folder's makefile."""
    for name in ("GNUmakefile", "makefile", "Makefile"):
        found = content(place / name, root)
        if found is not None:
            words = {_word(w) for m in _TARGET.findall(found) for w in m.split()}
            return frozenset(words), not _OPEN_MAKE.search(found)
    return None


def recipes(place: Path, root: Path) -> Listed | None:
    """The recipes of a folder's justfile."""
    for name in ("justfile", "Justfile", ".justfile"):
        found = content(place / name, root)
        if found is not None:
            words = {_word(w) for w in (*_RECIPE.findall(found), *_ALIAS.findall(found))}
            return frozenset(words), not _OPEN_JUST.search(found)
    return None


def tasks(place: Path, root: Path) -> Listed | None:
    """The tasks of a folder's task file."""
    for name in ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"):
        found = content(place / name, root)
        if found is not None:
            below = b"\n".join(_TASKS.findall(found))
            words = {_word(w) for w in _TASK.findall(below)}
            return frozenset(words), bool(words) and not _OPEN_TASK.search(found)
    return None


def scripts(place: Path, root: Path) -> Listed | None:
    """The scripts of a folder's package."""
    found = content(place / "package.json", root)
    if found is None:
        return None
    try:
        package: Any = json.loads(found)
    except (ValueError, RecursionError):
        return frozenset(), False
    if not isinstance(package, dict):
        return frozenset(), False
    fields = cast("dict[str, Any]", package)
    return frozenset(_table(fields, "scripts")), "workspaces" not in fields


def entries(place: Path, root: Path) -> dict[str, str]:
    """The commands that a Python project installs, each with the module it starts in."""
    project = _pyproject(place, root)
    made: dict[str, str] = {}
    for table in (
        _table(project, "project", "scripts"),
        _table(project, "project", "gui-scripts"),
        _table(project, "tool", "poetry", "scripts"),
        _table(project, "tool", "pdm", "scripts"),
        _table(project, "tool", "hatch", "envs", "default", "scripts"),
    ):
        for name, where in table.items():
            made[name] = where.partition(":")[0].strip() if isinstance(where, str) else ""
    return made


def poe_tasks(place: Path, root: Path) -> Listed | None:
    """The tasks that a Python project gives its task runner."""
    table = _table(_pyproject(place, root), "tool", "poe")
    found = _table(table, "tasks")
    return (frozenset(found), "include" not in table) if found else None


def flag_state(flag: str, path: Path, root: Path) -> bool | None:
    """Whether a file knows a flag; None where it cannot tell."""
    found = content(path, root)
    if found is None:
        return None
    bare = flag.removeprefix("--")
    for form in (bare, bare.replace("-", "_"), bare.removeprefix("no-").replace("-", "_")):
        if re.search(rb"(?<![\w])" + re.escape(form.encode()) + rb"(?![\w])", found):
            return True
    if _ELSEWHERE.search(found) or not _OPTION.search(found):
        return None
    return False


def ignored(root: Path) -> frozenset[str]:
    """The plain names that a checkout does not keep, because they are made."""
    found = content(root / ".gitignore", root) or b""
    lines = (line.strip() for line in found.decode("utf-8", "replace").splitlines())
    return frozenset(line.strip("/") for line in lines if line and line[0] not in "#!")


def content(path: Path, root: Path) -> bytes | None:
    """A plain file of the checkout that is not large; None for all else."""
    real = Path(os.path.realpath(path))
    try:
        if not real.is_relative_to(root):
            return None
        info = real.stat()
        if not stat.S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
            return None
        return _read(str(real), info.st_mtime_ns, info.st_size)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _read(path: str, _changed: int, size: int) -> bytes:
    # Between the look and this a link or a pipe may have taken the name.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        with os.fdopen(os.dup(handle), "rb") as opened:
            return opened.read(size)
    finally:
        os.close(handle)


def _pyproject(place: Path, root: Path) -> dict[str, Any]:
    found = content(place / "pyproject.toml", root)
    return _parsed(found) if found else {}


@lru_cache(maxsize=8)
def _parsed(found: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(found.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}


def _table(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table below others, empty where anything of it is missing or of another shape."""
    one: Any = fields
    for name in names:
        below: Any = cast("dict[str, Any]", one).get(name) if isinstance(one, dict) else None
        one = below
    return cast("dict[str, Any]", one) if isinstance(one, dict) else {}


def _word(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
