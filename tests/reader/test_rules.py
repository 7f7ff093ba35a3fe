"""The gate's own decision on texts and parameters, without any server (SEC-42)."""

import pytest

from mkg.features.reader import parameters, rules
from mkg.features.reader.lexer import Unreadable, lex
from mkg.features.reader.policy import load_policy
from tests.reader.cases import HONEST_PARAMETERS, honest, rows
from tests.support.requirement import requirement


def verdict(query: str, params: object = None) -> str:
    """Why the text layer refuses; empty when it does not."""
    decided = rules.decide(query)
    return parameters.objection(params or {}) or ("" if decided.allowed else decided.reason)


@requirement("SEC-42", "SEC-03", "NEO-139")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_the_text_layer_alone_holds_every_row_that_is_its_own(row):
    refused = verdict(row["query"], row.get("parameters")) != ""
    assert refused == (row["expected"] == "refuse")


@requirement("SEC-42")
@pytest.mark.parametrize("query", honest())
def test_an_honest_query_over_the_model_is_admitted(query):
    assert verdict(query, HONEST_PARAMETERS) == ""


def test_a_reason_names_the_kind_and_the_place_and_nothing_of_the_text():
    secret = "MATCH (n)\nWHERE n.password = 'hunter2' SET n.x = 1"
    assert rules.decide(secret).reason == "SET is refused here (line 2, column 30)"


def test_the_statement_to_run_has_no_closing_semicolon():
    assert rules.decide("RETURN 1 AS x ; // done\n").statement == "RETURN 1 AS x "


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda n: "RETURN '" + "x" * (n - 9) + "'", rules.MOST_BYTES),
        (lambda n: "RETURN " + "(" * n + "1" + ")" * n, rules.MOST_NESTING),
        (lambda n: "RETURN " + "CASE WHEN true THEN " * n + "1" + " END" * n, rules.MOST_NESTING),
        (lambda n: "RETURN 1" + ",1" * ((n - 2) // 2) + " " * (n % 2), None),
        (lambda n: "RETURN 1" + " + 1" * n, rules.MOST_OPERATORS),
        (lambda n: "MATCH (a)" + "-->()" * n + " RETURN a", 16),
        (lambda n: "RETURN " + "EXISTS { MATCH (n) WHERE " * n + "true" + " }" * n, 4),
        (lambda n: f"MATCH (a)-[*..{n}]->(b) RETURN a", 6),
        (lambda n: f"MATCH (a)-[*{n}]->(b) RETURN a", 6),
        (lambda n: f"MATCH (a)-->{{1,{n}}}(b) RETURN a", 6),
        (lambda n: f"MATCH ((a)-->(b)){{{n}}} RETURN a", 6),
    ],
)
def test_a_limit_admits_its_own_size_and_refuses_one_more(make, most):
    if most is None:
        most = rules.MOST_TOKENS
        assert verdict("RETURN 1" + ",1" * (most // 2 - 1)) == ""
        assert verdict("RETURN 1" + ",1" * (most // 2)) != ""
        return
    assert verdict(make(most)) == ""
    assert verdict(make(most + 1)) != ""


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"a": "x" * (parameters.MOST_BYTES - 8)}, ""),
        ({"a": "x" * (parameters.MOST_BYTES - 7)}, "larger than"),
        ({"a": [[[[[[[1]]]]]]]}, ""),
        ({"a": [[[[[[[[1]]]]]]]]}, "nested deeper"),
        ({"a": 2**63 - 1, "b": -(2**63), "c": True, "d": None, "e": 1.5}, ""),
        ({"a": 2**63}, "64 bits"),
        ({"a": float("nan")}, "finite"),
        ({"a": float("inf")}, "finite"),
        ({"a": "\ud800"}, "Unicode"),
        ({"\ud800": 1}, "Unicode"),
        ({1: 1}, "name"),
        ({"a": b"x"}, "JSON"),
        ([1], "one JSON object"),
        ("x", "one JSON object"),
    ],
)
def test_parameters_are_plain_json_of_bounded_size_and_depth(params, told):
    found = parameters.objection(params)
    assert told in found if told else found == ""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a//x\rb", ["word", "word"]),
        ("a/*/b*/c", ["word", "word"]),
        ("'a\\'b'\"c'd\"", ["string", "string"]),
        ("'\\\\' x", ["string", "word"]),
        ("`a``b`.c", ["quoted", "sign", "word"]),
        ("`//`", ["quoted"]),
        ("'/*' x '*/'", ["string", "word", "string"]),
        ("1..3 1.5 .5 0xFF 1e-3", ["number", "sign", "number", *["number"] * 4]),
        ("n.größe", ["word", "sign", "word"]),
        ("$p", ["sign", "word"]),
    ],
)
def test_the_lexer_cuts_where_the_server_does(text, kinds):
    assert [token.kind for token in lex(text)] == kinds


@pytest.mark.parametrize(
    "text",
    [
        "'a",
        '"a',
        "`a",
        "/* a",
        "'a\\",
        "``",
        "`a\\`",
        "1a",
        "1.",
        "1.a",
        "a$b",
        "a€",
        "~",
        "#",
        "@x",
        "a\u200bb",
        "'a\u202eb'",
        "// \x00",
        "\\",
        "?",
        "...",
        "a\u203fb",
        "\ufeffa",
        "'\\u0041'",
    ],
)
def test_the_lexer_refuses_what_it_is_not_sure_of(text):
    with pytest.raises(Unreadable):
        lex(text)


@pytest.mark.parametrize(
    ("place", "fine"),
    [
        ("RETURN n.{}", True),
        ("MATCH (n:{}) RETURN n", True),
        ("MATCH (n:A|{}&!B) RETURN n", True),
        ("MATCH ()-[r:A|{}]->() RETURN r", True),
        ("RETURN {{a: 1, {}: 2}} AS m", True),
        ("RETURN ${}", True),
        ("RETURN `{}`", True),
        ("RETURN '{}' // {}", True),
        ("MATCH (n) {} n", False),
        ("MATCH (n:A) {} n", False),
        ("RETURN n.x {} n", False),
        ("RETURN 1 AS x, {} AS y", False),
        ("CALL {{ {} }} RETURN 1", False),
        ("RETURN [x IN [1] | {} x]", False),
        ("WITH 1 AS AS {} n", False),
    ],
)
def test_a_refused_word_passes_as_a_name_and_nowhere_else(place, fine):
    for word in load_policy().refused:
        for spelled in (word, word.upper(), word.title()):
            assert rules.decide(place.format(spelled, spelled)).allowed == fine, spelled
