"""The header grammar, one test per rule, and the stub that must agree with it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from mkg.bundle import header, load_bundle
from mkg.bundle.check import offline
from mkg.bundle.findings import Finding
from mkg.bundle.loader import Bundle, read_bundle
from mkg.bundle.rules_text import bindings, cypher_in_python, parameters
from mkg.bundle.stub import BOUND, Runner, cypher
from mkg.errors import BindingError, BundleError, HeaderError, RowShapeError
from tests.support.fake_runner import FakeRunner
from tests.support.requirement import requirement

GOOD = """// @query   toys.list
// @since   0.1.0
// @mode    read
// @card    many
// @param   owner  STRING NOT NULL  whose
// @return  id     STRING NOT NULL
// @return  size   INTEGER
// @locks   none
// @why     Because.
//          And because.
MATCH (t:Toy {owner: $owner}) RETURN t.id AS id, t.size AS size
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "list.cypher"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_header_is_read(tmp_path: Path) -> None:
    query = header.parse(write(tmp_path, GOOD), "toys.list")
    assert (query.mode, query.card, query.why) == ("read", "many", "Because. And because.")
    assert [str(p.type) for p in query.params] == ["STRING NOT NULL"]
    assert [(c.name, str(c.type)) for c in query.returns] == [
        ("id", "STRING NOT NULL"),
        ("size", "INTEGER"),
    ]
    assert query.text.startswith("CYPHER 25\nMATCH")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("toys.list", "toys.other"), "the path says"),
        (("// @mode    read\n", ""), "@mode is missing"),
        (("@mode    read", "@mode    look"), "not read, write or schema"),
        (("@card    many", "@card    some"), "not many, one, maybe or none"),
        (("@locks   none", "@lock    none"), "@lock is unknown"),
        (("// @locks   none\n", "// @locks   none\n// @locks   none\n"), "stands twice"),
        (
            ("// @since   0.1.0\n// @mode    read", "// @mode    read\n// @since   0.1.0"),
            "must stand before",
        ),
        (("STRING NOT NULL  whose", "TEXT NOT NULL  whose"), "not a known type"),
        (("owner  STRING", "Owner  STRING"), "not a lower_snake name"),
        (("// @query", "// query"), "not a header line"),
        (("@card    many", "@card    none"), "do not fit"),
        (
            ("MATCH (t:Toy {owner: $owner}) RETURN t.id AS id, t.size AS size\n", ""),
            "statement is missing",
        ),
    ],
)
def test_a_bad_header_names_the_file_and_the_fault(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in GOOD
    path = write(tmp_path, GOOD.replace(*change, 1))
    with pytest.raises(HeaderError, match=message) as caught:
        header.parse(path, "toys.list")
    assert str(path) in str(caught.value)


def _bundle(query: header.QuerySpec) -> Bundle:
    return Bundle("0.1.0", "CYPHER 25", "V0001__x", {query.name: query})


def test_a2_finds_an_undeclared_and_an_unused_parameter(tmp_path: Path) -> None:
    good = header.parse(write(tmp_path, GOOD), "toys.list")
    assert list(parameters(good)) == []
    broken = header.parse(write(tmp_path, GOOD.replace("$owner", "$ower")), "toys.list")
    assert [f.message for f in parameters(broken)] == [
        "$ower is used and not declared",
        "$owner is declared and not used",
    ]


def test_a2_reads_no_parameter_out_of_a_comment_or_a_string(tmp_path: Path) -> None:
    text = GOOD.replace("RETURN t.id", "// $ghost\nWHERE t.x <> '$ghost' RETURN t.id")
    assert list(parameters(header.parse(write(tmp_path, text), "toys.list"))) == []


def test_a5_finds_a_query_that_no_stub_binds(tmp_path: Path) -> None:
    query = header.parse(write(tmp_path, GOOD), "toys.list")
    assert bindings(_bundle(query)) == [
        Finding("A5", "toys.list", "no stub is bound to this query")
    ]
    import mkg.features.timeline  # noqa: F401 (binds its queries)

    assert "timeline.scope" in BOUND
    assert bindings(_bundle(load_bundle().queries["timeline.scope"])) == []


@requirement("NEO-04")
def test_a9_finds_cypher_in_python_and_not_in_a_docstring(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text('"""Doc.\n\nMATCH (n) is fine here."""\nQ = "MATCH (n:Toy) RETURN n"\n')
    assert [f.rule for f in cypher_in_python(bad, tmp_path)] == ["A9"]
    good = tmp_path / "good.py"
    good.write_text('Q = "match this (whatever)"\nR = "Create a file first"\n')
    assert list(cypher_in_python(good, tmp_path)) == []


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    cypher_root = tmp_path / "cypher"
    (cypher_root / "toys").mkdir(parents=True)
    (cypher_root / "bundle.toml").write_text('version="1"\nlanguage="CYPHER 25"\nschema="V"\n')
    (cypher_root / "toys" / "list.cypher").write_text(GOOD)
    assert list(read_bundle(cypher_root).queries) == ["toys.list"]
    (cypher_root / "bundle.toml").write_text('version="1"\n')
    with pytest.raises(BundleError, match="language"):
        read_bundle(cypher_root)


@dataclass(frozen=True, slots=True)
class Scope:
    project_id: str | None
    user_id: str | None
    epoch: int


@dataclass(frozen=True, slots=True)
class Shuffled:
    user_id: str | None
    project_id: str | None
    epoch: int


def test_a_stub_that_differs_from_its_header_is_refused_at_import() -> None:
    def scope(run: Runner, *, session: str) -> Scope | None: ...

    with pytest.raises(BindingError, match="differ from the header"):
        cypher("timeline.scope")(scope)

    def reach(run: Runner, *, session_id: str) -> Scope | None: ...

    with pytest.raises(BindingError, match="last name"):
        cypher("timeline.scope")(reach)


def test_a_second_stub_of_one_query_is_refused() -> None:
    import mkg.features.timeline  # noqa: F401 (binds the first one)

    def scope(run: Runner, *, session_id: str) -> Scope | None: ...

    with pytest.raises(BindingError, match=r"is bound by mkg\.features\.timeline"):
        cypher("timeline.scope")(scope)


@pytest.mark.parametrize("hint", [Shuffled | None, Scope, list[Scope]])
def test_a_row_class_that_differs_from_the_columns_is_refused(hint: object) -> None:
    def scope(run: Runner, *, session_id: str): ...  # type: ignore[no-untyped-def]

    scope.__annotations__ = {"run": Runner, "session_id": str, "return": hint}
    with pytest.raises(BindingError, match=r"fields|wants"):
        cypher("timeline.scope")(scope)


def test_a_row_that_does_not_fit_names_query_column_and_both_types() -> None:
    from mkg.features import timeline

    row = {"project_id": None, "user_id": "ann", "epoch": "two"}
    with pytest.raises(RowShapeError, match=r"timeline.scope.epoch is str.*INTEGER NOT NULL"):
        timeline.scope(FakeRunner({"timeline.scope": [row]}), session_id="s")
    with pytest.raises(RowShapeError, match="is null"):
        timeline.scope(FakeRunner({"timeline.scope": [row | {"epoch": None}]}), session_id="s")
    with pytest.raises(RowShapeError, match="promised maybe row and gave 2"):
        timeline.scope(FakeRunner({"timeline.scope": [row | {"epoch": 1}] * 2}), session_id="s")


def test_every_shipped_query_holds_the_offline_contract() -> None:
    import mkg
    from mkg.cli.contract import bind_all

    bind_all()
    assert offline(load_bundle(), Path(mkg.__file__).parent) == []
