"""The store's folder: private files, one starter at a time, a port of its own."""

import os
import socket
import stat
from pathlib import Path

import pytest

from mkg.errors import ConfigError, LocalDbError
from mkg.localdb import store
from mkg.localdb.store import Store
from tests.support.requirement import requirement


@pytest.fixture
def place(tmp_path) -> Store:
    found = Store(tmp_path / "stores" / "default")
    store.prepare(found)
    return found


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@requirement("NEO-12", "SEC-63")
def test_the_password_is_generated_once_and_private(place):
    secret = store.make_password(place)
    assert len(secret) >= 24
    assert store.make_password(place) == store.password(place) == secret
    assert mode(place.password_file) == 0o600
    assert mode(place.folder) == 0o700
    other = Store(place.folder.with_name("other"))
    store.prepare(other)
    assert store.make_password(other) != secret


@requirement("SEC-63")
def test_the_server_is_given_a_hash_in_its_own_form(place):
    secret = store.make_password(place)
    initial = place.folder / "data" / "dbms" / "auth.ini"
    assert mode(initial) == 0o600
    assert secret not in initial.read_text(encoding="utf-8")
    # Made by the server's own tool from this password.
    salt = "c1d8afe2135435a1ab85b045898b55539a017e8ba359f04d19b4c8a1d9ee828e"
    value = "baa42aead6ac4c3f44ccbb493c4a2450e1d6579068deb84b5008ce45db4498d7"
    expected = f"neo4j:SHA-256,{value},{salt},1024:\n"
    assert store.credentials("a sentence nobody types", bytes.fromhex(salt)) == expected


def test_a_lost_password_is_said_and_never_replaced(place):
    store.make_password(place)
    (place.folder / "data" / "databases" / "system").mkdir(parents=True)
    place.password_file.unlink()
    with pytest.raises(LocalDbError, match=r"password is missing.* up --new-password"):
        store.make_password(place)
    assert not place.password_file.exists()


def test_a_first_start_that_was_killed_early_begins_again(place):
    store.make_password(place)
    place.password_file.unlink()
    initial = place.folder / "data" / "dbms" / "auth.ini"
    before = initial.read_text(encoding="utf-8")
    store.make_password(place)
    assert initial.read_text(encoding="utf-8") != before


@pytest.mark.parametrize("how", ["readable", "link", "pipe"])
def test_a_password_file_that_others_could_read_or_plant_is_refused(place, tmp_path, how):
    store.make_password(place)
    if how == "readable":
        place.password_file.chmod(0o640)
    else:
        place.password_file.unlink()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_text("chosen by somebody", encoding="utf-8")
        elsewhere.chmod(0o600)
        if how == "link":
            place.password_file.symlink_to(elsewhere)
        else:
            os.mkfifo(place.password_file, 0o600)
    with pytest.raises(LocalDbError, match=r"password"):
        store.password(place)


@requirement("NEO-138")
def test_the_import_folder_is_empty_and_closed(place):
    folder = place.folder / "import"
    assert mode(folder) == 0o500
    assert list(folder.iterdir()) == []
    store.prepare(place)
    assert mode(folder) == 0o500


def test_a_store_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "stores").mkdir()
    (tmp_path / "stores" / "default").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match="not a folder of your own"):
        store.prepare(Store(tmp_path / "stores" / "default"))


def test_the_port_is_remembered_while_it_is_free(place):
    port = store.choose_port(place)
    assert port in store.PORTS
    assert store.choose_port(place) == store.remembered_port(place) == port
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        moved = store.choose_port(place)
        assert moved != port
    assert store.remembered_port(place) == moved


def test_a_port_that_was_taken_meanwhile_is_avoided(place):
    port = store.choose_port(place)
    assert store.choose_port(place, avoid=frozenset({port})) not in (port, None)


def test_a_broken_note_of_the_port_is_forgotten(place):
    (place.folder / "port").write_bytes(b"\xff\xfe twenty")
    assert store.remembered_port(place) is None
    assert store.choose_port(place) in store.PORTS


def test_a_second_starter_waits_and_then_gives_up_with_a_reason(place):
    told: list[str] = []
    with store.locked(place, patience=1, waiting=lambda: told.append("first")):
        second = store.locked(place, patience=0.2, waiting=lambda: told.append("second"))
        with pytest.raises(LocalDbError, match="another mkg has been busy"), second:
            pass
    with store.locked(place, patience=0.2, waiting=lambda: told.append("third")):
        pass
    assert told == ["second"]


def test_the_lock_is_not_inside_what_reset_removes(place):
    with store.locked(place, patience=1, waiting=lambda: None):
        assert not list(place.folder.glob("*.lock"))
        assert list(place.folder.parent.glob(".*.lock"))


def test_removing_takes_the_stores_folder_and_nothing_else(place, tmp_path):
    (tmp_path / "stores" / "other").mkdir()
    (place.folder / "data" / "deep").mkdir()
    (place.folder / "data" / "deep" / "file").write_bytes(b"x")
    store.remove(place, tmp_path / "stores")
    assert not place.folder.exists()
    assert (tmp_path / "stores" / "other").exists()


def test_removing_refuses_a_folder_elsewhere_and_a_link(place, tmp_path):
    with pytest.raises(LocalDbError, match="not removed"):
        store.remove(Store(tmp_path), tmp_path / "stores")
    link = tmp_path / "stores" / "link"
    link.symlink_to(place.folder)
    with pytest.raises(LocalDbError, match="not removed"):
        store.remove(Store(link), tmp_path / "stores")
    assert place.folder.exists()


def test_the_tail_of_the_log_is_its_last_lines(place):
    assert store.tail(place, 5) == []
    place.log.write_text("".join(f"line {n}\n" for n in range(5000)), encoding="utf-8")
    assert store.tail(place, 3) == ["line 4997", "line 4998", "line 4999"]
    assert len(store.tail(place, 5000)) == 5000
    store.rotate_log(place)
    assert store.tail(place, 3) == []
    assert place.log.with_name("server.out.before").exists()


def test_sizes_count_every_file_below(place):
    (place.folder / "data" / "a").write_bytes(b"x" * 700)
    (place.folder / "data" / "b").mkdir()
    (place.folder / "data" / "b" / "c").write_bytes(b"x" * 300)
    assert store.size(place.folder / "data") == 1000
    assert store.size(place.folder / "nothing") == 0
