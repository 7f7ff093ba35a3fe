"""The rule table is its own test: every example of every rule, and the shared cases."""

import importlib
import json
import re
from pathlib import Path

import pytest

from mkg_hooks.redact import redact
from mkg_hooks.redact_gate import LONG
from mkg_hooks.redact_rules import Rule
from mkg_hooks.redact_scan import scan, table
from tests.support.recipes import expand
from tests.support.requirement import requirement

CASES = Path(__file__).parent.parent / "cases"
RULES = table()
ROWS = [
    json.loads(line)
    for line in (CASES / "adversarial.jsonl").read_text(encoding="utf-8").splitlines()
]


def named(rank: int) -> str:
    return f"{RULES[rank].id}-{rank}"


def width(pattern: str) -> tuple[int, int]:
    """The shortest and the longest text that a pattern matches."""
    # No public name tells it, and a table written by hand would not follow the patterns.
    parser = importlib.import_module("re._parser")
    return parser.parse(pattern).getwidth()


def text_of(row: dict[str, str], seed: int) -> str:
    return expand(row["text"], seed) if row["input_kind"] == "template" else row["text"]


@requirement("SEC-72")
@pytest.mark.parametrize("rank", range(len(RULES)), ids=named)
def test_a_rule_masks_its_positive_examples(rank: int):
    rule = RULES[rank]
    assert len(rule.good) >= 2
    missed = [
        (template, seed)
        for template in rule.good
        for seed in range(3)
        if rank not in {hit[2] for hit in scan(expand(template, seed))}
    ]
    assert missed == []


@requirement("SEC-72", "SEC-79")
@pytest.mark.parametrize("rank", range(len(RULES)), ids=named)
def test_a_rule_leaves_its_negative_examples(rank: int):
    rule = RULES[rank]
    assert len(rule.bad) >= 2
    found = {
        template: redact(expand(template, seed))[1]
        for template in rule.bad
        for seed in range(2)
        if redact(expand(template, seed))[1]
    }
    assert found == {}


@requirement("SEC-72")
def test_the_table_is_data_with_bounded_quantifiers():
    def unbounded(rule: Rule) -> bool:
        bare = rule.pattern.replace(r"\\", "").replace(r"\+", "").replace(r"\*", "")
        outside, inside = "", False
        for char in bare:
            inside = (char == "[") if not inside else char != "]"
            outside += "" if inside else char
        return "*" in outside or "+" in outside.replace("}+", "}") or ",}" in outside

    assert len({rule.id for rule in RULES}) >= 45
    assert [rule.id for rule in RULES if unbounded(rule)] == []
    assert [rule.id for rule in RULES if not rule.keys] == []


@requirement("SEC-72")
@pytest.mark.parametrize("rank", range(len(RULES)), ids=named)
def test_a_rule_of_one_word_matches_no_less_and_no_more_than_it_says(rank: int):
    rule = RULES[rank]
    found = re.compile(rule.pattern, re.ASCII)
    # Such a rule is looked for in words of that length alone.
    shortest = width(rule.pattern)[0]
    assert rule.least in (0, shortest)
    assert rule.least == 0 or rule.least >= LONG
    for end in " \n\t(){}[],;<>|`" if rule.least else "":
        for template in rule.good:
            text = expand(template, 1)
            for match in found.finditer(text):
                middle = (match.start() + match.end()) // 2
                cut = text[:middle] + end + text[middle + 1 :]
                over = [m for m in found.finditer(cut) if m.start() <= middle < m.end()]
                assert not over, (end, cut)


@requirement(
    "SEC-72", "ADV-C02", "ADV-C04", "ADV-C06", "ADV-C08", "ADV-C10", "ADV-C12", "ADV-C14",
    "ADV-C16", "ADV-C18", "ADV-C20", "ADV-C22", "ADV-C24", "ADV-C26", "ADV-C28", "ADV-C30",
    "ADV-C32", "ADV-C34", "ADV-C36", "ADV-D01",
)  # fmt: skip
@pytest.mark.parametrize("row", [r for r in ROWS if r["verdict"] == "X"], ids=lambda r: r["id"])
def test_a_credential_row_is_masked_whatever_its_random_part(row: dict[str, str]):
    for seed in range(20):
        text = text_of(row, seed)
        masked, found = redact(text)
        assert found, (row["id"], seed)
        assert "[REDACTED:" in masked
        assert not any(text[f.start : f.end] in masked for f in found)


@requirement("SEC-79", "ADV-H05", "ADV-H13")
@pytest.mark.parametrize(
    "row", [r for r in ROWS if r["class"] == "honest control"], ids=lambda r: r["id"]
)
def test_an_honest_row_passes_unchanged(row: dict[str, str]):
    for seed in range(5):
        text = text_of(row, seed)
        assert redact(text) == (text, [])


@requirement("SEC-79")
def test_named_kinds_are_found_in_prose_environment_and_json():
    contexts = (
        "Use {} when you call it, please.",
        "SERVICE_X={}\nB=1",
        '{{"rows": [{{"out": "{}"}}]}}',
    )
    tried = missed = 0
    for rule in RULES:
        if rule.judge in ("quoted", "bare", "prose", "env"):
            continue
        for context in contexts:
            for seed in range(3):
                text = context.format(expand(rule.good[0], seed))
                tried += 1
                missed += not redact(text)[1]
    assert missed * 50 <= tried


@requirement("SEC-73")
def test_a_placeholder_is_judged_by_the_value_alone():
    for value in (
        "your-password",
        "${DB_PASS}",
        "<password>",
        "xxxxxxxx",
        "********",
        "{password}",
    ):
        text = f"postgres://svc:{value}@db.internal/app"
        assert redact(text) == (text, [])
    # The host is called like a placeholder; the password is none.
    real = expand("postgres://svc:{AN16}@your-host.example.com/sample")
    masked, found = redact(real)
    assert [f.rule for f in found] == ["url-password"]
    assert masked == "postgres://svc:[REDACTED:url-password]@your-host.example.com/sample"
