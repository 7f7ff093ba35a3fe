"""Lists of words in files: remarks and empty lines are none of them."""

from pathlib import Path

from mkg import word_lists

TEXT = "# a remark: of ours\n\none two\nid a#: room  desk\nhost name: url\n: nameless\n"


def test_rows_and_names_are_read_without_remarks(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(TEXT, encoding="utf-8")
    assert word_lists.rows(path)[:2] == [["one", "two"], ["id", "a#:", "room", "desk"]]
    assert word_lists.named(path) == {
        "id a#": ["room", "desk"],
        "host name": ["url"],
        "": ["nameless"],
    }
