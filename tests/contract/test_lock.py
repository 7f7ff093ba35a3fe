"""A7: the lock is current, and the version grows by what the changes since the release demand."""

import dataclasses
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg.bundle import header, load_bundle, lock
from mkg.bundle.check import lock_path, offline
from mkg.bundle.header import QuerySpec
from mkg.bundle.loader import Bundle
from mkg.errors import BundleError

GOOD = """// @query   toys.list
// @since   1.0.0
// @mode    read
// @card    many
// @param   owner  STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (t:Toy {owner: $owner}) // whose
RETURN t.id AS id
"""


def bundle(tmp_path: Path, *changes: tuple[str, str], version: str = "1.0.0") -> Bundle:
    text = GOOD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "list.cypher"
    path.write_text(text, encoding="utf-8")
    query = header.parse(path, "toys.list")
    return Bundle(version, "CYPHER 25", "V0001__x", {query.name: query})


def released(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.lock"
    path.write_text(lock.text(lock.release(lock.locked(bundle(tmp_path), None))), encoding="utf-8")
    return path


def demanded(tmp_path: Path, changed: Bundle) -> str:
    return lock.least(lock.locked(changed, lock.read(released(tmp_path))))


def test_the_shipped_lock_is_current() -> None:
    assert list(lock.locking(load_bundle(), lock_path())) == []


@pytest.mark.parametrize(
    ("changes", "least"),
    [
        ((), "1.0.0"),
        ((("// whose", "// of whom"), ("RETURN t.id", "RETURN  t.id")), "1.0.0"),
        ((("(t:Toy {owner: $owner})", "(t:Toy) WHERE t.owner = $owner"),), "1.0.1"),
        ((("// @return", "// @param   size   INTEGER\n// @return"),), "1.1.0"),
        ((("// @return", "// @param   size   INTEGER NOT NULL\n// @return"),), "2.0.0"),
        ((("// @locks", "// @return  size   INTEGER\n// @locks"),), "1.1.0"),
        ((("// @return", "// @return  size   INTEGER\n// @return"),), "2.0.0"),
        ((("// @param   owner  STRING NOT NULL\n", ""),), "2.0.0"),
        ((("owner  STRING NOT NULL", "owner  STRING"),), "2.0.0"),
        ((("owner  STRING", "owned  STRING"),), "2.0.0"),
        ((("id     STRING NOT NULL", "id     INTEGER NOT NULL"),), "2.0.0"),
        ((("@return  id", "@return  key"),), "2.0.0"),
        ((("@card    many", "@card    maybe"),), "2.0.0"),
        ((("@mode    read", "@mode    write"),), "2.0.0"),
    ],
)
def test_a_change_demands_its_bump(
    tmp_path: Path, changes: tuple[tuple[str, str], ...], least: str
) -> None:
    assert demanded(tmp_path, bundle(tmp_path, *changes)) == least


def test_a_query_added_is_minor_and_one_removed_is_major(tmp_path: Path) -> None:
    good = bundle(tmp_path)
    (query,) = good.queries.values()
    more = dataclasses.replace(good, queries={**good.queries, "toys.more": query})
    assert demanded(tmp_path, more) == "1.1.0"
    assert demanded(tmp_path, dataclasses.replace(good, queries={})) == "2.0.0"


def test_a7_refuses_a_version_that_is_too_low_and_admits_one_that_is_not(tmp_path: Path) -> None:
    change = ("// @locks", "// @return  size   INTEGER\n// @locks")
    path = released(tmp_path)
    for version, rules in (("1.0.9", ["A7"]), ("1.1.0", []), ("2.0.0", [])):
        now = bundle(tmp_path, change, version=version)
        path.write_text(lock.text(lock.locked(now, lock.read(path))), encoding="utf-8")
        assert [f.rule for f in lock.locking(now, path)] == rules


def test_a7_refuses_a_lock_that_is_behind_missing_or_of_another_version(tmp_path: Path) -> None:
    path = released(tmp_path)
    assert list(lock.locking(bundle(tmp_path), path)) == []
    body = ("{owner: $owner}", "{owner: $owner, id: $owner}")
    behind = bundle(tmp_path, body, version="1.0.1")
    assert [f.query for f in lock.locking(behind, path)] == ["toys.list", "bundle.lock"]
    (found,) = lock.locking(behind, tmp_path / "none.lock")
    assert (found.rule, "make lock-bundle" in found.message) == ("A7", True)


def test_a7_is_one_of_the_offline_rules(tmp_path: Path) -> None:
    empty = tmp_path / "sources"
    empty.mkdir()
    found = offline(load_bundle(), empty, tmp_path / "none.lock")
    assert "A7" in {f.rule for f in found}


def test_a_query_is_deleted_when_its_time_is_over(tmp_path: Path) -> None:
    path = tmp_path / "bundle.lock"
    for version, late in (("1.1.0", 0), ("1.2.0", 1)):
        now = bundle(tmp_path, ("1.0.0\n", "1.0.0\n// @until   1.2.0\n"), version=version)
        path.write_text(lock.text(lock.locked(now, None)), encoding="utf-8")
        assert len(list(lock.locking(now, path))) == late


def test_before_the_first_release_nothing_is_demanded(tmp_path: Path) -> None:
    now = lock.locked(bundle(tmp_path, version="0.1.0"), None)
    assert (lock.least(now), lock.changes(now)) == ("0.0.0", [])
    with pytest.raises(BundleError, match="three numbers"):
        lock.least(dataclasses.replace(now, released="next"))


def test_mkg_lock_tells_the_bump_and_writes_a_current_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkg import cli

    (tmp_path / "pyproject.toml").touch()
    path = tmp_path / "cypher" / "bundle.lock"
    path.parent.mkdir()
    shipped = load_bundle()
    first: QuerySpec = next(iter(shipped.queries.values()))
    less = dataclasses.replace(shipped, queries={first.name: first})
    path.write_text(lock.text(lock.release(lock.locked(less, None))), encoding="utf-8")
    monkeypatch.setattr("mkg.bundle.check.lock_path", lambda: path)
    monkeypatch.setattr(
        "mkg.bundle.load_bundle", lambda: dataclasses.replace(shipped, version="9.0.0")
    )
    done = CliRunner().invoke(cli.app, ["lock", "--release"])
    assert done.exit_code == 0, done.output
    assert "added" in done.stdout and "since 0.1.0" in done.stdout
    assert lock.read(path).released == "9.0.0"
    assert lock.changes(lock.read(path)) == []
