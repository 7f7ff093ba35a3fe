"""Names, headers and hashes of migration files; no server."""

import re
from pathlib import Path

import pytest

from mkg.bundle import files, spec
from mkg.errors import MigrationError
from mkg.migrate import read_migrations, source
from tests.migrate.folder import BASELINE, folder, write
from tests.support.requirement import requirement

NASTY = "tests/support/migration_files/comment_pile.cypher"


def ids(root) -> list[str]:
    return [migration.id for migration in read_migrations(root)]


def refused(root) -> str:
    with pytest.raises(MigrationError) as caught:
        read_migrations(root)
    return str(caught.value)


def test_a_folder_reads_as_baseline_then_numbers_then_repeatables(tmp_path):
    root = folder(tmp_path, R__policy="RETURN 1;", V0010__b="RETURN 1;", V0002__a="RETURN 1;")
    (root / "README.md").write_text("not a migration")
    (root / ".V0003__x.cypher.swp").write_text("nor this")
    assert ids(root) == [BASELINE, "V0002__a", "V0010__b", "R__policy"]


@pytest.mark.parametrize(
    "name",
    ["V1__x", "V0001_x", "V0001__X", "U0001__x", "V0001__x.rollback", "V0001__x.undo", "notes"],
)
def test_a_name_that_is_no_migration_is_refused_and_no_rollback_is_one(tmp_path, name):
    root = folder(tmp_path)
    (root / f"{name}.cypher").write_text("RETURN 1;")
    assert "not a name of a migration" in refused(root)


def test_the_ending_is_lower_case(tmp_path):
    (folder(tmp_path) / "V0001__x.CYPHER").write_text("RETURN 1;")
    assert "not a name of a migration" in refused(tmp_path)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"V0001__a": "RETURN 1;", "V0001__b": "RETURN 1;"}, "share a number"),
        ({"V0000__a": "RETURN 1;"}, "share a number"),
        ({"B0001__a": "RETURN 1;"}, "number 0000 is the baseline's"),
        ({"V0001__a__verify": "RETURN 1;"}, "there is no V0001__a.cypher that it could verify"),
        (
            {"V0001__a": "// @migration V0002__a\nRETURN 1;"},
            "must start with // @migration V0001__a",
        ),
        ({"V0001__a": "// @tx one\n// @migration V0001__a\nRETURN 1;"}, "stand in the order"),
        ({"V0001__a": "// @migration V0001__a\n// @tx all\nRETURN 1;"}, "@tx all is not one, each"),
        ({"V0001__a": "// @migration V0001__a\n// @what x\nRETURN 1;"}, ":2: @what is unknown"),
        ({"V0001__a": "// @migration V0001__a\n// hello\nRETURN 1;"}, ":2: not a header line"),
        ({"V0001__a": "// @migration V0001__a\n// @migration V0001__a\nRETURN 1;"}, "stands twice"),
        ({"V0001__a": "// nothing runs\n;"}, "not a header line"),
        ({"V0001__a": "/* nothing runs */;"}, "holds no statement"),
        ({"V0001__a": "RETURN 1;\nCYPHER 5 RETURN 1;"}, ":3: a statement cannot start with CYPHER"),
        ({"V0001__a": "profile RETURN 1;"}, ":2: a statement cannot start with PROFILE"),
        ({"V0001__a": "RETURN '$no' + n.`$no` + $yes;"}, ":2: $yes: a migration has no parameters"),
        ({"V0001__a": "RETURN $`y s`;"}, "a migration has no parameters"),
        ({"V0001__a": "CALL () { RETURN 1 } in 2 concurrent  transactions;"}, "needs // @tx none"),
        (
            {"V0001__a": "// @migration V0001__a\n// @depends V0009__z\nRETURN 1;"},
            "no such migration",
        ),
        (
            {"V0001__a": "RETURN 1;", "V0001__a__verify": "// @verify V2\nRETURN 1;"},
            "@verify V0001__a",
        ),
        ({"V0001__a": "RETURN 1;", "V0001__a__verify": "/**/"}, "holds no statement"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_its_place(tmp_path, files, said):
    assert said in refused(folder(tmp_path, **files))


def test_a_word_in_a_string_or_comment_breaks_no_rule(tmp_path):
    root = folder(
        tmp_path, V0001__a="RETURN 'IN TRANSACTIONS $x' /* IN TRANSACTIONS $x */, n.`$x`, $(x);"
    )
    assert ids(root) == [BASELINE, "V0001__a"]


def test_a_folder_without_baseline_or_that_is_not_there_says_what_to_do(tmp_path):
    assert "there is no folder of migrations" in refused(tmp_path / "nowhere")
    assert "restore B0000__baseline.cypher" in refused(write(tmp_path, {"V0001__a": "RETURN 1;"}))


def test_only_a_smaller_number_can_be_depended_on(tmp_path):
    header = "// @migration V0001__a\n// @depends {}\nRETURN 1;"
    root = folder(tmp_path, V0001__a=header.format("V0002__b"), V0002__b="RETURN 1;")
    assert "only a smaller number" in refused(root)
    write(root, {"V0001__a": header.format("V0001__a")})
    assert "only a smaller number" in refused(root)
    write(
        root,
        {
            "V0001__a": header.format("B0000__baseline"),
            "R__p": "// @migration R__p\n// @depends V0001__a V0002__b\nRETURN 1;",
        },
    )
    assert ids(root)[-1] == "R__p"


def test_two_folders_with_the_same_ids_do_not_share_their_dependencies(tmp_path):
    body = "// @migration V0002__b\n// @depends V0001__a\nRETURN 1;"
    folder(tmp_path / "one", V0001__a="RETURN 1;", V0002__b=body)
    folder(tmp_path / "two", V0001__a="RETURN 2;", V0002__b=body)
    one, two = read_migrations(tmp_path / "one"), read_migrations(tmp_path / "two")
    assert [next(iter(found[2].depends)) for found in (one, two)] == [one[1], two[1]]


@requirement("NEO-85", "NEO-91")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "  \t\n"),
        lambda text: text + "\n\n",
    ],
    ids=["dos", "old mac", "byte order mark", "trailing blanks", "blank lines at the end"],
)
def test_a_checkout_that_only_changed_line_ends_has_the_same_hash_and_statements(tmp_path, change):
    text = "// @migration V0001__a\nCREATE (:A {t: 'x\ny'});\nRETURN 1;\n"
    plain = source.read(folder(tmp_path / "plain", V0001__a=text) / "V0001__a.cypher")
    other = folder(tmp_path / "other") / "V0001__a.cypher"
    other.write_bytes(change(text).encode())
    assert source.read(other).checksum("p") == plain.checksum("p")
    assert source.read(other).statements == plain.statements


@requirement("NEO-85")
def test_the_hash_covers_comments_words_and_the_hash_before_it(tmp_path):
    texts = ["RETURN 1;", "RETURN 1; // a", "RETURN  1;", "RETURN 2;"]
    found = set()
    for text in texts:
        file = source.read(folder(tmp_path, V0001__a=text) / "V0001__a.cypher")
        found |= {file.checksum(""), file.checksum("p")}
    assert len(found) == 2 * len(texts)


def test_a_file_that_is_not_utf8_is_named_with_the_byte(tmp_path):
    (folder(tmp_path) / "V0001__a.cypher").write_bytes(b"// @migration V0001__a\nRETURN '\xff';")
    assert "V0001__a.cypher: not UTF-8 at byte 31" in refused(tmp_path)


def test_the_pile_of_comments_and_quotes_holds_four_statements(tmp_path):
    text = Path(NASTY).read_text(encoding="utf-8")
    root = folder(tmp_path, V0001__comment_pile=text)
    file = read_migrations(root)[1].file
    assert [part.line for part in file.statements] == [4, 6, 8, 13]
    assert file.why.endswith("four statements in all.")


def test_the_shipped_folder_reads_and_its_baseline_is_what_the_runner_stands_on():
    shipped = read_migrations(files.root("migrations"))
    names = re.findall(r"CREATE CONSTRAINT (\w+)", shipped[0].file.text)
    asked = spec("ops.migration_ready").body
    assert shipped[0].id == BASELINE and set(names) == set(re.findall(r"'(\w+)'", asked))
    assert f"count(*) = {len(names)} AS ready" in asked
