"""What an installation changes, doing it, and undoing it.

A plan is made first, for every file, and shown; nothing is written before all of it is known to
work. What a file held before is backed up, so that an unchanged file comes back byte for byte.
"""

import compileall
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mkg import __version__
from mkg.bundle.files import root
from mkg.errors import ConfigError, MkgError, Refused
from mkg.install import edits, files, lines
from mkg.install.clients import CLIENTS, CUSTOM, SERVER, Client, Place, Scope
from mkg.install.ledger import Install, Ledger, Record, digest
from mkg.settings import Settings
from mkg_hooks.redact import redact


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after; `original` is what it would hold without us."""

    place: Place
    before: bytes | None
    after: bytes | None
    original: bytes | None = None

    @property
    def action(self) -> str:
        """create, change, delete or keep."""
        if self.before == self.after:
            return "keep"
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "change"

    def diff(self) -> str:
        """A unified diff; secrets that stand beside our lines are masked."""
        old, new = (
            (content or b"").decode("utf-8").splitlines() for content in (self.before, self.after)
        )
        path = str(self.place.path)
        names = ("/dev/null" if self.before is None else path, path)
        if self.after is None:
            names = (path, "/dev/null")
        shown = "\n".join(difflib.unified_diff(old, new, *names, n=2, lineterm=""))
        return redact(shown)[0]


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one command."""

    client: Client
    scope: Scope
    folder: str
    changes: tuple[Change, ...]
    removes: bool = False

    @property
    def changes_something(self) -> bool:
        return any(change.action != "keep" for change in self.changes)


def client_of(name: str) -> Client:
    """The client of a name.

    Raises:
        Refused: there is none.
    """
    if name not in CLIENTS:
        raise Refused(f"{name!r} is no client; known are {', '.join(CLIENTS)} and custom:NAME")
    return CLIENTS[name]


def _ours(settings: Settings, client: Client, scope: Scope, place: Place) -> edits.Ours:
    return edits.Ours(client, place, lines.script_path(settings), scope)


def project_folder(scope: Scope, folder: Path) -> str:
    """The project's folder as the ledger names it; "" for the user's scope."""
    return "" if scope == "user" else str(folder.resolve())


def plan_install(
    settings: Settings, name: str, *, scope: Scope, env: Mapping[str, str], folder: Path
) -> Plan:
    """What an installation would change; changes nothing.

    Raises:
        ConfigError: a file is broken.
        Refused: a file cannot be edited safely.
    """
    client, ledger = client_of(name), Ledger(settings.home)
    project = project_folder(scope, folder)
    changes: list[Change] = []
    for place in client.files(scope, env, Path(project or ".")):
        ours = _ours(settings, client, scope, place)
        before = files.read(place.path)
        text = files.text_of(place.path, before)
        after = edits.put(ours, text)
        content = before if after == text else after.encode("utf-8")
        changes.append(Change(place, before, content, _original(ledger, ours, before)))
    return Plan(client, scope, project, tuple(changes))


def _original(ledger: Ledger, ours: edits.Ours, before: bytes | None) -> bytes | None:
    """The file as it would be had we never been there."""
    if before is None:
        return None
    record = ledger.record(ours.place.path)
    try:
        known = ledger.original(record) if record else None
    except OSError:
        record, known = None, None
    if record is not None and digest(before) == record.written:
        return known
    text = before.decode("utf-8")
    if not edits.is_there(ours, text):
        return before
    return _without(ours, text, known)


def _without(ours: edits.Ours, text: str, known: bytes | None) -> bytes | None:
    """The text without ours; None when nothing but what we put there is left."""
    keep = edits.read(ours, known.decode("utf-8")) if known else None
    left = edits.take(ours, text, keep)
    said = edits.read(ours, left)
    if known is None and (not said or said == dict(ours.client.base)) and not _remarks(left):
        return None
    return left.encode("utf-8")


def _remarks(text: str) -> bool:
    """Say whether a text without a value still holds a comment."""
    return "//" in text or "/*" in text or any(x.strip().startswith("#") for x in text.splitlines())


def plan_uninstall(
    settings: Settings, name: str, *, scope: Scope, env: Mapping[str, str], folder: Path
) -> Plan:
    """What taking an installation away would change; changes nothing.

    Raises:
        ConfigError: a file is broken.
        Refused: a file cannot be edited safely.
    """
    client, ledger = client_of(name), Ledger(settings.home)
    project = project_folder(scope, folder)
    places = list(client.files(scope, env, Path(project or ".")))
    known = ledger.find(name, scope, project)
    # A variable may have led elsewhere when it was installed.
    named = {str(place.path) for place in places}
    places += [r.place() for r in (known.files if known else ()) if r.path not in named]
    changes: list[Change] = []
    for place in places:
        ours = _ours(settings, client, scope, place)
        before = files.read(place.path)
        text = files.text_of(place.path, before)
        there = text is not None and edits.is_there(ours, text)
        after = _original(ledger, ours, before) if there else before
        changes.append(Change(place, before, after))
    return Plan(client, scope, project, tuple(changes), removes=True)


def apply(settings: Settings, plan: Plan) -> None:
    """Carry a plan out; when one file fails, those before it get their content back.

    Raises:
        MkgError: a file could not be written; everything is as before.
    """
    ledger = Ledger(settings.home)
    if not plan.removes:
        lines.write_script(settings)
        compile_hooks()
        _note(ledger, plan)
    private = plan.scope == "user"
    done: list[Change] = []
    try:
        for change in plan.changes:
            if change.action != "keep":
                files.replace(change.place.path, change.before, change.after, private=private)
                done.append(change)
    except MkgError:
        for change in reversed(done):
            files.replace(change.place.path, change.after, change.before, private=private)
        raise
    if plan.removes:
        _clear(settings, ledger, plan)


def _note(ledger: Ledger, plan: Plan) -> None:
    """Write down what is about to be written: a crash in between must find the backup."""
    records: list[Record] = []
    for change in plan.changes:
        path = change.place.path
        former = ledger.record(path)
        folders = former.folders if former else [str(f) for f in files.missing_folders(path)]
        assert change.after is not None
        kept = ledger.keep(path, change.original)
        place = change.place
        servers = None if place.servers is None else list(place.servers)
        written = digest(change.after)
        records.append(Record(str(path), kept, written, folders, place.hooks, servers, place.toml))
    ledger.note(Install(plan.client.name, plan.scope, plan.folder, __version__, records))


def _clear(settings: Settings, ledger: Ledger, plan: Plan) -> None:
    """Remove the folders that were made for it, and with the last installation the script."""
    known = ledger.find(plan.client.name, plan.scope, plan.folder)
    if known is None:
        return
    for folder in sorted({f for r in known.files for f in r.folders}, key=len, reverse=True):
        try:
            Path(folder).rmdir()
        except OSError:
            continue
    ledger.forget(known)
    if not ledger.installs:
        lines.script_path(settings).unlink(missing_ok=True)


def compile_hooks() -> None:
    """Leave bytecode beside the launcher's modules, where that folder is ours to write."""
    compileall.compile_dir(str(root("hooks")), quiet=2)


def custom(settings: Settings, name: str) -> dict[str, Any]:
    """What a person registers with a program of their own.

    Raises:
        Refused: the name is not of the form custom:NAME.
    """
    if not CUSTOM.fullmatch(name):
        raise Refused("write custom:NAME, with lower-case letters, digits and hyphens in NAME")
    script = lines.script_path(settings)
    command, args = lines.server_command(script)
    return {
        "hook": lines.hook_line(script, name, "EVENT"),
        "server": {"mcpServers": {SERVER: {"command": command, "args": args}}},
    }


def state(settings: Settings, install: Install) -> dict[str, str]:
    """How each file of an installation stands: whole, changed, gone, or unreadable."""
    client = CLIENTS[install.client]
    scope: Scope = "project" if install.scope == "project" else "user"
    found: dict[str, str] = {}
    for record in install.files:
        path = Path(record.path)
        ours = _ours(settings, client, scope, record.place())
        try:
            text = files.text_of(path, files.read(path))
            whole = text is not None and edits.is_whole(ours, text)
            some = text is not None and edits.is_there(ours, text)
        except ConfigError:
            found[record.path] = "unreadable"
            continue
        found[record.path] = "whole" if whole else "changed" if some else "gone"
    return found


def json_of(plan: Plan, applied: bool) -> str:
    """A plan for a program."""
    rows = [{"path": str(c.place.path), "action": c.action, "diff": c.diff()} for c in plan.changes]
    return json.dumps(
        {
            "client": plan.client.name,
            "scope": plan.scope,
            "folder": plan.folder or None,
            "files": rows,
            "applied": applied,
        },
        indent=2,
    )
