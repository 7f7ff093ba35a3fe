"""Who the words come from, and when two statements are the same value."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mkg.features.learnings.extract import assistant_origin, prompt_origin
from mkg.features.learnings.value_key import value_key
from tests.support.requirement import requirement


def bash(command: str) -> tuple[str, str]:
    return "Bash", json.dumps({"command": command})


def read(path: str) -> tuple[str, str]:
    return "Read", json.dumps({"file_path": path})


@pytest.mark.parametrize(
    ("prompt", "source", "origin"),
    [
        ("We use pnpm.", None, "user_typed"),
        ("We use pnpm.", "user", "user_typed"),
        ("We use pnpm.", "sdk", "user_pasted"),
        ("We use pnpm.", "system", "user_pasted"),
        ("We use pnpm.", "wakeup", "user_pasted"),
        ("x" * 2048, None, "user_typed"),
        ("x" * 2049, None, "user_pasted"),
        ("\u6587" * 700, None, "user_pasted"),
        ("look:\n```\nx = 1\n```", None, "user_pasted"),
        ("look:\n~~~\nx = 1", None, "user_pasted"),
        ("run `make ship` please", None, "user_typed"),
        ("> we use npm\nIs that so?", None, "user_pasted"),
        ("why?\n2026-01-01 10:00:00 ERROR boom", None, "user_pasted"),
        ("why?\nTraceback (most recent call last):\n  File \"a.py\", line 1", None, "user_pasted"),
        ("why?\n    at run (a.js:1)\n    at go (b.js:2)", None, "user_pasted"),
        ("<mkg-memory nonce=1>\nx\n</mkg-memory nonce=1>\nok", None, "user_pasted"),
        ('The page says "' + "word " * 60 + '".', None, "user_pasted"),
        ('Call it "orders" please.', None, "user_typed"),
        ("- one\n- two\n- three", None, "user_typed"),
    ],
)  # fmt: skip
def test_only_short_plain_words_of_a_person_count_as_typed(prompt, source, origin):
    assert prompt_origin(prompt, source) == origin


def test_a_prompt_with_lone_surrogates_has_an_origin():
    assert prompt_origin("\ud800", None) == "user_typed"


@pytest.mark.parametrize(
    ("calls", "origin"),
    [
        ([], "assistant_clean"),
        ([read("src/a.py"), bash("pytest -q")], "assistant_local"),
        ([bash("git diff --stat")], "assistant_local"),
        ([("Grep", '{"pattern": "x"}')], "assistant_local"),
        ([("Edit", '{"file_path": "src/a.py", "new_string": "cut in the mid')], "assistant_local"),
        ([("Edit", '{"new_string": "cut in the mid')], "assistant_tainted"),
        ([read("src/a.py"), ("WebFetch", '{"url": "https://e.test"}')], "assistant_tainted"),
        ([("mcp__github__get_issue", "{}")], "assistant_tainted"),
        ([("mcp__mkg__project_get_context", "{}")], "assistant_tainted"),
        ([("Task", '{"prompt": "look around"}')], "assistant_tainted"),
        ([bash("curl -s localhost:8080/health")], "assistant_tainted"),
        ([bash("git pull --rebase")], "assistant_tainted"),
        ([bash("npm install left-pad")], "assistant_tainted"),
        ([bash("gh issue view 12")], "assistant_tainted"),
        ([bash("python -c 'print(1)'")], "assistant_local"),
        ([("shell", '{"command": ["bash", "-lc", "wget x"]}')], "assistant_tainted"),
        ([read("node_modules/left-pad/README.md")], "assistant_tainted"),
        ([bash("cat vendor/kit/README.md")], "assistant_tainted"),
        ([read("/etc/hosts")], "assistant_tainted"),
        ([read("../other/README.md")], "assistant_tainted"),
    ],
)
def test_an_assistant_is_as_clean_as_the_worst_it_has_seen(calls, origin):
    assert assistant_origin(calls) == origin


def test_with_a_root_everything_outside_of_it_is_external():
    assert (
        assistant_origin([read("/home/ann/shop/a.py")], root="/home/ann/shop") == "assistant_local"
    )
    assert (
        assistant_origin([read("/home/ann/shop2/a.py")], root="/home/ann/shop")
        == "assistant_tainted"
    )


@requirement("B45")
def test_spellings_of_one_value_have_one_key():
    nfc = "Tests run with caf\u00e9"
    nfd = unicodedata.normalize("NFD", nfc)
    texts = [nfc, "tests run with CAF\u00c9", "Tests   run with caf\u00e9 ", nfd, f"{nfc}."]
    assert nfd != nfc
    assert len({value_key("project:p", text) for text in texts}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("port 8080", "port 9090"),
        ("v1.2", "v12"),
        ("1.12", "11.2"),
        ("src/ab", "srca/b"),
        ("我们用 pnpm", "我们用 bun"),
        ("测试只用一个库", "测试不用一个库"),
        ("が", "か"),
        ("++", "--"),
        ("We use pnpm", "We do not use pnpm"),
    ],
)
def test_different_values_have_different_keys(one, other):
    assert value_key("project:p", one) != value_key("project:p", other)


@requirement("NEO-116", "MEM-T099")
def test_one_value_of_two_owners_has_two_keys_and_a_key_is_short():
    assert value_key("project:a", "x y") != value_key("project:b", "x y")
    assert len(value_key("project:a", "x y")) == 16
    assert value_key("project:a", "\ud800") != ""


@given(st.text(max_size=60))
def test_case_form_and_spacing_never_change_a_key(text):
    key = value_key("p", text)
    assert value_key("p", unicodedata.normalize("NFKC", text)) == key
    assert value_key("p", f"  {text}\n") == key
    assert value_key("p", text.casefold()) == key
