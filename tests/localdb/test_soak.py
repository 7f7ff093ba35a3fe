"""What takes minutes: another release of the server on the same store, and a disk that fills up.

Run by `make soak`. The short forms of both are in test_faults.py and test_backup.py.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg import localdb
from mkg.db import connect
from mkg.errors import GraphUnavailable, LocalDbError, MkgError
from mkg.localdb import backups, jars, launch, store
from mkg.localdb.store import Store
from mkg.settings import Settings, subprocess_env
from tests.conftest import shared_cache
from tests.support.requirement import requirement

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]
NEXT = jars.parse(
    (Path(__file__).parent / "pins" / "server-2026.08.1.lock").read_text(encoding="utf-8")
)


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    made = Settings(
        home=tmp_path / "mine",
        cache=shared_cache(),
        config_dir=tmp_path / "config",
        runtime_dir=tmp_path / "run",
    )
    yield made
    localdb.down(made)


def test_the_next_release_opens_the_store_with_everything_in_it_and_the_last_one_no_more(
    settings, tmp_path, monkeypatch
):
    first = localdb.up(settings, env=subprocess_env())
    with connect(settings) as run:
        text = "CYPHER 25\nUNWIND range(1, 2000) AS n CREATE (:Kept {n: n, e: [n / 7.0, 1.0]})"
        run.execute(text)
        held = backups.content(run)
    done = localdb.backup(settings, tmp_path / "before", env=subprocess_env())
    assert done.content == held
    monkeypatch.setattr(launch, "load_lock", lambda: NEXT)
    second = localdb.up(settings, env=subprocess_env())
    assert (first.neo4j, second.neo4j) == ("2026.01.4", "2026.08.1")
    assert second.pid != first.pid
    assert second.proofs == dict.fromkeys(("gds", "apoc", "vector", "fulltext"), "ok")
    with connect(settings) as run:
        assert backups.content(run) == held
        run.execute("CYPHER 25\nMATCH (k:Kept) WHERE k.n > 1000 DELETE k")
    # A backup of the last release goes into the next one.
    monkeypatch.setattr(jars, "load_lock", lambda: NEXT)
    assert localdb.restore(settings, tmp_path / "before", env=subprocess_env()).content == held
    monkeypatch.undo()
    found = store.running(Store(settings.paths.store_dir))
    with pytest.raises(LocalDbError, match=r"Neo4j 2026\.08\.1, which is newer than the 2026\.01"):
        localdb.up(settings, env=subprocess_env())
    assert store.running(Store(settings.paths.store_dir)) == found


@requirement("NEO-142")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_fills_under_writes_loses_nothing_and_up_goes_on_once_there_is_room(
    settings, monkeypatch
):
    settings.home.mkdir(mode=0o700)
    mount("-t", "tmpfs", "-o", "size=96m", "none", str(settings.home))
    try:
        found = localdb.up(settings, env=subprocess_env())
        acknowledged, failure = fill(settings)
        assert len(acknowledged) > 50
        assert isinstance(failure, GraphUnavailable)
        assert "free space, then run mkg db up" in str(failure)
        with pytest.raises(LocalDbError, match=r"is full: .* free some space, then run"):
            localdb.up(settings, env=subprocess_env())
        # What could not be helped was not touched.
        assert store.running(Store(settings.paths.store_dir)) is not None
        mount("-o", "remount,size=400m", str(settings.home))
        again = localdb.up(settings, env=subprocess_env())
        assert again.pid != found.pid and again.started_s is not None
        with connect(settings) as run:
            rows = run.execute("CYPHER 25\nMATCH (k:Kept) RETURN k.n AS n", mode="read").rows
        assert set(acknowledged) <= {row["n"] for row in rows}
        assert len(rows) <= len(acknowledged) + 1
    finally:
        localdb.down(settings)
        subprocess.run(["umount", "--lazy", str(settings.home)], check=True)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def fill(settings: Settings) -> tuple[list[int], MkgError]:
    """Write until the server refuses: what it acknowledged, and how it refused."""
    done: list[int] = []
    text = "CYPHER 25\nCREATE (:Kept {n: $n, t: $t})"
    with connect(settings, retry_seconds=0) as run:
        for number in range(5000):
            try:
                run.execute(text, {"n": number, "t": os.urandom(100_000).hex()})
            except MkgError as error:
                return done, error
            done.append(number)
    raise AssertionError("the disk never filled")
