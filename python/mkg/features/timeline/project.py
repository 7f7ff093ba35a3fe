"""Which project a folder belongs to (D12): one resolver for hooks, worker, server and commands.

Identity is the canonical remote plus the path of the nearest folder that declares itself a project.
Without a remote it is a random id, kept under MKG_HOME by git's common directory; when a remote
appears later, the remote becomes another name of that id. Git's files are read, git is not run: a
repository's configuration can name programs.
"""

import configparser
import fcntl
import json
import os
import re
import tempfile
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from mkg.errors import ConfigError
from mkg.features.gate.screen import screen
from mkg.json_shape import as_object
from mkg.private import private_dir, write_private
from mkg.settings import Settings, project_file, read_project_file
from mkg.unseen import unseen

_SCP = re.compile(r"^(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9.-]+):(?!//)(?P<path>[^\s].*)$")
_CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
_MAX_CONFIG = 256 * 1024
_LONGEST_NAME = 60
UNNAMED = "project"


@dataclass(frozen=True, slots=True)
class Project:
    """A project's identity and its display name."""

    id: str
    name: str
    root: Path


@dataclass(frozen=True, slots=True)
class _Checkout:
    top: Path
    common: Path
    worktree: str | None = None


def resolve(settings: Settings, cwd: str | None) -> Project | None:
    """The project of a working directory; None where there is no project to speak of.

    The home folder, the system's temporary folder, `/`, a deleted folder and a client's plugin
    cache are no projects.
    """
    folder = _real_folder(cwd)
    if folder is None:
        return None
    checkout = _find_checkout(folder)
    declared, name, separate = _declared(folder, checkout.top if checkout else None)
    if checkout is None:
        root = declared or folder
        if declared is None and _nowhere(folder):
            return None
        return Project(_local_id(settings, str(root), None), display(name or root.name), root)
    remote = _remote(checkout.common)
    base = _local_id(settings, str(checkout.common), remote)
    if separate and checkout.worktree:
        base = f"{base}@{checkout.worktree}"
    if declared is not None and declared != checkout.top:
        inner = declared.relative_to(checkout.top).as_posix()
        return Project(f"{base}//{inner}", display(name or declared.name), declared)
    shown = name or (remote.rsplit("/", 1)[-1] if remote else checkout.top.name)
    return Project(base, display(shown), checkout.top)


@lru_cache(maxsize=64)
def display(name: str) -> str:
    """A project's name as it may be shown: whoever wrote the checkout chose it.

    It reaches agents and terminals beside learnings, so a sentence in it must say nothing to them.
    """
    seen = "".join("\ufffd" if unseen(c) or not c.isprintable() else c for c in name)
    line = " ".join(seen.split())
    if screen(line or "-", channel="P").verdict != "pass":
        return UNNAMED
    return (line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 3] + "...") or UNNAMED


def canonical_remote(url: str) -> str | None:
    """`host/owner/repo` of a remote URL, without user, port, suffix; None without a host."""
    text = url.strip()
    if not text or any(ord(c) < 32 for c in text):
        return None
    if "://" in text:
        try:
            parts = urlsplit(text)
            host, path = (parts.hostname or ""), parts.path
        except ValueError:
            return None
        if parts.scheme == "file" or not host:
            return None
    else:
        match = _SCP.match(text)
        if match is None or (len(match["host"]) == 1 and os.name == "nt"):
            return None
        host, path = match["host"].lower(), match["path"]
    path = "/".join(part for part in path.split("/") if part not in {"", "."})
    path = path.removesuffix(".git")
    if not path or ".." in path.split("/"):
        return None
    host = host.lower()
    return f"{host}/{path.lower() if host in _CASELESS_HOSTS else path}"


def _real_folder(cwd: str | None) -> Path | None:
    if not cwd or "\0" in cwd or not cwd.startswith("/"):
        return None
    try:
        folder = Path(cwd).resolve(strict=True)
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


def _nowhere(folder: Path) -> bool:
    places = {Path("/"), Path.home().resolve(), Path(tempfile.gettempdir()).resolve(), Path("/tmp")}
    if folder in places:
        return True
    clients = [Path.home() / name for name in (".claude", ".codex", ".gemini", ".copilot")]
    return any(client.resolve() in (folder, *folder.parents) for client in clients)


def _find_checkout(folder: Path) -> _Checkout | None:
    for candidate in (folder, *folder.parents):
        marker = candidate / ".git"
        if marker.is_dir() and (marker / "HEAD").is_file():
            return _Checkout(candidate, marker.resolve())
        if marker.is_file():
            found = _linked(candidate, marker)
            if found is not None:
                return found
    return None


def _linked(top: Path, marker: Path) -> _Checkout | None:
    """A worktree or submodule, whose `.git` is a file that names another folder."""
    try:
        text = marker.read_text(encoding="utf-8", errors="replace")[:4096].strip()
        if not text.startswith("gitdir:"):
            return None
        git_dir = (top / text.removeprefix("gitdir:").strip()).resolve(strict=True)
        pointer = git_dir / "commondir"
        if pointer.is_file():
            common = (git_dir / pointer.read_text(encoding="utf-8").strip()).resolve(strict=True)
            return _Checkout(top, common, git_dir.name)
        return _Checkout(top, git_dir)
    except (OSError, RuntimeError, UnicodeDecodeError):
        return None


def _remote(common: Path) -> str | None:
    """The canonical remote of a repository: `origin`, else `upstream`, else the first by name."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True, delimiters=("=",))
    try:
        with (common / "config").open(encoding="utf-8", errors="replace") as handle:
            text = handle.read(_MAX_CONFIG)
        parser.read_string("\n".join(line.lstrip() for line in text.split("\n")))
    except (OSError, configparser.Error):
        return None
    remotes: dict[str, str] = {}
    for section in parser.sections():
        match = re.fullmatch(r'remote "(.+)"', section)
        url = parser.get(section, "url", fallback=None)
        canonical = canonical_remote(url) if match and url else None
        if match and canonical:
            remotes[match[1]] = canonical
    for name in ("origin", "upstream", *sorted(remotes)):
        if name in remotes:
            return remotes[name]
    return None


def _declared(folder: Path, top: Path | None) -> tuple[Path | None, str | None, bool]:
    """The nearest folder, within the checkout, whose `.mkg.toml` declares a project.

    With it the project's name and whether worktrees are projects of their own.
    """
    path = project_file(folder)
    if path is None or (top is not None and top not in (path.parent, *path.parent.parents)):
        return None, None, False
    try:
        data = read_project_file(path)
    except ConfigError:
        # A broken file must not move the memory to another project: it still marks the folder.
        data = {}
    name = data.get("name")
    shown = name if isinstance(name, str) and name.strip() else None
    return path.parent.resolve(), shown, data.get("worktrees") == "separate"


def _local_id(settings: Settings, key: str, remote: str | None) -> str:
    """The id of a checkout or folder, remembered under MKG_HOME.

    A remote names itself unless this machine already knows the checkout (or the remote) by a local
    id: then that id stays, or the memory of the time before would be lost.
    """
    ledger = settings.paths.projects
    private_dir(settings.home)
    with (settings.home / ".projects.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            data = as_object(json.loads(ledger.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            data = {}
        local: dict[str, str] = data.setdefault("local", {})
        alias: dict[str, str] = data.setdefault("alias", {})
        before = json.dumps(data, sort_keys=True)
        if remote is None:
            found = local.setdefault(key, f"local/{uuid.uuid4().hex[:16]}")
        elif remote in alias:
            found = alias[remote]
        elif key in local:
            found = alias[remote] = local[key]
        else:
            found = remote
        if json.dumps(data, sort_keys=True) != before:
            write_private(ledger, json.dumps(data, indent=1, sort_keys=True))
    return found
