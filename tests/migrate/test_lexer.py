"""The splitter: what ends a statement and what only looks like it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg.errors import MigrationError
from mkg.migrate.lexer import split
from tests.support.requirement import requirement

PLAIN = st.text(alphabet="aZ \n\t()[]{}:,.$=-+_7é", min_size=1, max_size=8)
INNER = st.text(alphabet="a;'\"`/*\n \\", max_size=8)
STRING = INNER.map(lambda s: "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'")
DOUBLE = INNER.map(lambda s: '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"')
NAME = INNER.map(lambda s: "`" + s.replace("`", "``") + "`")
LINE = INNER.map(lambda s: "//" + s.replace("\n", "") + "\n")
BLOCK = INNER.map(lambda s: "/*" + s.replace("*", "") + "*/")
CODE = st.one_of(STRING, DOUBLE, NAME)
PART = st.one_of(PLAIN, LINE, BLOCK)
STATEMENT = st.tuples(CODE, st.lists(st.one_of(PART, CODE), max_size=4)).map(
    lambda parts: " ".join([parts[0], *parts[1]]).strip()
)


def texts(source: str) -> list[str]:
    return [statement.text for statement in split(source, where="x")]


def reference(source: str) -> list[str] | None:
    """A character-by-character reading of the same grammar; None when something stays open."""
    found, start, state, i = [], None, "", 0
    while i < len(source):
        char, two = source[i], source[i : i + 2]
        step = 1
        if state == "":
            if two in ("//", "/*"):
                state, step = two, 2
            elif char == ";":
                found += [source[start:i]] if start is not None else []
                start = None
            elif not char.isspace():
                start = i if start is None else start
                state = char if char in "'\"`" else ""
        elif state == "//":
            state = "" if char == "\n" else state
        elif state == "/*":
            state, step = ("", 2) if two == "*/" else (state, 1)
        elif state != "`" and char == "\\":
            step = 2
        elif char == state:
            if state == "`" and two == "``":
                step = 2
            else:
                state = ""
        i += step
    if state not in ("", "//") or i > len(source):
        return None
    return [text.strip() for text in [*found, *([] if start is None else [source[start:]])]]


@requirement("NEO-81")
@given(st.lists(STATEMENT, min_size=1, max_size=5))
def test_statements_joined_by_semicolons_come_back_as_they_were(statements):
    assert texts("".join(f"/* ; */ {text}\n; // ;\n" for text in statements)) == statements


@requirement("NEO-81")
@settings(max_examples=400)
@given(st.text(alphabet="a;'\"`/*\n \\", max_size=24))
def test_any_text_is_read_as_a_plain_reading_would_read_it(source):
    expected = reference(source)
    if expected is None:
        with pytest.raises(MigrationError):
            texts(source)
    else:
        assert texts(source) == expected


@requirement("NEO-81")
def test_comments_alone_are_no_statement_and_blank_ones_are_dropped():
    assert texts("// a; b\n;;/* c; */ ; RETURN 1 ;;") == ["RETURN 1"]


def test_a_statement_knows_its_line_and_its_text_without_comments():
    first, second = split("\nRETURN 1; // ;\n\n/* why\n*/ RETURN /* x */ ';'\n", where="x", line=10)
    assert (first.line, second.line) == (11, 14)
    assert second.text == "RETURN /* x */ ';'"
    assert second.bare == "RETURN ''"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("RETURN 1;\nRETURN 'a", "x:2: this string is not closed"),
        ('RETURN "a\\"', "x:1: this string is not closed"),
        ("RETURN `a``", "x:1: this quoted name is not closed"),
        ("RETURN 1\n/* a; //", "x:2: this comment is not closed"),
    ],
)
def test_what_is_not_closed_is_named_with_its_line(source, said):
    with pytest.raises(MigrationError, match=said):
        texts(source)


def test_an_escape_that_would_end_a_string_for_the_server_is_refused():
    assert texts(r"RETURN 'a\u00e9;'") == [r"RETURN 'a\u00e9;'"]
    for escape in (r"\u0027", r"\u0022", r"\u003B", r"\u002f", r"\uu005c"):
        with pytest.raises(MigrationError, match=r"x:2: .*write the character itself"):
            texts(f"RETURN 1;\nRETURN 'a{escape};'")


@requirement("NEO-81")
def test_an_interpolated_string_is_refused_and_a_word_ending_in_s_is_not_one():
    assert texts("MATCH (n) WHERE n.a STARTS WITH'x;' RETURN n.s") != []
    with pytest.raises(MigrationError, match=r"2026\.08"):
        texts('RETURN s"a {f(";")}"')
