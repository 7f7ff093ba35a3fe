"""The lock file: what it names, and what is refused."""

import re
from pathlib import Path

import pytest

import mkg.localdb
from mkg.errors import LocalDbError
from mkg.localdb.jars import load_lock, parse
from mkg.localdb.lock import _listed, declares_procedures
from tests.support.requirement import requirement

SHIPPED = Path(mkg.localdb.__file__).with_name("server.lock")
GOOD = f"lib org.example:server:1.0 {'0' * 64} 10"


@requirement("NEO-01", "NEO-20")
def test_the_shipped_lock_pins_the_server_and_its_plugins_by_content():
    lock = load_lock()
    assert lock.version("org.neo4j", "neo4j") == "2026.01.4"
    assert lock.version("org.neo4j.app", "neo4j-server") == "2026.01.4"
    assert lock.version("org.neo4j.gds", "proc") == "2.26.0"
    assert lock.version("org.neo4j.procedure", "apoc-core") == "5.26.19"
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) and jar.size > 0 for jar in lock.jars)
    assert 150e6 < lock.total < 250e6


@requirement("NEO-21")
def test_no_file_name_is_in_the_shipped_lock_twice():
    lock = load_lock()
    names = [jar.name for jar in lock.jars]
    assert len(names) == len(set(names))
    with pytest.raises(LocalDbError, match="stands twice"):
        parse(f"{GOOD}\n{GOOD.replace('lib', 'ext', 1)}\n")


def test_the_plugins_keep_their_own_jars_that_are_named_like_the_servers():
    names = {jar.name for jar in load_lock().jars if jar.folder != "lib"}
    assert {"neo4j-log-adapter-2.26.0.jar", "neo4j-settings-2.26.0.jar"} <= names


def test_the_shipped_lock_names_neither_host_nor_path():
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert all("/" not in row for row in rows)
    assert lines == sorted(lines, key=lambda line: not line.startswith("#"))


def test_the_class_path_begins_with_the_servers_own_jars():
    folders = [jar.folder for jar in load_lock().jars]
    assert folders == sorted(folders, key=["lib", "ext", "plugins"].index)


def test_a_coordinate_gives_the_file_its_name():
    (jar,) = parse(f"lib io.example:native:4.2.Final:osx-aarch_64 {'a' * 64} 7").jars
    assert jar.name == "native-4.2.Final-osx-aarch_64.jar"
    assert jar.coordinate == "io.example:native:4.2.Final:osx-aarch_64"


def test_the_digest_depends_on_the_jars_and_not_on_their_order():
    other = GOOD.replace("server", "other")
    assert parse(f"{GOOD}\n{other}").digest == parse(f"# x\n{other}\n\n{GOOD}\n").digest
    assert parse(GOOD).digest != parse(other).digest


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "names no jar"),
        ("lib org.example:server:1.0", "not 'folder"),
        (GOOD.replace("lib", "../lib"), "not one of"),
        (GOOD.replace("org.example:server:1.0", "server"), "not a coordinate"),
        (GOOD.replace("org.example", "../org"), "not a coordinate"),
        (GOOD.replace("0" * 64, "0" * 63), "malformed"),
        (GOOD.replace(" 10", " -10"), "malformed"),
    ],
)
def test_a_malformed_line_is_refused_with_its_number(line, told):
    with pytest.raises(LocalDbError, match=told):
        parse(line)


def test_a_missing_artifact_is_an_error_and_not_a_guess():
    with pytest.raises(LocalDbError, match="make lock-server"):
        load_lock().version("org.example", "nothing")


def test_mavens_listing_gives_coordinates_and_files(tmp_path):
    text = (
        "\nThe following files have been resolved:\n"
        "   org.example:bom:pom:1:compile:/r/bom-1.pom\n"
        "   org.example:a:jar:1.0:compile:/r/a-1.0.jar\n"
        "   org.example:b:jar:linux:2.0:runtime:/r/b-2.0-linux.jar -- module org.b\n"
    )
    assert _listed(text) == [
        (["org.example", "a", "1.0"], Path("/r/a-1.0.jar")),
        (["org.example", "b", "2.0", "linux"], Path("/r/b-2.0-linux.jar")),
    ]


def test_a_jar_with_an_annotated_class_declares_procedures(tmp_path):
    import zipfile

    for name, code in (("with", b"\x01Lorg/neo4j/procedure/UserFunction;\x01"), ("without", b"x")):
        with zipfile.ZipFile(tmp_path / name, "w") as jar:
            jar.writestr("A.class", code)
    assert declares_procedures(tmp_path / "with")
    assert not declares_procedures(tmp_path / "without")
