"""The ledger of requirements and the tests agree, in both directions."""

import json
from pathlib import Path

import pytest

from tests.support import requirements_tool as tool

ROOT = Path(__file__).resolve().parents[1]

# Every id there is. Ids are never reused, so a new one is added here and an old one stays.
NUMBERS = {
    "MEM-T": [range(1, 217)],
    "MEM-W": [range(1, 80)],
    "ENC-W": [range(1, 126)],
    "SV": [range(1, 50)],
    "IN": [range(1, 36)],
    "HK": [range(1, 13)],
    "VO": [range(1, 16)],
    "ME": [range(1, 11)],
    "RD": [range(1, 7)],
    "ML": [range(1, 8)],
    "MT": [range(1, 6)],
    "SS": [range(1, 4)],
    "T": [range(1, 6)],
    "LV": [range(1, 13)],
    "AD": [range(1, 17)],
    "CL": [range(1, 45)],
    "SEC": [
        range(1, 14),
        range(20, 34),
        range(40, 67),
        range(70, 93),
    ],
    "NEO": [
        range(1, 13),
        range(20, 25),
        range(30, 32),
        range(40, 42),
        [50],
        range(60, 62),
        range(70, 75),
        range(80, 92),
        range(100, 104),
        range(110, 117),
        range(120, 126),
        range(130, 143),
    ],
    "PERF": [
        range(1, 9),
        range(10, 13),
        range(20, 25),
        range(30, 32),
        range(40, 47),
        range(50, 55),
        range(60, 63),
    ],
    "B": [range(1, 104, 2)],
    "CG": [range(1, 98, 2)],
}
LETTERED = {
    "A": range(2, 25, 2),
    "B": range(1, 8, 2),
    "C": range(2, 37, 2),
    "D": range(1, 16, 2),
    "E": range(2, 11, 2),
    "F": range(1, 16, 2),
    "G": range(2, 13, 2),
    "H": range(1, 14, 2),
}


@pytest.fixture(scope="module")
def entries() -> list[tool.Entry]:
    return tool.load((ROOT / tool.LEDGER).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found() -> tool.Claims:
    return tool.claims(ROOT)


def test_the_ledger_lists_every_id_and_no_other(entries):
    listed = {section: {e.id for e in entries if e.section == section} for section in tool.SECTIONS}
    for section, groups in NUMBERS.items():
        numbers = {int(id_.removeprefix(section).lstrip("-Q")) for id_ in listed[section]}
        assert numbers == {n for group in groups for n in group}, section
    assert listed["ADV"] == {
        f"ADV-{kind}{n:02}" for kind, numbers in LETTERED.items() for n in numbers
    }
    assert set(NUMBERS) | {"ADV"} == set(tool.SECTIONS)


def test_an_id_is_met_exactly_when_a_test_claims_it(entries, found):
    assert tool.faults(entries, found) == []


def test_the_ledger_is_written_as_the_tool_writes_it(entries):
    text = (ROOT / tool.LEDGER).read_text(encoding="utf-8")
    assert text == tool.render(entries), "run `make ledger`"


def test_the_generated_part_of_the_readme_is_current(entries):
    text = (ROOT / tool.README).read_text(encoding="utf-8")
    assert text == tool.with_generated(text, entries), "run `make ledger`"


def test_no_two_entries_say_the_same(entries):
    # Case rows are samples of a kind: several may well be described alike.
    said = [entry.what for entry in entries if entry.section not in {"B", "ADV", "CG"}]
    assert sorted({what for what in said if said.count(what) > 1}) == []


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("bugs.jsonl", ""), ("adversarial.jsonl", "ADV-"), ("cypher_gate.jsonl", "CG-")],
)
def test_every_case_row_in_the_tests_has_its_entry(entries, name, prefix):
    known = {entry.id for entry in entries}
    for path in (ROOT / "tests").rglob(name):
        rows = [
            json.loads(line)
            for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip()
        ]
        assert {prefix + row["id"] for row in rows} <= known


LEDGER = """
[MEM-W]
MEM-W01 = { slug = "db", status = "planned", what = "one" }
MEM-W02 = { slug = "db", status = "met", what = "two | three" }
[HK]
HK3 = { slug = "hooks", status = "superseded", what = "old way", by = "D26: new way" }
[SEC]
SEC-49 = { slug = "reader", status = "not-taken", what = "second server", reason = "no need" }
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / tool.LEDGER).write_text(LEDGER, encoding="utf-8")
    (tmp_path / tool.README).write_text(
        f"# x\n{tool.BEGIN}\nold\n{tool.END}\ny\n", encoding="utf-8"
    )

    def claim(source: str, name: str = "test_a.py") -> list[str]:
        (tmp_path / "tests" / name).write_text(source, encoding="utf-8")
        return tool.faults(
            tool.load((tmp_path / tool.LEDGER).read_text("utf-8")), tool.claims(tmp_path)
        )

    return claim


ON_A_TEST = "@requirement({})\ndef test_a():\n    assert True\n"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (ON_A_TEST.format('"MEM-W02"'), None),
        (ON_A_TEST.format('"MEM-W02", "HK3"'), None),
        (ON_A_TEST.format('*("MEM-W02",)'), None),
        ('IDS = ("MEM-W02",)\n' + ON_A_TEST.format("*IDS"), None),
        ('ROWS = [pytest.param(1, marks=requirement("MEM-W02"))]\n', None),
        ("", "MEM-W02: recorded as met, but no test claims it"),
        (
            ON_A_TEST.format('"MEM-W02", "MEM-W01"'),
            "MEM-W01: claimed by tests/test_a.py::test_a, but recorded as planned",
        ),
        (
            ON_A_TEST.format('"MEM-W02", "MEM-W99"'),
            "MEM-W99: claimed by tests/test_a.py::test_a, but there is no such id",
        ),
        (
            ON_A_TEST.format('"MEM-W02", "SEC-49"'),
            "SEC-49: claimed by tests/test_a.py::test_a, but recorded as not taken",
        ),
        (ON_A_TEST.format('"MEM-W02", f"MEM-W{n}"'), "tests/test_a.py:1: ids are string literals"),
        (ON_A_TEST.format('"MEM-W02", *IDS'), "tests/test_a.py:1: ids are string literals"),
        (
            '@requirement("MEM-W02")\ndef helps(): ...\n',
            "tests/test_a.py:1: the claim is not on a test",
        ),
        (
            '@pytest.mark.skip("later")\n' + ON_A_TEST.format('"MEM-W02"'),
            "tests/test_a.py:2: the test is switched off",
        ),
        (
            "@pytest.mark.xfail\n" + ON_A_TEST.format('"MEM-W02"'),
            "tests/test_a.py:2: the test is switched off",
        ),
    ],
)
def test_a_claim_that_does_not_fit_is_named(project, source, fault):
    found = project(source)
    assert not found if fault is None else any(line.startswith(fault) for line in found)


def test_sync_settles_the_statuses_and_the_readme_and_can_be_repeated(project, tmp_path):
    project(ON_A_TEST.format('"MEM-W01", "HK3"'))
    assert tool.sync(tmp_path) == []
    first = [(tmp_path / name).read_text("utf-8") for name in (tool.LEDGER, tool.README)]
    statuses = {e.id: e.status for e in tool.load(first[0])}
    assert statuses == {
        "MEM-W01": "met",
        "MEM-W02": "planned",
        "HK3": "superseded",
        "SEC-49": "not-taken",
    }
    assert "| MEM-W01 | one |" in first[1]
    assert "| HK3 | old way | D26: new way |" in first[1]
    assert "| SEC-49 | second server | no need |" in first[1]
    assert first[1].startswith("# x\n") and first[1].endswith("\ny\n")
    assert tool.sync(tmp_path) == []
    assert [(tmp_path / name).read_text("utf-8") for name in (tool.LEDGER, tool.README)] == first


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"planned"', '"soon"'), "unknown status"),
        (('slug = "db", status = "met"', 'slug = "stuff", status = "met"'), "unknown slug"),
        ((', by = "D26: new way"', ""), "`by` goes with status superseded"),
        ((', reason = "no need"', ""), "`reason` goes with status not-taken"),
        (("HK3 =", "HX3 ="), "does not belong to section HK"),
        (('what = "one"', 'what = ""'), "one line"),
        (('what = "one"', 'what = "one", colour = "red"'), "colour"),
    ],
)
def test_a_malformed_entry_is_refused_by_name(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        tool.load(LEDGER.replace(*change))
