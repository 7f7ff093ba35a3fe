"""Whether what a learning names is still there: files, make targets, package scripts.

Looked up before a line is told, inside the project's own folder, without a shell or the network,
within a few hundredths of a second. What was not looked up in time is called unchecked, never gone.
A name that the text speaks against ("never with deploy.sh") may be gone, and is left alone.
"""

import json
import os
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast

SECONDS = 0.02
MOST_BYTES = 256 * 1024
STILL, UNCHECKED, GONE = "still there", "unchecked", "gone"
_LONGEST_NAME = 80
_PATH = re.compile(
    r"(?<![\w/~$:.@-])(?:\./)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]\w{0,7}(?![\w/(])"
)
_FOLDER = re.compile(r"(?<![\w/~$:.@-])(?:\./)?(?:[\w.@-]+/)+(?=[\s`'\",;)]|\.?$)")
# Between backticks only: "make sure" is no command.
_MAKE = re.compile(r"`(?:[^`\n]* )?make ([a-z][\w.-]*\w)(?=[ `;&])")
_SCRIPT = re.compile(r"\b(?:npm|pnpm|yarn|bun) run ([\w:.-]*\w)")
_AGAINST = re.compile(
    r"\b(?:not|no|never|don't|dont|without|instead|old|former|removed|deleted|dropped|gone|replaced"
    r"|avoid|nicht|kein\w*|nie|ohne|statt|alte\w*)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.!?]\s|\bbut\b|\baber\b")
# A host or a version looks like a file with an ending.
_NOT_FILES = re.compile(
    r"\.(?:com|org|net|io|dev|test|example|local)$|^\w+\.\w+\.\w+$|^(?:e\.g|i\.e)"
)
_TARGET = re.compile(rb"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*::?(?!=)", re.MULTILINE)
_OPEN_MAKE = re.compile(rb"^(?:-?include|sinclude)\b|^[^#\t\n]*%[^\n]*:", re.MULTILINE)
Kind = Literal["file", "folder", "make", "script"]


@dataclass(frozen=True, slots=True)
class Named:
    """One thing in a text that a checkout can show."""

    kind: Kind
    name: str


def named(text: str) -> tuple[Named, ...]:
    """What a text says is there, without what it speaks against."""
    found: list[Named] = []
    kinds: tuple[tuple[Kind, re.Pattern[str], int], ...] = (
        ("make", _MAKE, 1),
        ("script", _SCRIPT, 1),
        ("file", _PATH, 0),
        ("folder", _FOLDER, 0),
    )
    for kind, pattern, group in kinds:
        for match in pattern.finditer(text):
            name = match[group].removeprefix("./")
            if kind == "file" and _NOT_FILES.search(name):
                continue
            before = _CLAUSE.split(text[: match.start()])[-1]
            if not _AGAINST.search(before):
                found.append(Named(kind, name))
    return tuple(dict.fromkeys(found))


class Checker:
    """Looks things up beside the caller, who waits only so long; one lookup at a time."""

    def __init__(self, seconds: float = SECONDS):
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="freshness")
        self._busy = threading.Lock()

    def marks(self, texts: Sequence[str], folder: str | None) -> list[str]:
        """For each text: still there, gone with what is gone, unchecked, or '' for nothing."""
        wanted = [named(text) for text in texts]
        if not any(wanted):
            return [""] * len(texts)
        unknown = [UNCHECKED if names else "" for names in wanted]
        # A file system that does not answer holds one thread, not one a prompt.
        if folder is None or not Path(folder).is_absolute():
            return unknown
        if not self._busy.acquire(blocking=False):
            return unknown
        try:
            task = self._pool.submit(self._looked, wanted, folder)
        except RuntimeError:
            self._busy.release()
            return unknown
        try:
            return task.result(timeout=self._seconds)
        except (TimeoutError, OSError, ValueError):
            return unknown

    def _looked(self, wanted: Sequence[tuple[Named, ...]], folder: str) -> list[str]:
        try:
            root = root_of(Path(folder))
            return [mark(names, root, Path(folder)) for names in wanted]
        finally:
            self._busy.release()


def mark(names: tuple[Named, ...], root: Path, folder: Path) -> str:
    """One text's mark, from the checkout as it is."""
    if not names:
        return ""
    states = [(name, _state(name, root, folder)) for name in names]
    gone = [name.name for name, state in states if state == GONE]
    if gone:
        return f"{GONE}: {', '.join(gone)}"[:_LONGEST_NAME]
    return UNCHECKED if any(state == UNCHECKED for _, state in states) else STILL


def root_of(folder: Path) -> Path:
    """The checkout that a folder lies in; the folder itself where there is none."""
    real = Path(os.path.realpath(folder))
    for above in (real, *real.parents):
        if above == Path.home() or above.parent == above:
            break
        if (above / ".git").exists() or (above / ".mkg.toml").is_file():
            return above
    return real


def _state(name: Named, root: Path, folder: Path) -> str:
    places = list(dict.fromkeys((root, Path(os.path.realpath(folder)))))
    match name.kind:
        case "file" | "folder":
            return _path_state(name.name, root, places)
        case "make":
            return _listed(name.name, [_targets(p, root) for p in places])
        case "script":
            return _listed(name.name, [_scripts(p, root) for p in places])


def _path_state(name: str, root: Path, places: Sequence[Path]) -> str:
    if ".." in name.split("/"):
        return UNCHECKED
    outside = False
    for place in places:
        path = Path(os.path.realpath(place / name))
        if not path.is_relative_to(root):
            # A link that leads out of the checkout is not followed.
            outside = True
        elif path.exists():
            return STILL
    # A bare name may lie in any folder below, and nobody has the time to look for it.
    return UNCHECKED if outside or "/" not in name else GONE


def _listed(name: str, lists: Sequence[tuple[frozenset[str], bool] | None]) -> str:
    known = [each for each in lists if each is not None]
    if any(name in names for names, _ in known):
        return STILL
    return GONE if known and all(complete for _, complete in known) else UNCHECKED


def _targets(place: Path, root: Path) -> tuple[frozenset[str], bool] | None:
    """The targets of a folder's makefile, and whether that is all of them."""
    for name in ("GNUmakefile", "makefile", "Makefile"):
        found = _content(place / name, root)
        if found is not None:
            words = {
                w.decode("utf-8", "replace") for m in _TARGET.findall(found) for w in m.split()
            }
            return frozenset(words), not _OPEN_MAKE.search(found)
    return None


def _scripts(place: Path, root: Path) -> tuple[frozenset[str], bool] | None:
    """The scripts of a folder's package, and whether that is all of them."""
    found = _content(place / "package.json", root)
    if found is None:
        return None
    try:
        package: Any = json.loads(found)
    except (ValueError, RecursionError):
        return frozenset(), False
    if not isinstance(package, dict):
        return frozenset(), False
    fields = cast("dict[str, Any]", package)
    scripts = fields.get("scripts")
    named_there = cast("dict[str, Any]", scripts) if isinstance(scripts, dict) else {}
    return frozenset(named_there), "workspaces" not in fields


def _content(path: Path, root: Path) -> bytes | None:
    """A file of the checkout, as long as it is one and not large."""
    real = Path(os.path.realpath(path))
    try:
        info = real.stat()
    except OSError:
        return None
    if not real.is_relative_to(root) or not path.is_file() or info.st_size > MOST_BYTES:
        return None
    return _read(str(real), info.st_mtime_ns, info.st_size)


@lru_cache(maxsize=64)
def _read(path: str, _changed: int, size: int) -> bytes:
    with Path(path).open("rb") as handle:
        return handle.read(size)
