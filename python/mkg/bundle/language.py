"""Asks Neo4j's own language package about queries: one Node process for all of them.

The package and its driver lie in `tests/contract/language/` of a checkout and are not shipped. Its
semantic analysis takes half a second a query, so verdicts are kept beside the installed package,
by a hash of everything they depend on.
"""

import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mkg.bundle import catalog as catalogs
from mkg.bundle.catalog import Catalog, Entry
from mkg.bundle.files import root
from mkg.bundle.header import QuerySpec
from mkg.bundle.model import Model
from mkg.errors import BundleError

WIDTH = 120
"""Columns the formatter lays a query out in."""
_OLDEST_NODE = 20
_Verdict = dict[str, Any]


class LanguageAway(BundleError):
    """The language package cannot be asked here; the message says why."""


@dataclass(frozen=True, slots=True)
class Write:
    """One thing a query creates, changes or deletes; `kind` is label, type or unknown."""

    how: str
    kind: str
    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the package says of one body."""

    diagnostics: tuple[tuple[int, str], ...]
    formatted: str
    columns: Mapping[str, tuple[str, ...]]
    writes: tuple[Write, ...]


def folder() -> Path:
    """Where the driver lies in a checkout."""
    return root("cypher").parent / "tests" / "contract" / "language"


def stored_catalog() -> Path:
    """The catalog of the pinned server in a checkout."""
    return root("cypher").parent / "tests" / "server_catalog.json"


def analyse(
    queries: Iterable[QuerySpec], model: Model, catalog: Catalog, *, room: Path | None = None
) -> dict[str, Analysis]:
    """What the package says of each query, by query name.

    Args:
        room: the folder of the driver; the checkout's when not given.

    Raises:
        LanguageAway: no checkout, no Node, or the package could not be installed.
    """
    room = room or folder()
    asked = {query.name: _question(query, model, catalog) for query in queries}
    stamp = _stamp(room)
    keys = {name: _digest(stamp, question) for name, question in asked.items()}
    kept = _kept(room)
    wanted = {name: q for name, q in asked.items() if keys[name] not in kept}
    if wanted:
        answers = _ask(room, list(wanted.values()))
        kept |= {keys[name]: answer for name, answer in zip(wanted, answers, strict=True)}
        _keep(room, kept)
    return {name: _analysis(kept[key]) for name, key in keys.items()}


def _question(query: QuerySpec, model: Model, catalog: Catalog) -> Entry:
    # Only the names that stand in the body: nothing else can change the verdict, and the verdict
    # is kept until one of them does.
    body = query.body
    called = catalogs.called(catalog, body)
    return {
        "text": body,
        "parameters": [p.name for p in query.params],
        "columns": [c.name for c in query.returns],
        "labels": [name for name in sorted(model.labels) if name in body],
        "relationshipTypes": [name for name in sorted(model.relationships) if name in body],
        "propertyKeys": [name for name in sorted(model.properties) if name in body],
        "graphSchema": [
            {"from": link.start, "to": link.end, "relType": name}
            for name, links in sorted(model.relationships.items())
            if name in body
            for link in links
        ],
        "procedures": {
            name: _signature(name, entry)
            | {"mode": entry["mode"], "worksOnSystem": False, "admin": False}
            for name, entry in sorted(called.procedures.items())
        },
        "functions": {
            name: _signature(name, entry)
            | {"isBuiltIn": entry["built_in"], "aggregating": entry["aggregating"], "category": ""}
            for name, entry in sorted(called.functions.items())
        },
    }


def _signature(name: str, entry: Entry) -> Entry:
    """An entry of the catalog in the package's own words."""
    arguments, returns = entry["arguments"], entry["returns"]
    given = ", ".join(
        f"{a[0]} = {a[2]} :: {a[1]}" if len(a) > 2 else f"{a[0]} :: {a[1]}" for a in arguments
    )
    single = isinstance(returns, str)
    back = returns if single else "(" + ", ".join(f"{r[0]} :: {r[1]}" for r in returns) + ")"
    deprecated = "deprecated" in entry
    return {
        "name": name,
        "description": "",
        "signature": f"{name}({given}) :: {back}",
        "argumentDescription": [_described(a) for a in arguments],
        "returnDescription": returns if single else [_described(r) for r in returns],
        "isDeprecated": deprecated,
        "option": {"deprecated": deprecated},
        "deprecatedBy": entry.get("deprecated") or None,
    }


def _described(item: list[str]) -> Entry:
    made: Entry = {"name": item[0], "type": item[1], "description": "", "isDeprecated": False}
    return made | ({"default": item[2]} if len(item) > 2 else {})


def _analysis(verdict: _Verdict) -> Analysis:
    return Analysis(
        tuple((d["line"], d["message"]) for d in verdict["diagnostics"]),
        verdict["formatted"],
        {name: tuple(types) for name, types in verdict["columns"].items()},
        tuple(Write(w["how"], w["kind"], w["name"], tuple(w["keys"])) for w in verdict["writes"]),
    )


def _ask(room: Path, questions: list[Entry]) -> list[_Verdict]:
    node = _node()
    if not (room / "node_modules" / ".package-lock.json").exists():
        _install(room)
    catalog: Entry = {"procedures": {}, "functions": {}}
    for question in questions:
        for kind in ("procedures", "functions"):
            catalog[kind] |= question.pop(kind)
    request = {"width": WIDTH, "catalog": catalog, "queries": questions}
    done = subprocess.run(
        [node, str(room / "analyse.mjs")],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode != 0:
        raise BundleError(f"the language package failed: {done.stderr.strip()[-600:]}")
    return cast("list[_Verdict]", json.loads(done.stdout))


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise LanguageAway(f"there is no node on the PATH; install Node {_OLDEST_NODE} or newer")
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = told.strip().lstrip("v").split(".")[0]
    if not major.isdigit() or int(major) < _OLDEST_NODE:
        raise LanguageAway(f"node is {told.strip() or 'broken'}; {_OLDEST_NODE} or newer is needed")
    return node


def _install(room: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise LanguageAway("there is no npm on the PATH")
    with (room / "package.json").open(encoding="utf-8") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not (room / "node_modules" / ".package-lock.json").exists():
            _ci(npm, room)


def _ci(npm: str, room: Path) -> None:
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=room,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise LanguageAway(f"npm could not install the language package: {done.stderr[-400:]}")


def _stamp(room: Path) -> str:
    """What every verdict depends on."""
    try:
        parts = [(room / name).read_bytes() for name in ("analyse.mjs", "package-lock.json")]
    except OSError:
        raise LanguageAway("the language package is driven from a checkout only") from None
    return hashlib.sha256(b"\0".join([*parts, str(WIDTH).encode()])).hexdigest()


def _digest(stamp: str, question: Entry) -> str:
    return hashlib.sha256((stamp + json.dumps(question, sort_keys=True)).encode()).hexdigest()


def _kept(room: Path) -> dict[str, _Verdict]:
    try:
        return cast("dict[str, _Verdict]", json.loads(_store(room).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _keep(room: Path, verdicts: dict[str, _Verdict]) -> None:
    newest = dict(list(verdicts.items())[-500:])
    path = _store(room)
    part = path.with_suffix(".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_text(json.dumps(newest), encoding="utf-8")
    part.replace(path)


def _store(room: Path) -> Path:
    return room / "node_modules" / ".cache" / "verdicts.json"
