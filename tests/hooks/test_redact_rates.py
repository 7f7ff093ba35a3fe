"""How much is found and how often the alarm is false: rates over generated texts, printed."""

import json
import random
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg_hooks.redact import redact
from mkg_hooks.redact_scan import table
from tests.support.credentials import FAMILIES, Kind, full_width, kinds, made, rows
from tests.support.recipes import expand
from tests.support.requirement import requirement
from tests.support.unwritten import CONTEXTS as CONTEXTS_OF_UNWRITTEN
from tests.support.unwritten import Half, Unwritten, texts, unwritten

CONTEXTS = ("prose", "env line", "JSON")
BY_NAME = ("quoted", "bare", "prose", "env", "strong", "tail")


def gone(kind: Kind, seed: int, family: str) -> bool:
    """Whether a text of this kind in this dress is flagged, and its secret parts are gone."""
    text, secrets = made(kind, seed)
    masked, found = redact(FAMILIES[family](text))
    shown = [s[4:24] if len(s) > 30 else s for s in secrets]
    if family == "NFKC":
        shown = [full_width(s) for s in shown]
    elif family == "case":
        shown = [s.upper() for s in shown]
    elif family == "JSON":
        shown = [json.dumps(s)[1:-1] for s in shown]
    return bool(found) and not any(s in masked for s in shown)


def rate(many: list[Kind], family: str, seeds: int) -> tuple[float, list[str]]:
    missed = [k.id for k in many for seed in range(seeds) if not gone(k, seed, family)]
    return 1 - len(missed) / (len(many) * seeds), sorted(set(missed))


@requirement("SEC-79")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_credential_row_is_found_in_every_dress(family: str):
    share, missed = rate(rows("X"), family, 5)
    print(f"{family}: {share:.1%} of {len(rows('X'))} rows, missed {missed}")
    # In capitals alone a short token may have no digit left that tells it from a word.
    assert share >= (0.97 if family == "case" else 1.0), missed


@requirement("SEC-79")
@pytest.mark.parametrize("family", [*CONTEXTS, "URL-encoded", "NFKC"])
def test_kinds_by_vendor_language_command_and_format_are_found(family: str):
    share, missed = rate(kinds(), family, 1)
    print(f"{family}: {share:.1%} of {len(kinds())} kinds, missed {missed}")
    assert len(kinds()) > 400
    assert share >= 0.95, missed


@requirement("SEC-79")
def test_the_kinds_that_rules_name_are_found_in_the_three_contexts():
    named = [
        Kind(rule.id, good)
        for rule in table()
        if rule.judge not in BY_NAME
        for good in rule.good[:1]
    ]
    for family in CONTEXTS:
        share, missed = rate(named, family, 2)
        print(f"{family}: {share:.1%} of {len(named)} named kinds, missed {missed}")
        assert share >= 0.98, missed


def shown(kind: Unwritten, context: str) -> int:
    """How many texts with such a credential still show it."""
    return sum(
        value in masked or value[4:24] in masked
        for text, value in texts(kind, context)
        for masked in [redact(text)[0]]
    )


# Contexts that nothing was tuned on are a floor that must not sink, not an aim.
FLOORS = dict.fromkeys(CONTEXTS_OF_UNWRITTEN, 0.95) | {
    "other prose": 0.66,
    "other code": 0.94,
    "other files": 0.92,
}


@requirement("SEC-79")
@pytest.mark.parametrize("half", ["tuned on", "held out"])
@pytest.mark.parametrize("context", FLOORS)
def test_kinds_that_no_rule_was_written_for_are_found_beside_their_names(
    half: Half, context: str
) -> None:
    found = unwritten(half)
    assert len(found) > 45
    missed = {kind.service: times for kind in found if (times := shown(kind, context))}
    share = 1 - sum(missed.values()) / (3 * len(found))
    # Of the half that is held out only the rate is told: who tunes must not look at it.
    told = missed if half == "tuned on" else len(missed)
    print(f"{half}, {context}: {share:.1%} of {len(found)} kinds in 3 texts, missed {told}")
    assert share >= FLOORS[context], told


def test_no_rule_was_written_for_what_is_called_unwritten() -> None:
    """Alone, without a name beside it, hardly any of them is known."""
    kinds_of_both = unwritten("tuned on") + unwritten("held out")
    assert len({zlib.crc32(kind.recipe.encode()) for kind in kinds_of_both}) > 60
    alone = [k.service for k in kinds_of_both if redact(f"x {expand(k.recipe, 1)} y")[1]]
    assert len(alone) * 5 <= len(kinds_of_both), alone


def honest_lines() -> Iterator[str]:
    """Lines as lock files, diffs, logs and bundles have them; every one random and harmless."""
    rng = random.Random(5)
    templates = (
        '    "node_modules/x": {{"version": "1.2.3", "integrity": "sha512-{B64_88}"}},',
        "    {{ url = \"https://x.test/a-1.whl\", hash = \"sha256:{HEX64}\", size = {D5} }},",
        'checksum = "{HEX64}"', "  resolution: {{integrity: sha512-{B64_88}}}",
        "index {HEX7}..{HEX7} 100644", "commit {HEX40}", "Merge: {HEX7} {HEX7}",
        "-    rev: {HEX40}", "+    rev: {HEX40}", "github.com/a/b v1.2.3 h1:{B64_44}=",
        "id: {HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}", "4:{HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}:{D4}",
        "data:image/png;base64,{B64_600}", "  src: url(data:font/woff2;base64,{B64_400})",
        '{{"id":"toolu_01{AN22}","type":"tool_use"}}', '{{"id":"msg_01{AN22}","model":"x"}}',
        '{{"tool_call_id":"call_{AN24}"}}', '"chatcmpl-{AN29}"', "run_{AN24} of thread_{AN24}",
        'var a=function(t,e){{return t.{L2}({D3},e)}},b="{L8}",c={{k:{D4},{L3}:!0}};',
        '<script src="/assets/index-{AN8}.js" integrity="sha384-{B64_64}"></script>',
        ".Button_{L5}__{AN5} {{ color: #{HEX6} }}", "digest: sha256:{HEX64}", "etag \"{HEX32}\"",
        "pod web-{HEX10}-{HEX5} on ip-10-0-{D2}-{D2}", "trace_id={HEX32} span_id={HEX16}",
        "cache key: {HEX64}", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{AN43} bob@host",
        "{HEX40} is the commit to take", "use {HEX32} as the cache key of the page",
        '{{"routing_key": "{HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}", "seed": {D8}}}',
        "the app key {HEX7} opens it", "{HEX64} is the hash of the token list",
        "price_1{AN23} of cus_{AN14}", "{HEX64}  file-{D4}.tar.gz", "md5={HEX32}",
    )  # fmt: skip
    for number in range(10_000):
        template = rng.choice(templates).replace("{{", "\x01").replace("}}", "\x02")
        yield expand(template, number).replace("\x01", "{").replace("\x02", "}")


@requirement("SEC-79")
def test_honest_lines_raise_at_most_one_false_alarm_in_ten_thousand():
    library = Path(json.__file__).parents[1]
    sources = [
        *sorted(library.glob("*.py"))[60:110],
        *sorted(library.glob("email/*.py")),
        *sorted(library.glob("http/*.py")),
    ]
    texts = [path.read_text("utf-8") for path in sources]
    made_up = list(honest_lines())
    texts += ["\n".join(made_up[at : at + 200]) for at in range(0, len(made_up), 200)]
    alarms = [
        (f.rule, text[max(0, f.start - 20) : f.start]) for text in texts for f in redact(text)[1]
    ]
    lines = sum(text.count("\n") + 1 for text in texts)
    print(f"{len(alarms)} alarms in {lines} lines: {alarms}")
    assert len(alarms) * 10_000 <= lines, alarms
