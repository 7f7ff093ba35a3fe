"""The JSON editor: what is not ours keeps its bytes, in every layout."""

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg.install import json_text, toml_text

OURS = {"hooks": [{"command": "x", "timeout": 5}]}
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
KEYS = st.text(string.ascii_letters + ' "\\\u00e9', max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
LAYOUTS = st.sampled_from([None, 1, 2, 4, "\t"])


def remarks(text: str, draw: st.DrawFn) -> str:
    """Comments at some of the line ends, and trailing commas where the layout is of lines."""
    lines = []
    for line in text.split("\n"):
        whole = line.endswith((",", "{", "["))
        lines.append(line + (" // {,} mine" if whole and draw(st.booleans()) else ""))
    return "\n".join(lines)


@st.composite
def documents(draw: st.DrawFn) -> str:
    value = draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
    text = json.dumps(value, indent=draw(LAYOUTS), ensure_ascii=draw(st.booleans()))
    if "\n" in text:
        text = remarks(text, draw)
        if draw(st.booleans()):
            text = text.replace("\n", "\r\n")
    return (
        draw(st.sampled_from(["", "\ufeff", "// head\n"]))
        + text
        + draw(st.sampled_from(["", "\n"]))
    )


@given(documents())
@settings(max_examples=60, deadline=None)
def test_a_member_that_is_put_and_taken_leaves_no_byte_behind(text: str):
    value = json_text.parse(text).value
    after = json_text.put(text, (), "ours!", OURS)
    assert json_text.parse(after).value == {**value, "ours!": OURS}
    assert json_text.take(after, ("ours!",)) == text


@given(documents())
@settings(max_examples=60, deadline=None)
def test_what_a_person_adds_behind_ours_stays_as_if_ours_had_never_been(text: str):
    ours = json_text.put(text, (), "ours!", OURS)
    both = json_text.put(ours, (), "theirs", [1, {"a": 2}])
    assert json_text.take(both, ("ours!",)) == json_text.put(text, (), "theirs", [1, {"a": 2}])


@given(VALUES)
@settings(max_examples=30, deadline=None)
def test_positions_agree_with_the_standard_reader(value: object):
    text = json.dumps(value, indent=1)
    node = json_text.parse(text)
    assert node.value == value
    assert json.loads(text[node.start : node.end]) == value


BY_HAND = {
    "trailing commas": ('{\n  "a": [\n    1,\n  ],\n}\n', ("a",), None),
    "a remark on the last line": ('{\n  "a": 1 // why\n}\n', (), "ours"),
    "a remark alone in a list": ('{"a": [\n  // none yet\n]}', ("a",), None),
    "a block remark": ('{\n\t"a": 1 /* { */\n}', (), "ours"),
    "all in one line": ('{"a": 1, "b": [2]}', ("b",), None),
    "brackets in texts": ('{\n  "a": "}],\\"//",\n  "b": {"c": 1}\n}', ("b",), "ours"),
    "a bracket behind a member": ('{ "a": 1 }', (), "ours"),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_layout_of_a_person_comes_back(name: str):
    text, path, key = BY_HAND[name]
    before = json_text.find(json_text.parse(text), path)
    assert before is not None
    after = json_text.put(text, path, key, OURS)
    found = json_text.find(json_text.parse(after), path)
    assert found is not None and found.items[-1].node.value == OURS
    last = key if key is not None else len(found.items) - 1
    assert json_text.take(after, (*path, last)) == text


@pytest.mark.parametrize("text", ["{}", "{ }", "{\n}", "[]", "{\r\n}"])
def test_an_empty_container_takes_a_member_and_is_empty_again(text: str):
    key = None if text.startswith("[") else "ours"
    after = json_text.put(text, (), key, 1)
    assert json_text.parse(after).value == ([1] if key is None else {"ours": 1})
    left = json_text.take(after, (0 if key is None else "ours",))
    assert json_text.parse(left).value == json_text.parse(text).value


BROKEN = {
    '{"a": 1': "line 1, column 8",
    '{"a": 1}}': "line 1, column 9",
    '{\n "a": 1\n "b": 2}': "line 3, column 2",
    '{"a": 1, "a": 2}': "twice",
    "{a: 1}": "key",
    '{"a": .5}': "value",
    '{"a": "b\n"}': "text",
    '{"a": [1,,2]}': "value",
    "": "value",
    "[" * 300 + "]" * 300: "deep",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_text_is_refused_with_its_place(text: str):
    with pytest.raises(json_text.Unreadable, match=BROKEN[text]):
        json_text.parse(text)


BLOCK = '[mcp_servers.mkg]\ncommand = "/bin/sh"\nargs = ["x"]\n'
TOMLS = {
    "nothing": "",
    "a table": "[a]\nb = 1\n",
    "comments and odd spacing": "# head\n\n[a]   # tail\nb   =  1\n\n\n# end\n",
    "Windows line ends": "[a]\r\nb = 1\r\n",
    "another server": '[mcp_servers.x]\ncommand = "y"\n[mcp_servers.x.env]\nA = "1"\n',
    "a text that looks like ours": 'a = """\n[mcp_servers.mkg]\ncommand = 1\n"""\n',
}


@pytest.mark.parametrize("name", TOMLS)
@pytest.mark.parametrize("added", ["", "\n[later]\nc = [1] # mine\n"])
def test_a_table_that_is_added_and_cut_leaves_no_byte_behind(name: str, added: str):
    text = TOMLS[name]
    if "\r" in text:
        added = added.replace("\n", "\r\n")
    after = toml_text.add(text, BLOCK) + added
    assert toml_text.parse(after)["mcp_servers"]["mkg"] == {"command": "/bin/sh", "args": ["x"]}
    assert toml_text.cut(after, "mcp_servers.mkg", BLOCK) == text + added


def test_a_table_that_somebody_wrote_into_is_cut_with_all_that_is_its_own():
    text = "a = 1\n\n[b]\nc = 2\n"
    written = toml_text.add(text, BLOCK + 'cwd = "/"\n\n[mcp_servers.mkg.env]\nX = "1"\n# of [d]\n')
    after = toml_text.cut(written + "[d]\ne = 3\n", "mcp_servers.mkg", BLOCK)
    assert toml_text.parse(after) == {"a": 1, "b": {"c": 2}, "d": {"e": 3}}
    assert after.startswith(text) and "# of [d]\n[d]" in after


def test_the_values_of_a_table_are_renewed_and_other_keys_stay():
    text = 'x = 1\n[mcp_servers.mkg]\nargs = ["old"] # mine\ncwd = "/"\n[z]\nargs = 1\n'
    after = toml_text.renew(text, "mcp_servers.mkg", BLOCK)
    assert toml_text.parse(after) == {
        "x": 1,
        "mcp_servers": {"mkg": {"command": "/bin/sh", "args": ["x"], "cwd": "/"}},
        "z": {"args": 1},
    }
