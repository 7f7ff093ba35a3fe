"""The redactor as a whole: folded readings, known values, private spans, structure, fixed point."""

import base64
import json
import subprocess
import sys
import time
import tomllib
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mkg_hooks.redact import Found, known_values, redact, redact_tree, strip_private
from mkg_hooks.redact_scan import table
from tests.support.recipes import expand
from tests.support.requirement import requirement

HOOKS = Path(__file__).parents[2] / "hooks"
TOKEN = expand("ghp_{AN36}", 7)
DISGUISES = {
    "zero-width": lambda t: "\u200b".join(t),
    "soft hyphen": lambda t: t[:9] + "\u00ad" + t[9:],
    "unknown format character": lambda t: t[:9] + "\U000e0fff" + t[9:],
    "full width": lambda t: "".join(chr(ord(c) + 0xFEE0) for c in t),
    "look-alikes": lambda t: t.replace("p", "\u0440").replace("a", "\u0430").replace("o", "\u03bf"),
    "tag characters": lambda t: "".join(chr(0xE0000 + ord(c)) for c in t),
    "json escapes": lambda t: "".join(f"\\u{ord(c):04x}" for c in t),
    "json in json": lambda t: json.dumps(json.dumps(t[:8] + "\u200b" + t[8:])),
    "combining marks": lambda t: "\u0301".join(t),
    "terminal colours": lambda t: f"\x1b[01;31m\x1b[K{t[:4]}\x1b[m\x1b[K{t[4:]}",
    "html entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "url encoding": lambda t: "".join(f"%{ord(c):02X}" for c in t),
    "base64": lambda t: base64.b64encode(f"the key is {t}, keep it".encode()).decode(),
    "hexadecimal": lambda t: t.encode().hex(),
    "a line break": lambda t: f"{t[:12]}\n{t[12:]}",
    "string concatenation": lambda t: f'"{t[:12]}" + "{t[12:]}"',
}  # fmt: skip


@requirement("SEC-71", "ADV-D01")
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_token_is_masked_and_its_neighbours_are_kept(disguise: str):
    hidden = DISGUISES[disguise](TOKEN)
    masked, found = redact(f"before {hidden} after")
    assert [f.rule for f in found] == ["github-pat"]
    assert masked.startswith("before ") and masked.endswith(" after")
    assert not any(hidden[at : at + 12] in masked for at in range(0, len(hidden) - 12, 4))


@requirement("SEC-71")
def test_offsets_are_those_of_the_original_and_take_the_invisible_neighbours_along():
    text = f"na\u00efve \u200b{TOKEN[:10]}\u200b{TOKEN[10:]}\u2060 end"
    masked, found = redact(text)
    assert masked == "na\u00efve [REDACTED:github-pat] end"
    assert found == [Found("github-pat", 6, len(text) - 4)]


@requirement("SEC-71")
def test_honest_text_of_other_scripts_is_untouched():
    for text in (
        "\u041f\u0430\u0440\u043e\u043b\u044c "
        "\u043d\u0443\u0436\u043d\u043e \u0441\u043c\u0435\u043d\u0438\u0442\u044c",
        "\u0645\u0644\u0641 README \u0628\u0627\u0644\u0644\u063a\u0629",
        "\u5bc6\u7801\u5b58\u5728 vault \u91cc",
        "e\u0301t\u00e9 \ufb01n \U0001f469\u200d\U0001f4bb \u2764\ufe0f",
    ):
        assert redact(text) == (text, [])


@requirement("SEC-70", "SEC-08")
def test_a_known_value_is_masked_in_every_form_it_may_take():
    value = 'tr0ub&dor/"x y\\z'
    forms = {
        "exact": value,
        "url": quote(value, safe=""),
        "json": json.dumps(value)[1:-1],
        "json twice": json.dumps(json.dumps(value)[1:-1])[1:-1],
        "base64": base64.b64encode(value.encode()).decode(),
        "base64 inside": base64.b64encode(f"user:{value}:tail".encode()).decode(),
        "hex": value.encode().hex(),
        "zero-width": "\u200b".join(value),
    }
    for name, form in forms.items():
        masked, found = redact(f"a {form} b", [value])
        assert [f.rule for f in found] == ["known-value"], name
        assert "[REDACTED:known-value]" in masked, name
    assert redact(f"a {value} b")[1] == []


@requirement("SEC-70")
def test_known_values_come_from_secret_names_and_urls_and_leave_words_alone():
    env = {
        "DB_PASSWORD": "plum-lamp-77",
        "NEO4J_URI": "neo4j+s://neo4j:s3cr%21t-plum@db.example.test",
        "NEO4J_AUTH": "neo4j/graph-plum-42",
        "GITHUB_TOKEN": TOKEN,
        "SHORT_SECRET": "abc12",
        "APP_SECRET": "production",
        "MAX_TOKENS": "100000000000",
        "SSH_AUTH_SOCK": "/tmp/agent.1234567",
        "TOKEN_FILE": "/run/token-file-77",
        "HOME": "/home/someone-77",
        "API_KEY": "your-api-key-here",
    }
    assert set(known_values(env)) == {
        "plum-lamp-77", "s3cr!t-plum", "s3cr%21t-plum", "graph-plum-42", TOKEN,
    }  # fmt: skip


@requirement("SEC-80")
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>x</private> b", "a [PRIVATE] b"),
        ("a <PRIVATE >x\ny</ private> b", "a [PRIVATE] b"),
        ("a <private>never closed", "a [PRIVATE]"),
        ("<private>a<private>b</private>c</private>d", "[PRIVATE]d"),
        ("<pri\u200bvate>x</private> y", "[PRIVATE] y"),
        ("a </private> b", "a </private> b"),
        ("privateer <privates> x", "privateer <privates> x"),
    ],
)
def test_private_spans_are_cut_out(text: str, kept: str):
    assert strip_private(text) == kept
    assert strip_private(kept) == kept
    assert redact(text)[0] == kept


@requirement("SEC-74")
def test_a_tree_is_masked_by_its_keys_headers_and_nested_texts():
    tree = {
        "password": "opensesame",
        "pin_passcode": "1234-x",
        "db": {"dbPassword": 12345678, "user": "bob", "max_tokens": 4096, "token_type": "Bearer"},
        "headers": [["Authorization", "Bearer abcdefgh1"], ["Accept", "text/html"]],
        "env": [{"name": "API_SECRET", "value": "opensesame"}, {"name": "LANG", "value": "en_GB"}],
        "argv": ["tool", "--password", "opensesame", "--verbose"],
        "text": json.dumps({"inner": {"password": "qW3rty!uio"}}),
        "token": "identifier",
        "secret": None,
        "has_password": True,
    }
    masked = redact_tree(tree)
    shown = json.dumps(masked)
    assert isinstance(masked, dict)
    for gone in ("opensesame", "1234-x", "12345678", "abcdefgh1", "qW3rty!uio"):
        assert gone not in shown
    for kept in ("bob", "4096", '"Bearer"', "text/html", "en_GB", "--verbose", "identifier"):
        assert kept in shown
    assert masked["secret"] is None and masked["has_password"] is True
    assert redact_tree(masked) == masked


@requirement("SEC-74")
def test_a_tree_without_a_bottom_is_cut_not_followed():
    deep: list[object] = ["leaf"]
    for _ in range(5_000):
        deep = [deep]
    assert "[TRUNCATED]" in str(redact_tree(deep))
    assert redact_tree([[["leaf"]]]) == [[["leaf"]]]


@requirement("SEC-74")
def test_a_cut_off_key_block_is_masked_to_the_end_or_eight_kilobytes():
    body = expand("-----BEGIN PRIVATE KEY-----\n{B64x20}", 1)
    assert redact(f"x {body}")[0] == "x [REDACTED:private-key]"
    masked, _ = redact(body + "\n" + "word " * 4_000)
    assert masked.startswith("[REDACTED:private-key]")
    assert 11_000 < len(masked) < 14_000
    closed = expand("a -----BEGIN PRIVATE KEY-----\n{B64x20}\n-----END PRIVATE KEY----- b", 1)
    assert redact(closed)[0] == "a [REDACTED:private-key] b"
    tail = expand("{B64x5}\nabc=\n-----END PRIVATE KEY-----\nnext", 2)
    assert redact(tail)[0] == "[REDACTED:private-key-end]\nnext"


@requirement("SEC-78")
def test_the_marker_names_the_kind_and_nothing_of_the_secret():
    masked, found = redact(f"push with {TOKEN} now")
    assert masked == "push with [REDACTED:github-pat] now"
    assert found == [Found("github-pat", 10, 50)]


@requirement("SEC-76")
def test_a_marker_is_no_secret_and_hides_none():
    for text in ('password = "[REDACTED:known-value]"', "a [PRIVATE] b", "token: [REDACTED:jwt],"):
        assert redact(text, ["known-value", "[PRIVATE]", "REDACTED:"]) == (text, [])
    assert redact("password=[REDACTED:x]abc!123def")[0] == "password=[REDACTED:password]"


PIECES = st.one_of(
    st.sampled_from([expand(good, 3) for rule in table() for good in rule.good]),
    st.sampled_from(
        [
            *("password", "=", ": ", '"', "'", "\n", " ", "\\", "://u:", "@h", "[REDACTED:x]"),
            *("known-1!", "[PRIVATE]", "<private>", "</private>", "\u200b", "\\u0041", "%41"),
            *("token is ", "ghp_", "[REDACTED:", "]", "aB3dE5fG7h", "Bearer ", "\x1a", "\x1b[1m"),
            "-----END RSA PRIVATE KEY-----",
        ]
    ),
    st.text(max_size=12),
)


@requirement("SEC-76")
@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_masking_twice_is_masking_once(text: str):
    once, found = redact(text, ["known-1!", "REDACTED", "github-pat"])
    assert redact(once, ["known-1!", "REDACTED", "github-pat"]) == (once, [])
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@requirement("SEC-76")
@pytest.mark.parametrize("between", [" ", "\u00a1use it ", "\n", ", then the longer "])
@pytest.mark.parametrize(("one", "two"), [("acme", "nowacme"), ("nowacme", "acme")])
def test_one_token_behind_two_names_is_masked_where_it_stands(
    one: str, two: str, between: str
) -> None:
    token = "vuhgGzf4GmbG01LuoU1nKqwe9T3ghM1lUfdHXTSF"
    text = f"{one}_live_{token}{between}{two}_live_{token}"
    masked, found = redact(text)
    assert token not in masked and between in masked
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert (found[0].start, found[-1].end) == (0, len(text))


HONEST = (
    "    --hash=sha256:{HEX64} \\",
    '"integrity": "sha512-{B64_88}",',
    'checksum = "{HEX64}"',
    "commit {HEX40}",
    "index {HEX7}..{HEX7} 100644",
    "session {HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}",
    "4:{HEX8}-{HEX4}-4{HEX3}-a{HEX3}-{HEX12}:{D3}",
    "![x](data:image/png;base64,{B64_400})",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{AN43} bob@host",
    "etag: W/\"{HEX32}\"",
    "image@sha256:{HEX64}",
    "resolved https://registry.example.test/x/-/x-{D1}.{D2}.{D1}.tgz#{HEX40}",
    "h1:{B64_44}",
    "-----BEGIN CERTIFICATE-----\n{B64x12}\n-----END CERTIFICATE-----",
    "token = self._next_token()", "password: Optional[str] = None", "max_tokens={D5}",
    "if token.type == tokenize.OP:", "the next token is an identifier", "api_key=settings.api_key",
    "request_id={HEX32}", "trace {HEX32} span {HEX16}", "localhost:{D4}/path?x={D6}",
)  # fmt: skip


@requirement("SEC-79")
def test_hashes_ids_and_code_raise_no_false_alarm():
    alarms = [
        (text, found)
        for template in HONEST
        for seed in range(25)
        if (found := redact(text := expand(template, seed))[1])
    ]
    assert alarms == []


@requirement("SEC-79")
def test_the_standard_library_raises_no_false_alarm():
    library = Path(json.__file__).parents[1]
    sources = sorted(library.glob("*.py"))[:60] + sorted(library.glob("asyncio/*.py"))
    alarms = [
        (path.name, found) for path in sources if (found := redact(path.read_text("utf-8"))[1])
    ]
    assert alarms == []


@requirement("SEC-79")
@pytest.mark.parametrize(
    "unit",
    ["a", "=", "-----BEGIN RSA PRIVATE KEY-----", "password=", "sk-ant-", "://a:", "api_key:",
     "Cookie: a=", "\U000e0061", "x\u0430", "ghp_\n", "\\u0041", "'\n"],
)  # fmt: skip
def test_a_hostile_text_costs_time_in_proportion(unit: str):
    # A fifth of a megabyte, with room for a busy machine: what is quadratic takes minutes.
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 4


@requirement("SEC-72")
def test_the_redactor_runs_isolated_on_the_standard_library():
    script = (
        "import sys; sys.path.insert(0, '.'); from mkg_hooks.redact import redact;"
        "print(redact(sys.stdin.read())[0]); print(sorted(m for m in sys.modules if 'site' in m))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], cwd=HOOKS, input=f"key {TOKEN}",
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["key [REDACTED:github-pat]", "[]"]


def test_the_command_masks_text_and_lines():
    import typer

    from mkg.cli.redact import redact as command

    app = typer.Typer()
    app.command()(command)
    runner = CliRunner()
    assert runner.invoke(app, [], input=f"a {TOKEN} b\n").stdout == "a [REDACTED:github-pat] b\n"
    rows = (
        json.dumps({"id": 1, "text": f"\u00e9 {TOKEN}"})
        + "\n\n"
        + json.dumps({"id": "b", "text": "x"})
    )
    answers = [
        json.loads(line) for line in runner.invoke(app, ["--jsonl"], input=rows).stdout.splitlines()
    ]
    assert answers == [
        {
            "id": 1,
            "text": "\u00e9 [REDACTED:github-pat]",
            "found": [{"rule": "github-pat", "start": 2, "end": 42}],
        },
        {"id": "b", "text": "x", "found": []},
    ]


def test_a_bad_line_is_answered_in_its_place_and_costs_no_other(tmp_path: Path):
    from mkg.cli.redact import redact_lines

    lines = [
        json.dumps({"id": "a", "text": f"x {TOKEN}"}),
        "no json " + TOKEN,
        '["x"]',
        '{"id": 7}',
        '{"id": {"x": 1}, "text": 3}',
        "[" * 100_000,
        " ",
        json.dumps({"id": "b", "text": "fine"}),
    ]
    answers = list(redact_lines(lines))
    assert [a["id"] for a in answers] == ["a", None, None, 7, None, None, "b"]
    assert [("error" in a) for a in answers] == [False, True, True, True, True, True, False]
    assert answers[1]["error"].startswith("line 2 is not JSON")
    assert TOKEN not in json.dumps(answers)


def test_lines_are_answered_one_by_one_while_the_pipe_stays_open():
    with subprocess.Popen(
        [sys.executable, "-m", "mkg", "redact", "--jsonl"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert running.stdin and running.stdout
        for number in range(2):
            running.stdin.write(json.dumps({"id": number, "text": "x"}) + "\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["id"] == number
        running.stdin.close()


def test_the_project_ships_the_cases_it_reads():
    root = Path(__file__).parents[2]
    assert tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    for name in ("adversarial", "bugs", "cypher_gate"):
        assert (root / "tests" / "cases" / f"{name}.jsonl").read_text("utf-8").isascii()
