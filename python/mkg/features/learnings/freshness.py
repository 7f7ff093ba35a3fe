"""Whether what a learning names is still there, looked up before it is told.

Inside the project's own folder, without a process or the network, within a few hundredths of a
second. What was not looked up in time is called unchecked, never gone. A line of whose names not
one stands any more is held back while that is so; one that has lost only some says which.
"""

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from pathlib import Path

from mkg.features.learnings import freshness_lists as lists
from mkg.features.learnings.freshness_names import COMMANDS, Named, named

SECONDS = 0.02
STILL, UNCHECKED, GONE, ALL_GONE = "still there", "unchecked", "gone", "all gone"
_NOTHING = ""
_LONGEST_NAME = 80
# Folders that a build or a tool makes again: their absence says nothing.
_MADE_FOLDERS = frozenset(
    [
        "dist",
        "build",
        "out",
        "target",
        "coverage",
        "node_modules",
        ".venv",
        "venv",
        "tmp",
        "logs",
        "log",
        ".cache",
        "__pycache__",
        "bin",
        "generated",
        ".next",
        ".tox",
        ".mypy_cache",
        ".pytest_cache",
        "htmlcov",
        "site",
        "public",
    ]
)


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
        unknown = [UNCHECKED if any(map(_sure, names)) else "" for names in wanted]
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


def withheld(mark: str) -> bool:
    """Whether a line with this mark is held back: not one of its names stands."""
    return mark.startswith(ALL_GONE)


def mark(names: tuple[Named, ...], root: Path, folder: Path) -> str:
    """One text's mark, from the checkout as it is."""
    states = [(name, _state(name, root, folder)) for name in names]
    states = [(name, state) for name, state in states if state != _NOTHING]
    gone = [name.name for name, state in states if state == GONE]
    if gone:
        word = ALL_GONE if len(gone) == len(states) else GONE
        return f"{word}: {', '.join(gone)}"[:_LONGEST_NAME]
    if not states:
        return ""
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


def _sure(name: Named) -> bool:
    """Whether a name is one of the project's without a look at it."""
    return name.kind in COMMANDS or (name.kind == "file" and name.known) or name.kind == "folder"


def _state(name: Named, root: Path, folder: Path) -> str:
    places = list(dict.fromkeys((root, Path(os.path.realpath(folder)))))
    match name.kind:
        case "file" | "folder":
            return _path_state(name, root, places)
        case "make":
            return _listed(name.name, [lists.targets(p, root) for p in places])
        case "script":
            return _listed(name.name, [lists.scripts(p, root) for p in places])
        case "just":
            return _listed(name.name, [lists.recipes(p, root) for p in places])
        case "task":
            return _listed(name.name, [lists.tasks(p, root) for p in places])
        case "poe":
            return _listed(name.name, [lists.poe_tasks(p, root) for p in places])
        case "entry":
            # What is not in the list may be any program of the machine.
            there = any(name.name in lists.entries(p, root) for p in places)
            return STILL if there else _NOTHING
        case "flag":
            return _flag_state(name, root, places)


def _path_state(named: Named, root: Path, places: Sequence[Path]) -> str:
    name = named.name
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
    if outside:
        return UNCHECKED
    top, slash, _ = name.partition("/")
    if not slash:
        # A bare name may lie in any folder below, and nobody has the time to look for it.
        return UNCHECKED if named.known else _NOTHING
    if named.made or top in _MADE_FOLDERS or {top, name.rstrip("/")} & lists.ignored(root):
        return UNCHECKED
    if any((place / top).is_dir() for place in places):
        return GONE
    # A branch, a type or a remote looks like a path whose first folder nobody has.
    return GONE if named.known else UNCHECKED if named.kind == "folder" else _NOTHING


def _flag_state(named: Named, root: Path, places: Sequence[Path]) -> str:
    """A flag of a script or an installed command of the project, by that one's own file."""
    modules = {lists.entries(place, root).get(named.of, "") for place in places} - {""}
    if modules:
        # The parts of a larger program may read flags of their own.
        ends = [m.replace(".", "/") + end for m in modules for end in (".py", "/__init__.py")]
        files = [p / top / end for p in places for top in ("", "src", "python") for end in ends]
    elif "." in named.of:
        files = [place / named.of for place in places]
    else:
        return _NOTHING
    seen = {lists.flag_state(named.name, file, root) for file in files}
    if True in seen:
        return STILL
    return GONE if False in seen and not modules else UNCHECKED


def _listed(name: str, found: Sequence[lists.Listed | None]) -> str:
    known = [each for each in found if each is not None]
    if any(name in names for names, _ in known):
        return STILL
    return GONE if known and all(complete for _, complete in known) else UNCHECKED
