"""Starting, stopping and removing, as far as it goes without a real server."""

import json
import os
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg import localdb
from mkg.cli import app
from mkg.cli.db import describe
from mkg.errors import ConfigError, GraphUnavailable, LocalDbError, Refused
from mkg.localdb import fetch, launch, life, process, store
from mkg.localdb.look import Status
from mkg.localdb.store import Store
from mkg.private import write_private
from mkg.settings import Settings, StoreSettings
from tests.localdb.small import Repository, small_home, starts, with_java
from tests.support.requirement import requirement


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    return small_home(tmp_path, monkeypatch)


def foreign(settings: Settings) -> Settings:
    where = StoreSettings.model_validate(
        {"uri": "bolt://127.0.0.1:1", "username": "neo4j", "password": "not-a-weak-one"}
    )
    return settings.model_copy(update={"store": where})


def test_a_server_that_dies_is_quoted_in_the_error(settings):
    ending = "echo 'INFO  Starting...'; echo 'ERROR Failed to start: the reason'; exit 1"
    dying = with_java(settings, ending)
    with pytest.raises(LocalDbError) as told:
        localdb.up(dying)
    assert "ended while it started" in str(told.value)
    assert "ERROR Failed to start: the reason" in str(told.value)
    assert "INFO" not in str(told.value)
    assert str(dying.paths.store_dir) in str(told.value)
    assert starts(dying) == 1
    assert localdb.endpoint(dying) is None


def test_a_database_that_stays_down_is_quoted_from_the_servers_own_log(settings, monkeypatch):
    monkeypatch.setattr(launch, "START_SECONDS", 0.3)
    entries = [
        {"time": "2020-01-01 00:00:00.000+0000", "level": "ERROR", "message": "an older start"},
        {"time": "2999-01-01 00:00:00.000+0000", "level": "INFO", "message": "nothing"},
        {
            "time": "2999-01-01 00:00:00.000+0000",
            "level": "ERROR",
            "message": "Failed to start the database",
            "stacktrace": "x.Y: z\n\tat a\nCaused by: outer\n\tat b\nCaused by: no room\n\tat c",
        },
    ]
    slow = with_java(settings, "exec sleep 60")
    place = Store(slow.paths.store_dir)
    store.prepare(place)
    log = place.folder / "logs" / "debug.log"
    text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
    log.write_text(f"half a line{text}not json\n", encoding="utf-8")
    try:
        with pytest.raises(LocalDbError) as told:
            localdb.up(slow)
    finally:
        localdb.down(slow)
    assert "Failed to start the database: no room" in str(told.value)
    assert "older" not in str(told.value)


def test_a_start_that_a_full_disk_holds_up_says_so_at_once(settings, monkeypatch):
    slow = with_java(settings, "exec sleep 60")
    place = Store(slow.paths.store_dir)
    store.prepare(place)
    entry = {
        "time": "2999-01-01 00:00:00.000+0000",
        "level": "ERROR",
        "message": "Database panic: System is out of disk space for store file",
    }
    (place.folder / "logs" / "debug.log").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    monkeypatch.setattr(store, "free", lambda _: True)
    monkeypatch.setattr(store, "listening", lambda _: True)
    began = time.monotonic()
    try:
        with pytest.raises(LocalDbError, match=r"is full: .*nothing is lost: free some space"):
            localdb.up(slow)
    finally:
        localdb.down(slow)
    assert time.monotonic() - began < 30


def test_a_port_that_somebody_took_meanwhile_is_given_up_for_another(settings):
    dying = with_java(settings, "echo 'Caused by: java.net.BindException: Address already in use'")
    told: list[str] = []
    with pytest.raises(LocalDbError, match="were taken while the server started"):
        localdb.up(dying, told.append)
    ports = [line.split("port ")[1].split()[0] for line in told if "starting" in line]
    assert len(ports) == len(set(ports)) == starts(dying) == 3


def test_a_jar_that_was_damaged_on_the_disk_is_replaced_and_the_start_repeated(
    settings, monkeypatch
):
    dying = with_java(settings, "exit 1")
    repository = Repository()
    monkeypatch.setattr(fetch, "repository", lambda: repository)
    (jar,) = (settings.cache / "jars").rglob("server-1.0.jar")
    jar.write_bytes(b"z" * jar.stat().st_size)
    with pytest.raises(LocalDbError):
        localdb.up(dying)
    assert repository.asked == ["server-1.0.jar"]
    assert starts(dying) == 2
    with pytest.raises(LocalDbError):
        localdb.up(dying)
    assert starts(dying) == 3


@requirement("NEO-23")
def test_a_start_that_takes_too_long_says_so_and_leaves_the_process_to_the_user(
    settings, monkeypatch
):
    monkeypatch.setattr(launch, "START_SECONDS", 0.3)
    slow = with_java(settings, "echo 'INFO  Started.'; exec sleep 60")
    try:
        with pytest.raises(LocalDbError, match="did not answer within") as told:
            localdb.up(slow)
        assert "mkg db down" in str(told.value)
        found = store.running(Store(slow.paths.store_dir))
        assert found is not None
    finally:
        assert localdb.down(slow)
    assert not process.alive(found)
    assert not localdb.down(slow)


def test_a_running_server_is_left_alone_until_its_configuration_changes(settings, monkeypatch):
    monkeypatch.setattr(launch, "wait", lambda *_, **__: None)
    idle = with_java(settings, "exec sleep 60")
    place = Store(idle.paths.store_dir)
    try:
        assert life.ensure_running(idle, place, str, {}) is not None
        first = store.running(place)
        assert life.ensure_running(idle, place, str, {}) is None
        assert store.running(place) == first
        larger = idle.model_copy(update={"heap": "700m"})
        told: list[str] = []
        assert life.ensure_running(larger, place, told.append, {}) is not None
        assert store.running(place) not in (first, None)
        assert "restarting" in told[0]
        names = ("apoc.meta.schema", "gds.version")
        monkeypatch.setattr(launch.config, "allowed", lambda *_: names)
        assert life.ensure_running(larger, place, told.append, {}) is not None
        assert ",".join(names) in (place.conf / "neo4j.conf").read_text(encoding="utf-8")
        assert starts(idle) == 3
    finally:
        localdb.down(idle)


def test_a_server_that_no_longer_answers_is_restarted(settings, monkeypatch):
    idle = with_java(settings, "exec sleep 60")
    place = Store(idle.paths.store_dir)
    answers = iter([None, LocalDbError("hangs"), None])

    def wait(*_: object, **__: object) -> None:
        answer = next(answers)
        if answer is not None:
            raise answer

    monkeypatch.setattr(launch, "wait", wait)
    try:
        assert life.ensure_running(idle, place, str, {}) is not None
        assert life.ensure_running(idle, place, str, {}) is not None
        assert starts(idle) == 2
    finally:
        localdb.down(idle)


def test_one_that_answered_is_not_waited_for_like_one_that_still_starts(settings, monkeypatch):
    idle = with_java(settings, "exec sleep 60")
    place = Store(idle.paths.store_dir)
    waited: list[float | None] = []

    def wait(*_: object, patience: float | None = None) -> None:
        waited.append(patience)
        if len(waited) == 3:
            raise LocalDbError("its starter was killed")

    monkeypatch.setattr(launch, "wait", wait)
    try:
        assert life.ensure_running(idle, place, str, {}) is not None
        assert life.ensure_running(idle, place, str, {}) is None
        process.stop(store.running(place) or process.Process(0, ""), patience=5)
        # The next one has not answered yet, whatever the one before it did.
        with pytest.raises(LocalDbError, match="was killed"):
            life.ensure_running(idle, place, str, {})
        assert life.ensure_running(idle, place, str, {}) is None
        assert starts(idle) == 2
    finally:
        localdb.down(idle)
    (_, answered, _, starting) = waited
    assert answered == launch.ANSWER_SECONDS
    assert starting is not None and starting > launch.START_SECONDS - 60


def test_a_cache_whose_path_java_cannot_read_is_refused(settings, tmp_path):
    odd = settings.model_copy(update={"cache": tmp_path / "a:b"})
    with pytest.raises(ConfigError, match="colon"):
        localdb.up(odd)


def test_what_is_secret_or_chosen_by_the_caller_is_not_in_the_command(settings):
    body = 'printf "%s\\n" "$@" > "$0.args"; env > "$0.env"; exit 1'
    dying = with_java(settings, body)
    with pytest.raises(LocalDbError):
        localdb.up(dying, env={"JAVA_TOOL_OPTIONS": "-javaagent:evil.jar", "PATH": os.defpath})
    place = Store(dying.paths.store_dir)
    secret = store.password(place)
    assert secret is not None
    seen = Path(f"{dying.java}.args").read_text(encoding="utf-8")
    seen += (place.conf / "java.args").read_text(encoding="utf-8")
    seen += (place.conf / "neo4j.conf").read_text(encoding="utf-8")
    assert "org.neo4j.server.Neo4jCommunity" in seen
    assert secret not in seen
    assert "JAVA_TOOL_OPTIONS" not in Path(f"{dying.java}.env").read_text(encoding="utf-8")
    for name in ("neo4j.conf", "apoc.conf", "java.args"):
        assert (place.conf / name).stat().st_mode & 0o777 == 0o600


def test_an_answer_is_never_sought_where_no_server_of_ours_runs(settings):
    assert localdb.endpoint(settings) is None
    place = Store(settings.paths.store_dir)
    store.prepare(place)
    store.make_password(place)
    store.choose_port(place)
    assert localdb.endpoint(settings) is None
    me = os.getpid()
    note = {"pid": me, "began": process.began(me)}
    write_private(place.pid_file, json.dumps(note))
    found = localdb.endpoint(settings)
    assert found is not None
    assert found.uri == f"bolt://127.0.0.1:{store.remembered_port(place)}"
    assert found.password == store.password(place)
    assert localdb.endpoint(foreign(settings)) is None
    write_private(place.pid_file, json.dumps({"pid": me, "began": "an earlier process"}))
    assert localdb.endpoint(settings) is None


def test_a_note_with_a_reused_number_never_gets_another_process_killed(settings):
    place = Store(settings.paths.store_dir)
    store.prepare(place)
    write_private(place.pid_file, json.dumps({"pid": os.getpid(), "began": "an earlier process"}))
    assert not localdb.down(settings)
    assert not place.pid_file.exists()


def test_where_the_endpoint_is_asked_for_often_it_is_cheap(settings):
    place = Store(settings.paths.store_dir)
    store.prepare(place)
    store.make_password(place)
    store.choose_port(place)
    me = os.getpid()
    write_private(place.pid_file, json.dumps({"pid": me, "began": process.began(me)}))
    began = time.process_time()
    for _ in range(100):
        localdb.endpoint(settings)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("act", [localdb.down, localdb.reset, localdb.logs])
def test_a_foreign_server_is_neither_stopped_nor_emptied(settings, act):
    with pytest.raises(Refused, match="your own server"):
        act(foreign(settings))


def test_a_foreign_server_that_is_away_is_reported_and_nothing_is_made(settings):
    away = foreign(settings)
    with pytest.raises(GraphUnavailable, match=r"bolt://127\.0\.0\.1:1; .*NEO4J_URI"):
        localdb.up(away)
    assert not away.home.exists()
    found = localdb.status(away)
    assert (found.kind, found.running) == ("foreign", False)
    assert found.problem == "the database does not answer"


def test_another_system_is_refused_with_a_way_out(settings, monkeypatch):
    monkeypatch.setattr(life.sys, "platform", "win32")
    with pytest.raises(ConfigError, match=r"not on win32.*WSL.*NEO4J_URI"):
        localdb.up(settings)


def test_looking_at_a_store_that_never_was_makes_nothing(settings):
    found = localdb.status(settings)
    assert (found.running, found.problem, found.port) == (False, "never started", None)
    assert localdb.logs(settings) == []
    assert not localdb.down(settings)
    assert not localdb.reset(settings)
    assert not settings.home.exists()


def test_reset_wants_a_yes_and_then_takes_this_store_only(settings, monkeypatch):
    monkeypatch.setenv("MKG_HOME", str(settings.home))
    place = Store(settings.paths.store_dir)
    store.prepare(place)
    (place.folder / "data" / "memory").write_text("x", encoding="utf-8")
    other = place.folder.with_name("other")
    other.mkdir()
    refused = CliRunner().invoke(app, ["db", "reset"])
    assert isinstance(refused.exception, Refused)
    assert "--yes" in str(refused.exception)
    assert (place.folder / "data" / "memory").exists()
    done = CliRunner().invoke(app, ["db", "reset", "--yes"])
    assert done.exit_code == 0
    assert not place.folder.exists()
    assert other.exists()


def test_a_stopped_store_is_told_with_the_command_that_starts_it(settings, monkeypatch):
    monkeypatch.setenv("MKG_HOME", str(settings.home))
    told = CliRunner().invoke(app, ["db", "status"])
    assert told.exit_code == 0
    assert "never started" in told.output
    assert "mkg db up" in told.output
    as_json = CliRunner().invoke(app, ["db", "status", "--json"])
    assert json.loads(as_json.output)["running"] is False


def test_a_foreign_server_without_plugins_or_migrations_is_told_in_words():
    lines = "\n".join(
        describe(
            Status(
                kind="foreign",
                running=True,
                uri="bolt://127.0.0.1:7687",
                database="neo4j",
                neo4j="2026.09.0",
                edition="enterprise",
                migrated=False,
                pending=["V0001__timeline"],
                missing=["gds.version"],
            )
        )
    )
    assert "GDS missing, APOC missing" in lines
    assert "switched off: gds.version" in lines
    assert "migrated  no: 1 to apply; run: mkg migrate apply" in lines
