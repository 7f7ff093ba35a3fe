"""Backup and restore without a real server: the file, the steps, and what a failure leaves."""

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg import localdb
from mkg.cli import app
from mkg.errors import LocalDbError, Refused
from mkg.localdb import archived, backups, launch, life, look, process, store, swap
from mkg.localdb.archived import Content, Manifest
from mkg.localdb.jars import Lock
from mkg.localdb.store import Store
from mkg.settings import Settings, StoreSettings
from tests.localdb.small import small_home, small_lock, with_java
from tests.support.requirement import requirement

# A server that sleeps, and an offline tool that copies one file.
BODY = """
memory=data/databases/neo4j/memory
case "$*" in *AdminTool*) ;; *) exec sleep 60 ;; esac
for word; do
  case "$word" in
    --to-path=*) test ! -e "$0.broken" || { echo 'No space left'; exit 1; }
      echo 'Files: 1/2, data: 60.0%'; cp $memory "${word#*=}/neo4j.dump" ;;
    --from-path=*) test ! -e "$0.broken" || { echo 'not a dump'; exit 1; }
      mkdir -p data/databases/neo4j; cp "${word#*=}/neo4j.dump" $memory ;;
    check) test ! -e "$0.damaged" || { echo 'Inconsistencies found: 3'; exit 1; } ;;
  esac
done
"""


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Iterator[Settings]:
    """A store that holds one text, whose server runs."""
    made = with_java(small_home(tmp_path, monkeypatch), BODY)
    monkeypatch.setattr(launch, "wait", lambda *_, **__: None)
    monkeypatch.setattr(backups, "content", counted)
    monkeypatch.setattr(look, "inside", lambda place, caller: contextlib.nullcontext(place))
    write(made, "what was remembered")
    life.ensure_running(made, Store(made.paths.store_dir), str, {})
    yield made
    localdb.down(made)


def memory(settings: Settings) -> Path:
    return settings.paths.store_dir / "data" / "databases" / "neo4j" / "memory"


def write(settings: Settings, text: str) -> None:
    store.prepare(Store(settings.paths.store_dir))
    memory(settings).parent.mkdir(parents=True, exist_ok=True)
    memory(settings).write_text(text, encoding="utf-8")


def counted(place: Store) -> Content:
    """The number of letters is the number of nodes."""
    found = store.running(place)
    # Only a server that others cannot find is asked.
    assert place.private and found is not None
    text = (place.folder / "data/databases/neo4j/memory").read_text(encoding="utf-8")
    return Content({"Letter": len(text)}, {}, text)


def running(settings: Settings) -> bool:
    return store.running(Store(settings.paths.store_dir)) is not None


@requirement("ENC-W109")
def test_a_backup_comes_back_and_the_server_runs_afterwards_as_it_did_before(settings, tmp_path):
    file, told = tmp_path / "memory.mkg", list[str]()
    secret = store.password(Store(settings.paths.store_dir))
    done = localdb.backup(settings, file, told.append)
    assert (done.content.numbers(), done.running) == ("19 nodes and 0 relationships", True)
    assert done.bytes == file.stat().st_size
    assert file.stat().st_mode & 0o777 == 0o600
    assert [line for line in told if "%" in line] == ["  50 %"]
    assert running(settings)
    write(settings, "something else")
    again = localdb.restore(settings, file, told.append)
    assert (again.content, again.running) == (done.content, True)
    assert memory(settings).read_text(encoding="utf-8") == "what was remembered"
    assert store.password(Store(settings.paths.store_dir)) == secret
    assert running(settings)
    assert sorted(path.name for path in tmp_path.glob("*memory*")) == ["memory.mkg"]
    beside = settings.paths.store_dir.parent
    assert sorted(path.name for path in beside.iterdir()) == [".default.lock", "default"]


def test_a_stopped_store_is_backed_up_and_stays_stopped(settings, tmp_path):
    localdb.down(settings)
    assert not localdb.backup(settings, tmp_path / "memory.mkg").running
    assert not running(settings)


def test_while_a_store_is_measured_nobody_finds_its_server_or_its_port(settings, monkeypatch):
    seen: list[object] = []
    before = store.remembered_port(Store(settings.paths.store_dir))

    def looking(place: Store) -> Content:
        seen.append((localdb.endpoint(settings), store.remembered_port(place) == before))
        return counted(place)

    monkeypatch.setattr(backups, "content", looking)
    localdb.backup(settings, settings.home / "memory.mkg")
    assert seen == [(None, False)]
    found = localdb.endpoint(settings)
    assert found is not None and found.uri.endswith(f":{before}")


@pytest.mark.parametrize("fault", ["broken", "damaged"])
def test_a_backup_that_fails_leaves_no_file_and_the_store_as_it_was(settings, tmp_path, fault):
    Path(f"{settings.java}.{fault}").touch()
    words = {"broken": "No space left", "damaged": "Inconsistencies found: 3"}
    with pytest.raises(LocalDbError, match=words[fault]):
        localdb.backup(settings, tmp_path / "memory.mkg")
    assert list(tmp_path.glob("*memory*")) == []
    assert running(settings)


def test_a_backup_never_replaces_a_file_and_never_begins_without_a_folder(settings, tmp_path):
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    with pytest.raises(Refused, match="choose another name"):
        localdb.backup(settings, tmp_path / "there")
    with pytest.raises(Refused, match="make it first"):
        localdb.backup(settings, tmp_path / "absent" / "file")
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"
    assert running(settings)


def test_a_full_disk_is_said_before_the_server_is_stopped(settings, tmp_path, monkeypatch):
    pid = store.running(Store(settings.paths.store_dir))
    usage = type("Usage", (), {"free": 1 << 20})
    monkeypatch.setattr(store.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(LocalDbError, match=r"1 MB are free and .* MB are needed; nothing was"):
        localdb.backup(settings, tmp_path / "memory.mkg")
    assert store.running(Store(settings.paths.store_dir)) == pid


def test_a_store_that_never_was_has_nothing_to_back_up(tmp_path, monkeypatch):
    with pytest.raises(Refused, match="never started"):
        localdb.backup(small_home(tmp_path, monkeypatch), tmp_path / "memory.mkg")


@pytest.mark.parametrize("act", [localdb.backup, localdb.restore])
def test_a_foreign_server_is_left_alone_and_its_own_means_are_named(settings, tmp_path, act):
    where = StoreSettings.model_validate(
        {"uri": "bolt://127.0.0.1:1", "username": "neo4j", "password": "not-a-weak-one"}
    )
    foreign = settings.model_copy(update={"store": where})
    with pytest.raises(Refused, match=r"your own server.*neo4j-admin database dump.*snapshots"):
        act(foreign, tmp_path / "memory.mkg")


def test_a_restore_whose_content_differs_keeps_the_old_store(settings, tmp_path, monkeypatch):
    localdb.backup(settings, tmp_path / "memory.mkg")
    write(settings, "newer than the backup")
    other = Content({"Letter": 3}, {}, "other")
    monkeypatch.setattr(backups, "content", lambda _: other)
    with pytest.raises(LocalDbError, match="3 nodes and 0 relationships instead of 19 nodes"):
        localdb.restore(settings, tmp_path / "memory.mkg")
    assert memory(settings).read_text(encoding="utf-8") == "newer than the backup"
    assert running(settings)
    assert not swap.side(Store(settings.paths.store_dir)).folder.exists()


def test_a_restore_that_cannot_load_keeps_the_old_store(settings, tmp_path):
    localdb.backup(settings, tmp_path / "memory.mkg")
    write(settings, "newer than the backup")
    Path(f"{settings.java}.broken").touch()
    with pytest.raises(LocalDbError, match="could not load the data"):
        localdb.restore(settings, tmp_path / "memory.mkg")
    assert memory(settings).read_text(encoding="utf-8") == "newer than the backup"
    assert running(settings)


def test_a_restore_into_an_empty_home_makes_a_password_and_stays_stopped(settings, tmp_path):
    localdb.backup(settings, tmp_path / "memory.mkg")
    fresh = settings.model_copy(update={"home": tmp_path / "another home"})
    assert not localdb.restore(fresh, tmp_path / "memory.mkg").running
    assert memory(fresh).read_text(encoding="utf-8") == "what was remembered"
    assert store.password(Store(fresh.paths.store_dir))


@pytest.mark.parametrize("renamed", [0, 1, 2])
def test_a_restore_killed_between_its_renames_leaves_one_whole_store(settings, renamed):
    localdb.down(settings)
    place = Store(settings.paths.store_dir)
    old, new = place.folder.with_name(".default.replaced"), swap.side(place).folder
    new.mkdir()
    (new / "new").touch()
    if renamed > 0:
        place.folder.replace(old)
    if renamed > 1:
        new.replace(place.folder)
    with life.alone(place, str):
        assert (place.folder / "new").exists() == (renamed == 2)
        assert memory(settings).exists() == (renamed < 2)
        assert not old.exists()


def test_a_private_server_that_a_killed_backup_left_is_ended_by_the_next_command(settings):
    place = Store(settings.paths.store_dir)
    localdb.down(settings)
    hidden = dataclasses.replace(place, private=True)
    left = process.start(["/bin/sleep", "60"], note=hidden.pid_file, log=hidden.log, env={})
    assert left is not None
    assert localdb.endpoint(settings) is None
    localdb.down(settings)
    assert not process.alive(left)


def sealed(path: Path, **changes: object) -> Manifest:
    path.write_bytes(b"the dump" * 100)
    values: dict[str, object] = {
        "made_at": "2026-11-30T00:00:00+00:00",
        "mkg": "0",
        "neo4j": "2026.01.4",
        "size": 800,
        "sha256": archived.digest(path),
        "store_bytes": 1,
        "content": Content({"A": 1}, {"B": 2}, "0"),
        **changes,
    }
    manifest = Manifest(**values)  # type: ignore[arg-type]
    archived.seal(path, manifest)
    return manifest


def test_a_whole_file_is_read_and_its_dump_comes_out_as_it_went_in(tmp_path):
    manifest = sealed(tmp_path / "file")
    assert archived.open_sealed(tmp_path / "file") == manifest
    archived.unpack(tmp_path / "file", manifest, tmp_path / "dump")
    assert (tmp_path / "dump").read_bytes() == b"the dump" * 100
    assert (tmp_path / "dump").stat().st_mode & 0o777 == 0o600


def test_a_file_cut_short_at_any_byte_is_refused(tmp_path):
    sealed(tmp_path / "file")
    whole = (tmp_path / "file").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "part").write_bytes(whole[:length])
        with pytest.raises(Refused, match="nothing was changed"):
            archived.open_sealed(tmp_path / "part")


def test_a_file_with_a_changed_byte_anywhere_is_refused(tmp_path):
    sealed(tmp_path / "file")
    whole = (tmp_path / "file").read_bytes()
    for place in range(len(whole)):
        changed = bytes([whole[place] ^ 1])
        (tmp_path / "file").write_bytes(whole[:place] + changed + whole[place + 1 :])
        with pytest.raises(Refused, match=r"damaged|not a backup"):
            archived.open_sealed(tmp_path / "file")


def test_a_foreign_file_and_a_missing_one_are_refused_by_name(tmp_path):
    (tmp_path / "neo4j.dump").write_bytes(b"DZV1" + os.urandom(500))
    with pytest.raises(Refused, match=r"neo4j\.dump is not a backup made by `mkg db backup`"):
        archived.open_sealed(tmp_path / "neo4j.dump")
    with pytest.raises(Refused, match="No such file"):
        archived.open_sealed(tmp_path / "absent")


def test_a_file_of_a_newer_kind_or_a_newer_server_asks_for_a_newer_mkg(tmp_path, monkeypatch):
    monkeypatch.setattr(archived, "FORMAT", 2)
    sealed(tmp_path / "kind")
    monkeypatch.undo()
    with pytest.raises(Refused, match="made by a newer mkg"):
        localdb.look_into(tmp_path / "kind")
    sealed(tmp_path / "server", neo4j="2027.01.0")
    with pytest.raises(Refused, match=r"2027\.01\.0, which is newer than the 2026"):
        localdb.look_into(tmp_path / "server")
    sealed(tmp_path / "older", neo4j="2025.12.9")
    assert localdb.look_into(tmp_path / "older").neo4j == "2025.12.9"


def test_restore_wants_a_yes_and_says_what_would_be_there(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("MKG_HOME", str(settings.home))
    sealed(tmp_path / "file")
    refused = CliRunner().invoke(app, ["db", "restore", str(tmp_path / "file")])
    assert isinstance(refused.exception, Refused)
    assert "by the 1 nodes and 2 relationships of 2026-11-30" in str(refused.exception)
    assert "--yes" in str(refused.exception)
    assert memory(settings).exists()


def test_both_commands_answer_in_json(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("MKG_HOME", str(settings.home))
    monkeypatch.setenv("MKG_CACHE", str(settings.cache))
    monkeypatch.setenv("MKG_JAVA", str(settings.java))
    file = str(tmp_path / "file")
    for words in (["backup", file], ["restore", file, "--yes"]):
        done = CliRunner().invoke(app, ["db", *words, "--json"])
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert (told["file"], told["content"]["nodes"]) == (file, {"Letter": 19})


def test_an_older_server_never_opens_the_data_of_a_newer_one(settings, monkeypatch, tmp_path):
    place = Store(settings.paths.store_dir)
    pinned = next(jar for jar in small_lock().jars if jar.folder == "lib")
    named = dataclasses.replace(pinned, group="org.neo4j", artifact="neo4j", version="2026.01.4")
    plan = launch.plan(settings, place, str)
    older = dataclasses.replace(plan, lock=Lock((named,), "other"))
    store.remember(place, "neo4j", "2026.8.1")
    with pytest.raises(LocalDbError, match=r"2026\.8\.1, which is newer than the 2026\.01\.4"):
        life.refuse_older(place, older)
    for last in ("2026.01.4", "2025.12.0"):
        store.remember(place, "neo4j", last)
        life.refuse_older(place, older)
