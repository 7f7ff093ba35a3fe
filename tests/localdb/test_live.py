"""The managed server for real: one server, in a home of its own, through its whole life."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg import localdb
from mkg.bundle import load_bundle
from mkg.db import Neo4jRunner, connect
from mkg.errors import ConfigError, GraphRejected, GraphUnavailable, LocalDbError, MkgError
from mkg.localdb import config, look, process, prove, store
from mkg.localdb.store import Store
from mkg.settings import Settings, StoreSettings, subprocess_env
from tests.conftest import shared_cache
from tests.support.requirement import requirement

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    # A blank and a letter outside ASCII in the path: homes have both.
    base = tmp_path_factory.mktemp("life") / "ein Gedächtnis"
    return Settings(
        home=base, cache=shared_cache(), config_dir=base / "config", runtime_dir=base / "run"
    )


@pytest.fixture(scope="module")
def up(settings: Settings) -> Iterator[look.Status]:
    """The status of the first start of all."""
    try:
        yield localdb.up(settings, env=subprocess_env())
    finally:
        localdb.down(settings)


@pytest.fixture
def run(settings: Settings, up: look.Status) -> Iterator[Neo4jRunner]:
    with connect(settings, caller="test") as runner:
        yield runner


def mkg(settings: Settings, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkg", *words]
    env = environment(settings)
    return subprocess.run(command, check=False, capture_output=True, text=True, env=env)


def environment(settings: Settings) -> dict[str, str]:
    return {
        **subprocess_env(),
        "MKG_HOME": str(settings.home),
        "MKG_CONFIG_DIR": str(settings.config_dir),
        "MKG_CACHE": str(settings.cache),
    }


def pid(settings: Settings) -> int:
    found = store.running(Store(settings.paths.store_dir))
    assert found is not None
    return found.pid


@requirement("NEO-01")
def test_the_first_start_migrates_and_proves_plugins_and_both_searches(up):
    assert (up.kind, up.running, up.neo4j, up.gds) == ("managed", True, "2026.01.4", "2.26.0")
    assert (up.apoc, up.edition) == ("5.26.19", "community")
    assert up.proofs == dict.fromkeys(("gds", "apoc", "vector", "fulltext"), "ok")
    assert (up.migrated, up.pending) == (True, [])
    assert up.applied


@requirement("NEO-130")
def test_a_new_store_is_small_on_the_disk(up):
    assert up.data_bytes is not None
    assert up.data_bytes < 20_000_000


def test_a_second_up_from_a_shell_finds_the_same_process(settings, up):
    done = mkg(settings, "db", "up", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["pid"], found["uri"], found["started_s"]) == (up.pid, up.uri, None)
    assert found["proofs"] == up.proofs
    assert found["applied"] == []


def test_status_as_json_tells_versions_port_and_sizes(settings, up):
    done = mkg(settings, "db", "status", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["running"] and found["migrated"]
    assert found["uri"] == f"bolt://127.0.0.1:{found['port']}"
    assert found["data_bytes"] > 0 and found["log_bytes"] > 0
    assert found["java"].split(".")[0] >= "21"


@requirement("NEO-12", "SEC-63")
def test_the_default_password_does_not_open_the_server(settings, up):
    for secret in ("neo4j", "password", ""):
        stranger = Neo4jRunner(up.uri, ("neo4j", secret), "neo4j", retry_seconds=0)
        with stranger, pytest.raises(MkgError):
            stranger.verify()
        # Three wrong ones in a row would shut the user out for a while.
        with connect(settings) as ours:
            ours.verify()


@requirement("NEO-12", "SEC-64", "ENC-W91")
@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs /proc")
def test_the_server_listens_on_one_loopback_port_and_nowhere_else(settings, up):
    assert listeners(pid(settings)) == {("loopback", up.port)}


def test_cypher_25_is_the_default_of_a_plain_query_tool(run):
    text = "RETURN coll.max([1, 3, 2]) AS most"
    assert run.execute(text, mode="read").rows == [{"most": 3}]


@requirement("NEO-138")
def test_no_file_no_address_and_no_other_procedure_can_be_reached(run):
    shut = {
        "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line",
        "LOAD CSV FROM 'http://127.0.0.1:9/x.csv' AS line RETURN line",
        "CALL apoc.load.json('http://127.0.0.1:9/x.json') YIELD value RETURN value",
        "CALL apoc.cypher.run('RETURN 1 AS x', {}) YIELD value RETURN value",
        "CALL apoc.export.json.all('x.json', {}) YIELD file RETURN file",
        "CALL gds.debug.sysInfo() YIELD key RETURN key",
    }
    for text in shut:
        with pytest.raises(GraphRejected):
            run.execute(f"CYPHER 25\n{text}", mode="read")
    names = list(config.allowed(load_bundle(), look.migrations()))
    assert prove.missing(run, names) == []
    assert prove.missing(run, ["apoc.load.json", "gds.wcc.stream"]) != []


@requirement("NEO-140")
def test_a_suspended_server_ends_the_open_transaction_in_seconds_and_up_lets_it_go_on(
    settings, up, run
):
    run.execute("CYPHER 25\nCREATE (:Kept {n: -1})")
    with pytest.raises(GraphUnavailable), run.unit() as unit:
        unit.execute("CYPHER 25\nCREATE (:Kept {n: -2})")
        os.kill(pid(settings), signal.SIGSTOP)
        began = time.monotonic()
        unit.execute("CYPHER 25\nCREATE (:Kept {n: -3})")
    assert time.monotonic() - began < 20
    told: list[str] = []
    found = localdb.up(settings, told.append, env=subprocess_env())
    assert (found.pid, found.started_s) == (up.pid, None)
    assert "the database was suspended; it goes on" in told
    assert kept(settings) == {-1}


@requirement("NEO-09", "ENC-W109")
@pytest.mark.timeout(400)
def test_acknowledged_writes_survive_a_kill_and_are_in_the_backup_made_next(settings, up):
    acknowledged: list[int] = []
    enough = threading.Event()

    def write(first: int) -> None:
        with connect(settings, retry_seconds=0) as run:
            for number in range(first, 100_000, 2):
                try:
                    run.execute("CYPHER 25\nCREATE (:Kept {n: $n})", {"n": number})
                except MkgError:
                    return
                acknowledged.append(number)
                if len(acknowledged) == 60:
                    enough.set()

    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 1)]
    for writer in writers:
        writer.start()
    assert enough.wait(30)
    os.kill(pid(settings), signal.SIGKILL)
    for writer in writers:
        writer.join(30)
    done = localdb.backup(settings, settings.home / "säved", env=subprocess_env())
    assert not done.running
    # Each writer had at most one write under way; one node is of the test before.
    assert len(acknowledged) + 1 <= done.content.nodes["Kept"] <= len(acknowledged) + 3
    (settings.home / "acknowledged").write_text(json.dumps(acknowledged), encoding="utf-8")


def test_a_lost_password_stops_up_and_a_new_one_opens_the_same_data_on_another_port(settings, up):
    place = Store(settings.paths.store_dir)
    before = store.password(place)
    place.password_file.unlink()
    with pytest.raises(LocalDbError, match="mkg db up --new-password"):
        localdb.up(settings, env=subprocess_env())
    with socket.create_server(("127.0.0.1", up.port)):
        found = localdb.up(settings, env=subprocess_env(), new_password=True)
    assert found.port != up.port
    assert store.password(place) not in (None, before)
    wanted = set(json.loads((settings.home / "acknowledged").read_text(encoding="utf-8")))
    assert wanted <= kept(settings)


@requirement("ENC-W109")
@pytest.mark.timeout(400)
def test_what_happens_during_a_restore_waits_in_the_spool_and_reaches_the_restored_store(
    settings, run, tmp_path
):
    assert mkg(settings, "worker", "start").returncode == 0
    hook(settings, "told before the restore")
    assert mkg(settings, "worker", "drain", "--timeout", "60").returncode == 0
    before = kept(settings)
    run.execute("CYPHER 25\nMATCH (k:Kept) DELETE k")

    def told(line: str) -> None:
        if line.startswith("loading"):
            hook(settings, "told during the restore")

    localdb.down(settings)
    done = localdb.restore(settings, settings.home / "säved", told, env=subprocess_env())
    assert not done.running
    first, second = both_at_once(settings)
    assert first.pid == second.pid
    assert sorted(found.started_s is None for found in (first, second)) == [False, True]
    assert kept(settings) == before
    drained = json.loads(
        mkg(settings, "worker", "drain", "--timeout", "60", "--json").stdout or "{}"
    )
    assert (drained.get("queue"), drained.get("quarantined")) == (0, 0)
    with connect(settings) as again:
        text = "CYPHER 25\nMATCH (e:SessionEvent) RETURN collect(properties(e)) AS texts"
        (row,) = again.execute(text, mode="read").rows
    assert "told during the restore" in str(row["texts"])
    assert "told before the restore" not in str(row["texts"])
    mkg(settings, "worker", "stop")


def kept(settings: Settings) -> set[int]:
    with connect(settings) as run:
        rows = run.execute("CYPHER 25\nMATCH (k:Kept) RETURN k.n AS n", mode="read").rows
    return {row["n"] for row in rows}


def hook(settings: Settings, prompt: str) -> None:
    """What a client does when a person submits a prompt."""
    launch = Path(__file__).parents[2] / "hooks" / "launch.py"
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "11111111-2222-4333-8444-555555555555",
        "cwd": str(settings.home),
        "prompt": prompt,
        "prompt_id": prompt,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(launch), "claude", "UserPromptSubmit"],
        input=json.dumps(payload).encode(),
        capture_output=True,
        timeout=30,
        check=False,
        env=environment(settings),
    )
    assert (done.returncode, done.stderr) == (0, b"")


def both_at_once(settings: Settings) -> list[look.Status]:
    """What two starters find that begin at the same moment."""
    found: list[look.Status] = []

    def starter() -> None:
        found.append(localdb.up(settings, env=subprocess_env()))

    starters = [threading.Thread(target=starter) for _ in range(2)]
    for thread in starters:
        thread.start()
    for thread in starters:
        thread.join(150)
    return found


def test_a_foreign_server_is_looked_at_and_not_changed(settings, run, tmp_path):
    endpoint = localdb.endpoint(settings)
    assert endpoint is not None
    where = {"uri": endpoint.uri, "username": "neo4j", "password": endpoint.password}
    guest = Settings(
        home=tmp_path / "guest",
        cache=tmp_path / "no cache",
        config_dir=tmp_path,
        runtime_dir=tmp_path,
        store=StoreSettings.model_validate(where),
    )
    count = "CYPHER 25\nMATCH (n) RETURN count(n) AS n"
    before = run.execute(count, mode="read").rows
    found = localdb.up(guest)
    assert (found.kind, found.running, found.missing, found.migrated) == ("foreign", True, [], True)
    assert (found.gds, found.pid, found.data_bytes) == ("2.26.0", None, None)
    assert run.execute(count, mode="read").rows == before
    wrong = StoreSettings.model_validate({**where, "password": "not-the-right-one"})
    with pytest.raises(ConfigError, match="NEO4J_PASSWORD"):
        localdb.up(guest.model_copy(update={"store": wrong}))
    assert not guest.home.exists() and not guest.cache.exists()


def test_reset_without_a_yes_is_refused_and_keeps_the_server(settings, up):
    before = pid(settings)
    done = mkg(settings, "db", "reset")
    assert done.returncode == 4
    assert "--yes" in done.stderr
    assert pid(settings) == before
    assert len(mkg(settings, "db", "logs", "-n", "3").stdout.splitlines()) == 3


@requirement("NEO-130")
def test_down_is_quick_and_leaves_no_process_and_reset_leaves_no_store(settings, up):
    place = Store(settings.paths.store_dir)
    found = store.running(place)
    assert found is not None
    began = time.monotonic()
    done = mkg(settings, "db", "down")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 10
    assert not process.alive(found)
    assert not of_this_store(settings)
    with pytest.raises(GraphUnavailable, match="mkg db up"):
        connect(settings)
    assert mkg(settings, "db", "down").returncode == 0
    assert mkg(settings, "db", "reset", "--yes").returncode == 0
    assert not place.folder.exists()


def of_this_store(settings: Settings) -> list[str]:
    """Command lines of processes that name the store."""
    listed = subprocess.run(["ps", "-eo", "args="], check=True, capture_output=True, text=True)
    mark = f"--home-dir={settings.paths.store_dir}"
    return [line for line in listed.stdout.splitlines() if mark in line]


def listeners(number: int) -> set[tuple[str, int]]:
    """Where a process listens: ("loopback" or the raw address, port)."""
    sockets: set[str] = set()
    for path in Path(f"/proc/{number}/fd").iterdir():
        try:
            sockets.add(str(path.readlink()))
        except OSError:
            continue
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    found: set[tuple[str, int]] = set()
    for table in ("tcp", "tcp6"):
        text = Path(f"/proc/{number}/net/{table}").read_text(encoding="ascii")
        for line in text.splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                address, port = fields[1].split(":")
                where = "loopback" if address in loopback else address
                found.add((where, int(port, 16)))
    return found
