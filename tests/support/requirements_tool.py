"""Keeps `tests/requirements.toml` and the tests in step.

A test claims ids with `@requirement(...)`; claims are read from the source text, not by importing.
`python -m tests.support.requirements_tool sync` rewrites the ledger and the generated part of
README, `report` counts, `show ID` names the tests of one id.
"""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEDGER = "tests/requirements.toml"
README = "README.md"
BEGIN, END = "<!-- generated:differs -->", "<!-- /generated:differs -->"

STATUSES = ("met", "planned", "superseded", "not-taken")
FEATURES = frozenset(
    {
        *(
            "timeline",
            "learnings",
            "gate",
            "profile",
            "skills",
            "query_errors",
            "diffbot",
            "catalog",
        ),
        *(
            "sales_demo",
            "enrichment",
            "encounters",
            "entities",
            "orient",
            "infuse",
            "reader",
            "ops",
        ),
    }
)
ROOMS = frozenset(
    {
        *("bundle", "migrate", "localdb", "db", "worker", "hooks", "server", "cli"),
        *("project", "bench"),
    }
)
SECTIONS = {
    "MEM-T": "Memory: acceptance cases",
    "MEM-W": "Memory: requirements",
    "ENC-W": "Encounters: requirements",
    "SV": "Encounters: registry, validation, spine, panel arithmetic",
    "IN": "Encounters: infuse",
    "HK": "Encounters: the prompt hook",
    "VO": "Encounters: voices",
    "ME": "Encounters: meanings",
    "RD": "Encounters: the reader face",
    "ML": "Encounters: moving loci",
    "MT": "Encounters: threading an old history",
    "SS": "Encounters: the start hook",
    "T": "Encounters: the recall gate",
    "LV": "Encounters: on a live server",
    "AD": "Encounters: our additions",
    "CL": "Clients",
    "SEC": "Security",
    "NEO": "Neo4j",
    "PERF": "Performance",
    "B": "Cases: faults users reported",
    "ADV": "Cases: attacks and honest controls",
    "CG": "Cases: queries for the read gate",
}
HEADER = """\
# Every requirement of the product, by id. Ids are never reused.
# slug: the feature or room that owns it.
# status: met (a test claims it), planned, superseded (by what), not-taken (for which reason).
# `make ledger` writes 'met' and 'planned' from the tests' @requirement(...) marks; rest by hand.
# A claim on a superseded id proves what replaced it.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    section: str
    slug: str
    status: str
    what: str
    by: str | None = None
    reason: str | None = None
    issue: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    id: str
    test: str


@dataclass(frozen=True, slots=True)
class Claims:
    made: tuple[Claim, ...]
    unreadable: tuple[str, ...]

    def by_id(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for claim in self.made:
            found.setdefault(claim.id, []).append(claim.test)
        return found


def load(text: str) -> list[Entry]:
    """Read the ledger. Raises `ValueError` naming each entry that is not well formed."""
    problems: list[str] = []
    entries: list[Entry] = []
    for section, rows in tomllib.loads(text).items():
        for id_, row in rows.items():
            try:
                entry = Entry(id=id_, section=section, **row)
            except TypeError as error:
                problems.append(f"{id_}: {error}")
                continue
            problems.extend(f"{id_}: {fault}" for fault in _faults(entry))
            entries.append(entry)
    if problems:
        raise ValueError("tests/requirements.toml: " + "; ".join(problems))
    return entries


def _faults(entry: Entry) -> Iterator[str]:
    if entry.section not in SECTIONS:
        yield f"unknown section {entry.section!r}"
    elif not re.fullmatch(re.escape(entry.section) + r"-?[A-Z]?\d+", entry.id):
        yield f"does not belong to section {entry.section}"
    if entry.status not in STATUSES:
        yield f"unknown status {entry.status!r}, use one of {', '.join(STATUSES)}"
    if entry.slug not in FEATURES | ROOMS:
        yield f"unknown slug {entry.slug!r}"
    if not entry.what or "\n" in entry.what or len(entry.what) > 160:
        yield "`what` is one line of 1 to 160 characters"
    if (entry.by is not None) != (entry.status == "superseded"):
        yield "`by` goes with status superseded, and only with it"
    if (entry.reason is not None) != (entry.status == "not-taken"):
        yield "`reason` goes with status not-taken, and only with it"


def claims(root: Path = ROOT) -> Claims:
    """Collect the claims of all test files from their source."""
    made: list[Claim] = []
    unreadable: list[str] = []
    for path in sorted((root / "tests").rglob("*.py")):
        if path.name in {"requirement.py", "requirements_tool.py"}:
            continue
        where = path.relative_to(root).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=where)
        lists, off = _constants(tree), _switched_off(tree)
        for call, owner in _requirement_calls(tree):
            if owner is None or not path.name.startswith("test_"):
                unreadable.append(f"{where}:{call.lineno}: the claim is not on a test")
                continue
            if owner in off:
                unreadable.append(f"{where}:{call.lineno}: the test is switched off")
                continue
            for argument in call.args:
                ids = _ids(argument, lists)
                if ids is None:
                    unreadable.append(
                        f"{where}:{call.lineno}: ids are string literals or a constant list of them"
                    )
                else:
                    made.extend(Claim(id_, f"{where}::{owner}") for id_ in ids)
    return Claims(tuple(made), tuple(unreadable))


def _requirement_calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str | None]]:
    seen: set[ast.Call] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = node.name if node.name.startswith("test_") else None
            for decorator in node.decorator_list:
                for call in _calls(decorator):
                    seen.add(call)
                    yield call, owner
    # Marks on the rows of a table, `pytest.param(..., marks=requirement("B1"))`, stand outside.
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for call in _calls(statement):
                yield call, "module"
                seen.add(call)
    yield from ((call, None) for call in _calls(tree) if call not in seen)


def _switched_off(tree: ast.Module) -> set[str]:
    """Tests that never run or may fail; a condition (a platform, a download) is another matter."""
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).split("(")[0] in {"pytest.mark.skip", "pytest.mark.xfail"}
    }


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func).split(".")[-1] == "requirement":
            yield inner


def _constants(tree: ast.Module) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values = _strings(node.value)
            if values is not None:
                found[node.targets[0].id] = values
    return found


def _strings(node: ast.expr) -> list[str] | None:
    if not isinstance(node, ast.Tuple | ast.List):
        return None
    values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
    strings = [value for value in values if isinstance(value, str)]
    return strings if len(strings) == len(node.elts) else None


def _ids(argument: ast.expr, lists: Mapping[str, list[str]]) -> list[str] | None:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return [argument.value]
    if isinstance(argument, ast.Starred):
        if isinstance(argument.value, ast.Name):
            return lists.get(argument.value.id)
        return _strings(argument.value)
    return None


def faults(entries: Sequence[Entry], found: Claims) -> list[str]:
    """What does not fit between ledger and tests, one line each."""
    known = {entry.id: entry for entry in entries}
    claimed = found.by_id()
    lines = list(found.unreadable)
    for id_, tests in claimed.items():
        status = known[id_].status if id_ in known else None
        if status is None:
            lines.append(f"{id_}: claimed by {tests[0]}, but there is no such id")
        elif status == "not-taken":
            lines.append(f"{id_}: claimed by {tests[0]}, but recorded as not taken")
        elif status == "planned":
            lines.append(
                f"{id_}: claimed by {tests[0]}, but recorded as planned; run `make ledger`"
            )
    lines.extend(
        f"{entry.id}: recorded as met, but no test claims it; run `make ledger`"
        for entry in entries
        if entry.status == "met" and entry.id not in claimed
    )
    return lines


def settled(entries: Sequence[Entry], found: Claims) -> list[Entry]:
    """The ledger with 'met' and 'planned' as the tests have it."""
    claimed = found.by_id()
    return [
        replace(entry, status="met" if entry.id in claimed else "planned")
        if entry.status in {"met", "planned"}
        else entry
        for entry in entries
    ]


def render(entries: Sequence[Entry]) -> str:
    """The ledger's text: sections in order, one entry a line, natural order of ids."""
    parts = [HEADER]
    for section, title in SECTIONS.items():
        rows = sorted((e for e in entries if e.section == section), key=lambda e: _natural(e.id))
        if rows:
            parts.append(f"\n# {title}\n[{section}]\n" + "".join(_line(row) for row in rows))
    return "".join(parts)


def _natural(id_: str) -> list[str | int]:
    return [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", id_)]


def _line(entry: Entry) -> str:
    fields = ("slug", "status", "what", "by", "reason", "issue")
    values = ((name, getattr(entry, name)) for name in fields)
    body = ", ".join(
        f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in values if v is not None
    )
    return f"{entry.id} = {{ {body} }}\n"


def differs(entries: Sequence[Entry]) -> str:
    """The generated part of README: what was replaced, left out, or put right."""
    ordered = sorted(entries, key=lambda e: (list(SECTIONS).index(e.section), _natural(e.id)))
    lines: list[str] = []
    for title, header, rows in (
        (
            "Replaced by a decision of our own:",
            ("what upstream does", "what stands here instead"),
            [(e.id, e.what, e.by or "") for e in ordered if e.status == "superseded"],
        ),
        (
            "Not taken over:",
            ("what upstream does", "why not"),
            [(e.id, e.what, e.reason or "") for e in ordered if e.status == "not-taken"],
        ),
        (
            "Put right, each with a test that fails when it is undone:",
            ("what holds here",),
            [
                (e.id, e.what)
                for e in ordered
                if e.status == "met" and e.section in {"MEM-W", "ENC-W"}
            ],
        ),
    ):
        if rows:
            lines += [
                "",
                title,
                "",
                _row(("id", *header)),
                _row(["---"] * (len(header) + 1)),
                *map(_row, rows),
            ]
    return "\n".join([BEGIN, *(lines[1:] or ["Nothing so far."]), END])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def with_generated(readme: str, entries: Sequence[Entry]) -> str:
    """README with its generated part renewed. Raises `ValueError` when the markers are missing."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1:
        raise ValueError(f"README.md needs the line {BEGIN} and the line {END}, once each")
    before, rest = readme.split(BEGIN)
    return before + differs(entries) + rest.split(END)[1]


def sync(root: Path = ROOT) -> list[str]:
    """Rewrite ledger and README from the tests; returns what only a person can put right."""
    ledger, readme, found = root / LEDGER, root / README, claims(root)
    entries = settled(load(ledger.read_text(encoding="utf-8")), found)
    ledger.write_text(render(entries), encoding="utf-8")
    if readme.exists():
        readme.write_text(
            with_generated(readme.read_text(encoding="utf-8"), entries), encoding="utf-8"
        )
    return faults(entries, found)


def report(entries: Sequence[Entry]) -> str:
    """Counts by section and status."""
    lines = [f"{'':7}" + "".join(f"{status:>12}" for status in STATUSES)]
    for section in (*SECTIONS, "all"):
        rows = [e for e in entries if section in {e.section, "all"}]
        lines.append(
            f"{section:7}" + "".join(f"{sum(e.status == s for e in rows):>12}" for s in STATUSES)
        )
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    match list(arguments):
        case ["sync"]:
            left = sync()
            print(
                "\n".join(left) if left else "requirements.toml and README.md agree with the tests"
            )
            return 1 if left else 0
        case ["report"]:
            print(report(load((ROOT / LEDGER).read_text(encoding="utf-8"))))
            return 0
        case ["show", id_]:
            rows = [e for e in load((ROOT / LEDGER).read_text(encoding="utf-8")) if e.id == id_]
            print(
                "".join(map(_line, rows)) or f"no id {id_}\n",
                *claims().by_id().get(id_, []),
                sep="\n  ",
            )
            return 0 if rows else 1
        case _:
            print(
                "usage: python -m tests.support.requirements_tool sync | report | show ID",
                file=sys.stderr,
            )
            return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
