"""`cypher/bundle.lock`: what each query promises, and what the last release promised (A7).

Source: style 4.5. The lock holds two lists: the queries as they stand, and as they stood when the
bundle was released last. The bump that a change demands is the difference between the two; before
the first release nothing was promised, so nothing is demanded.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from mkg.bundle.findings import Finding
from mkg.bundle.header import QuerySpec
from mkg.bundle.loader import Bundle
from mkg.errors import BundleError

Bump = Literal["none", "patch", "minor", "major"]
Entry = dict[str, Any]
_ORDER: tuple[Bump, ...] = ("none", "patch", "minor", "major")
_TOKEN = re.compile(
    r"(?P<kept>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)|//[^\n]*|/\*.*?\*/|\s+", re.S
)
_BRACKETS = re.compile(r" ?([()\[\]{},]) ?")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference to the release, and the least bump it demands."""

    query: str
    bump: Bump
    what: str

    def __str__(self) -> str:
        return f"{self.bump:<5}  {self.query}: {self.what}"


@dataclass(frozen=True, slots=True)
class Lock:
    """The file: entries by query name; `released` is None before the first release."""

    version: str
    queries: dict[str, Entry]
    released: str | None
    promised: dict[str, Entry]


def locked(bundle: Bundle, before: Lock | None) -> Lock:
    """The lock of the bundle as it stands, on the release of the lock before."""
    entries = {name: _entry(query) for name, query in bundle.queries.items()}
    released, promised = (before.released, before.promised) if before else (None, {})
    return Lock(bundle.version, entries, released, promised)


def release(lock: Lock) -> Lock:
    """The lock at a release: what stands is what was promised."""
    return Lock(lock.version, lock.queries, lock.version, lock.queries)


def changes(lock: Lock) -> list[Change]:
    """What differs from the last release, the gravest first."""
    if lock.released is None:
        return []
    old, new = lock.promised, lock.queries
    found = [Change(name, "major", "removed") for name in sorted(old.keys() - new.keys())]
    found += [Change(name, "minor", "added") for name in sorted(new.keys() - old.keys())]
    for name in sorted(old.keys() & new.keys()):
        found += [Change(name, bump, what) for bump, what in _differences(old[name], new[name])]
    return sorted(found, key=lambda change: -_ORDER.index(change.bump))


def least(lock: Lock) -> str:
    """The lowest version that this bundle may carry.

    Raises:
        BundleError: the released version is not three numbers.
    """
    if lock.released is None:
        return "0.0.0"
    major, minor, patch = _numbers(lock.released)
    demanded = max((_ORDER.index(change.bump) for change in changes(lock)), default=0)
    if _ORDER[demanded] == "major":
        return f"{major + 1}.0.0"
    if _ORDER[demanded] == "minor":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + (1 if _ORDER[demanded] == 'patch' else 0)}"


def locking(bundle: Bundle, path: Path) -> Iterator[Finding]:
    """A7: the lock is current, the version is high enough, and nothing outlived its `@until`."""
    try:
        lock = read(path)
    except BundleError as error:
        yield Finding("A7", path.name, str(error))
        return
    now = locked(bundle, lock)
    for name in sorted(now.queries.keys() | lock.queries.keys()):
        if now.queries.get(name) != lock.queries.get(name):
            yield Finding("A7", name, "bundle.lock is behind; run: make lock-bundle")
    if lock.version != bundle.version:
        told = f"bundle.lock is of {lock.version}, bundle.toml says {bundle.version}"
        yield Finding("A7", path.name, f"{told}; run: make lock-bundle")
    if _numbers(bundle.version) < _numbers(least(now)):
        told = f"version {bundle.version} is too low: at least {least(now)}"
        yield Finding(
            "A7", "bundle.toml", f"{told}, for {changes(now)[0].what} of {changes(now)[0].query}"
        )
    for name, query in bundle.queries.items():
        if query.until and _numbers(query.until) <= _numbers(bundle.version):
            yield Finding("A7", name, f"was kept until {query.until}; delete it")


def read(path: Path) -> Lock:
    """A lock file.

    Raises:
        BundleError: it is missing or is none of ours.
    """
    try:
        data = cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))
        past = cast("dict[str, Any] | None", data["released"])
        if past is None:
            return Lock(data["version"], data["queries"], None, {})
        return Lock(data["version"], data["queries"], past["version"], past["queries"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        told = f"{path.name} cannot be used ({type(error).__name__}); run: make lock-bundle"
        raise BundleError(told) from None


def text(lock: Lock) -> str:
    """The file's content: one query a line, so that two branches seldom meet."""
    past = "null"
    if lock.released is not None:
        past = f'{{"version": "{lock.released}", "queries": {_lines(lock.promised)}}}'
    now = f'"version": "{lock.version}",\n"queries": {_lines(lock.queries)}'
    return f'{{{now},\n"released": {past}}}\n'


def _lines(entries: Mapping[str, Entry]) -> str:
    rows = (f"{json.dumps(name)}: {json.dumps(entries[name])}" for name in sorted(entries))
    return "{\n" + ",\n".join(rows) + "\n}"


def _entry(query: QuerySpec) -> Entry:
    signature = {
        "mode": query.mode,
        "card": query.card,
        "params": [[p.name, str(p.type)] for p in query.params],
        "returns": [[c.name, str(c.type)] for c in query.returns],
    }
    return {"body": _hash(normalised(query.body)), "signature": _hash(json.dumps(signature))} | (
        signature
    )


def normalised(body: str) -> str:
    """A body without comments and layout; quoted text stays as it is."""
    plain = _TOKEN.sub(lambda match: match["kept"] or " ", body).strip()
    return _BRACKETS.sub(r"\1", re.sub(r" +", " ", plain))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def _differences(old: Entry, new: Entry) -> Iterator[tuple[Bump, str]]:
    for key in ("mode", "card"):
        if old[key] != new[key]:
            yield "major", f"@{key} {old[key]} became {new[key]}"
    yield from _params(dict(old["params"]), dict(new["params"]))
    yield from _columns(old["returns"], new["returns"])
    if old["body"] != new["body"]:
        yield "patch", "body"


def _params(old: dict[str, str], new: dict[str, str]) -> Iterator[tuple[Bump, str]]:
    for name, kind in old.items():
        if name not in new:
            yield "major", f"parameter {name} removed"
        elif new[name] != kind:
            yield "major", f"parameter {name} {kind} became {new[name]}"
    for name in (name for name in new if name not in old):
        nullable = not new[name].endswith(" NOT NULL")
        yield "minor" if nullable else "major", f"parameter {name} {new[name]} added"


def _columns(old: list[list[str]], new: list[list[str]]) -> Iterator[tuple[Bump, str]]:
    if new[: len(old)] != old:
        yield "major", "columns removed, renamed, retyped or moved"
    elif len(new) > len(old):
        yield "minor", "columns added at the end"


def _numbers(version: str) -> tuple[int, int, int]:
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version)
    if found is None:
        raise BundleError(f"{version!r} is not a version of three numbers")
    return int(found[1]), int(found[2]), int(found[3])
