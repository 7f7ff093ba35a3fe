"""Words for the full-text side: what is kept, what is dropped, and that nothing is syntax."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from mkg import lexical
from tests.support.requirement import requirement


@requirement("MEM-T025", "MEM-T026", "MEM-T027")
def test_a_query_has_no_repeats_no_stop_words_and_a_cap() -> None:
    terms = lexical.query_terms(
        "deploy the deploy to an it of staging " + " ".join(f"word{n}" for n in range(40))
    )
    assert len(terms) == lexical.MAX_TERMS
    assert len(set(terms)) == len(terms)
    assert not {"the", "to", "an", "it", "of"} & set(lexical.query_terms("the to an it of deploy"))


@requirement("PERF-51")
def test_the_words_that_look_rarest_survive_the_cap() -> None:
    common = ["make", "name", "file", "test", "work", "data", "list", "type", "next", "line"]
    rare = ["parse_config.py", "PGBOUNCER_5433", "retention"]
    asked = lexical.query_terms(" ".join([*common, *rare]), limit=5)
    assert {"parse_config.py", "pgbouncer_5433", "retention"} <= set(asked)
    assert len(asked) == 5


@requirement("NEO-111")
def test_identifiers_and_paths_are_found_whole_and_in_parts() -> None:
    terms = lexical.index_terms("See src/parseConfig.py and MAX_RETRY_COUNT in C:\\repo\\a.py")
    assert {
        "parseconfig.py",
        "parse",
        "config",
        "src",
        "max",
        "retry",
        "count",
        "repo",
        "a.py",
    } <= set(terms)


@requirement("MEM-W05")
def test_every_script_gives_terms() -> None:
    for text in [
        "我们的测试只用 SQLite",
        "テストは SQLite",
        "настройка сервера",
        "شكرا جزيلا",
        "서버 설정",
    ]:
        assert lexical.query_terms(text), text


@requirement("NEO-11", "NEO-110")
@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_no_text_reaches_lucene_as_syntax(text: str) -> None:
    query = lexical.lucene(lexical.query_terms(text), lexical.owner_token("project:x"))
    if not query:
        return
    assert re.fullmatch(r'\+owner_token:o[0-9a-f]{20}\^0 \+\((?:"[^"\\]+" ?)+\)', query), query
    for term in re.findall(r'"([^"]+)"', query):
        assert re.fullmatch(r"[\w.\-]+", term), term


@requirement("MEM-T099")
def test_an_owner_token_is_alphanumeric_and_differs_by_owner() -> None:
    one, other = lexical.owner_token("project:a"), lexical.owner_token("project:b")
    assert one != other
    assert one.isalnum()
