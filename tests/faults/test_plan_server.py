"""F2 and F18: the server itself is killed, finds no schema, and has no disk left.

It is a managed server of this test's own: nobody else's data hangs on it.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mkg import localdb
from mkg.db import connect
from mkg.errors import MkgError
from mkg.localdb import store
from mkg.localdb.store import Store
from mkg.settings import Settings, subprocess_env
from tests.conftest import shared_cache
from tests.faults.outcome import Outcome, counted, inverted, times
from tests.faults.shots import Shots
from tests.faults.test_path import User, send
from tests.faults.test_plan_graph import CHAIN, STORED, Steady, prompts
from tests.hooks.launching import wait_until
from tests.support.requirement import requirement
from tests.support.user_env import importable, user_env

pytestmark = pytest.mark.live
Held = Callable[[Outcome], None]
FILLING = "CYPHER 25\nCREATE (:Kept {t: $t})"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """A folder for the store on a disk of its own; None where nothing can be mounted."""
    folder = tmp_path / "home" / "mkg" / "stores"
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=160m,mode=0700", "none", str(folder)]
    mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    yield folder if mounted else None
    if mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def settings(small_disk: Path | None, tmp_path: Path) -> Iterator[Settings]:
    home = tmp_path / "home"
    made = Settings(
        home=home / "mkg",
        cache=shared_cache(),
        config_dir=home / ".config" / "meta-knowledge-graph",
        runtime_dir=home / "mkg" / "run",
        embedding_model="none",
    )
    yield made
    localdb.down(made)


@pytest.fixture
def owner(settings: Settings, tmp_path: Path) -> Iterator[User]:
    """A user of that server, whose worker starts before the schema is there."""
    project = tmp_path / "shop"
    project.mkdir()
    home = settings.home.parent
    made = User(home, project, user_env(home, EMBEDDING_MODEL="none", **importable()))
    localdb.up(settings, env=subprocess_env(), migrate=False, proofs=False)
    made.mkg("worker", "start")
    yield made
    made.mkg("worker", "stop", check=False)


def stored(settings: Settings) -> list[str]:
    with connect(settings) as run:
        assert run.execute(f"CYPHER 25\n{CHAIN}", mode="read").rows == []
        rows = run.execute(f"CYPHER 25\n{STORED}", mode="read").rows
    return [str(row["key"]) for row in rows]


def pid(settings: Settings) -> int:
    found = store.running(Store(settings.paths.store_dir))
    assert found is not None
    return found.pid


def drained(owner: User) -> None:
    owner.mkg("worker", "drain", "--timeout", "80")


@requirement("SEC-10", "SEC-13", "NEO-142")
@pytest.mark.timeout(4 * 3600)
def test_f2_and_f18_the_server_is_killed_and_runs_out_of_disk(
    owner: User, settings: Settings, small_disk: Path | None, form: str, held: Held
):
    early = [f"early-{n}" for n in range(4)]
    assert all(send(owner.socket, key, "early") for key in early)
    wait_until(lambda: "SchemaBehind" in str(owner.status()["last_error"]), 20)
    assert owner.status()["queue"] == 4
    owner.mkg("migrate", "apply", "--yes")
    drained(owner)
    fired = Shots(owner.env, owner.project)
    with Steady(owner, every=0.2) as steady:
        for number in range(times(form, 1, 20)):
            time.sleep(0.5)
            os.kill(pid(settings), signal.SIGKILL)
            prompts(fired, f"killed{number}", 2)
            localdb.up(settings, env=subprocess_env(), migrate=False, proofs=False)
    drained(owner)
    found = stored(settings)
    counts = fired.counts()
    counts["acknowledged"] = [*early, *fired.acked, *steady.acked]
    counts["trials"] += steady.trials + 4
    held(counted("F2", "server killed", form, stored=found, **counts))
    assert inverted(found) == [] and owner.status()["quarantined"] == 0
    if form == "long":
        # A backup reads every record and index of the store first (`database check`).
        localdb.backup(settings, settings.home / "checked", env=subprocess_env())
    if small_disk is None:
        pytest.skip("F18: nothing can be mounted here")
    full = Shots(owner.env, owner.project)
    told = out_of_disk(owner, settings, small_disk, full)
    found = stored(settings)
    # What was there before stays there too; tried was only what came meanwhile.
    more = {"acknowledged": [*counts["acknowledged"], *full.acked, *told]}
    counts = {**full.counts(), **more, "trials": full.trials + len(told)}
    held(counted("F18", "server's disk full", form, stored=found, **counts))
    assert inverted(found) == [] and owner.status()["quarantined"] == 0


def out_of_disk(owner: User, settings: Settings, disk: Path, fired: Shots) -> list[str]:
    """Fill the server's disk, let events come, free it; returns what was acknowledged."""
    free = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(b"\0" * (free.f_bavail * free.f_frsize - 2 * 2**20))
    with connect(settings, retry_seconds=0) as run, pytest.raises(MkgError):
        for _ in range(400):
            run.execute(FILLING, {"t": os.urandom(100_000).hex()})
    told = [key for n in range(6) if send(owner.socket, key := f"full-{n}", "full")]
    prompts(fired, "full_too", 2)
    wait_until(lambda: owner.status()["waits"] > 1, 60)
    assert owner.status()["queue"] >= 6
    assert len(told) == 6
    filler.unlink()
    localdb.up(settings, env=subprocess_env(), migrate=False, proofs=False)
    drained(owner)
    return told
