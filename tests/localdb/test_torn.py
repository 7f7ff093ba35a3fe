"""A transaction log whose end a full disk tore: cut off after a full disk, and only then."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg import localdb
from mkg.db import connect
from mkg.errors import LocalDbError
from mkg.localdb import store, torn
from mkg.localdb.store import Store
from mkg.settings import Settings, subprocess_env
from tests.conftest import shared_cache
from tests.support.requirement import requirement

FULL = {"level": "ERROR", "message": "panic", "stacktrace": "java.io.IOException: No space left"}
UNREADABLE = {
    "level": "ERROR",
    "message": "Failed to start DatabaseId{1[neo4j]}",
    "stacktrace": "Component 'x.TransactionLogsRecovery@1' failed\nCaused by: y: -1\n\tat z",
}
# The entry that begins a write in the log: version, kind, a time in milliseconds, two numbers.
BEGIN = re.compile(rb"\x1c\x01.{6}\x00\x00.{5}\x00\x00\x00.{5}\x00\x00\x00\x00{4}", re.DOTALL)
KEEP = "CYPHER 25\nCREATE (:Kept {n: $n, t: $t})"
KEPT = "CYPHER 25\nMATCH (k:Kept) RETURN k.n AS n ORDER BY n"


def logged(place: Store, *entries: dict[str, str], year: int = 2999) -> None:
    lines = [json.dumps({"time": f"{year}-01-01 00:00:00.000+0000", **e}) for e in entries]
    with (place.folder / "logs" / "debug.log").open("a", encoding="utf-8") as log:
        log.write("".join(f"{line}\n" for line in lines))


@pytest.fixture
def place(tmp_path: Path) -> Store:
    made = Store(tmp_path / "stores" / "default")
    store.prepare(made)
    made.pid_file.write_text("{}", encoding="utf-8")
    return made


def test_an_unreadable_log_counts_as_torn_only_after_a_full_disk(place):
    logged(place, UNREADABLE)
    assert torn.refused(store.errors(place)) and not torn.by_full_disk(place)
    (place.folder / "logs" / "debug.log").unlink()
    # The disk was full before the last start, with many warnings in between.
    logged(place, FULL, *[{"level": "WARN", "message": "w" * 300}] * 1200, year=2020)
    assert not torn.by_full_disk(place)
    logged(place, UNREADABLE)
    assert torn.by_full_disk(place)


def test_a_full_disk_alone_or_an_older_failed_start_cuts_nothing_off(place):
    logged(place, FULL)
    logged(place, UNREADABLE, year=2020)
    assert not torn.refused(store.errors(place)) and not torn.by_full_disk(place)


def test_only_the_newest_copy_of_a_log_is_kept_and_it_needs_room(place, monkeypatch):
    log = place.folder / "data" / "transactions" / store.DATABASE
    log.mkdir(parents=True)
    for text in ("one", "two"):
        (log / "neostore.transaction.db.0").write_text(text, encoding="utf-8")
        copy = torn.keep_copy(place)
        assert [file.read_text(encoding="utf-8") for file in copy.iterdir()] == [text]
    monkeypatch.setattr(store, "ROOM", 1 << 60)
    with pytest.raises(LocalDbError, match="free some space"):
        torn.keep_copy(place)
    assert copy.exists()


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    made = Settings(
        home=tmp_path / "home",
        cache=shared_cache(),
        config_dir=tmp_path / "config",
        runtime_dir=tmp_path / "run",
    )
    yield made
    localdb.down(made)


@pytest.mark.live
@pytest.mark.soak
@requirement("NEO-142")
def test_a_torn_end_of_the_log_is_refused_or_after_a_full_disk_cut_off_and_nothing_is_lost(
    settings,
):
    env = subprocess_env()
    localdb.up(settings, env=env, migrate=False, proofs=False)
    place = Store(settings.paths.store_dir)
    with connect(settings) as run:
        for n in range(4):
            run.execute(KEEP, {"n": n, "t": os.urandom(50_000).hex()})
    found = store.running(place)
    assert found is not None
    os.kill(found.pid, signal.SIGKILL)
    log = place.folder / "data" / "transactions" / store.DATABASE / "neostore.transaction.db.0"
    whole = log.read_bytes()
    # Part of a write, then what makes no sense there: a full disk left the write's own beginning,
    # which is not always taken for damage.
    last = [begin.start() for begin in BEGIN.finditer(whole)][-1]
    write = whole[last:]
    assert len(write) > 100_000
    log.write_bytes(whole + write[:70_000] + b"\xff" * 70_000)
    with pytest.raises(LocalDbError, match=r"cannot read its transaction log(.|\n)*mkg db restore"):
        localdb.up(settings, env=env, migrate=False, proofs=False)
    assert log.read_bytes().startswith(whole) and not (place.folder / "torn").exists()
    localdb.down(settings)
    logged(place, FULL, year=2020)
    told: list[str] = []
    localdb.up(settings, told.append, env=env, migrate=False, proofs=False)
    assert any("it is cut off" in line for line in told)
    with connect(settings) as run:
        assert [row["n"] for row in run.execute(KEPT, {}, mode="read").rows] == [0, 1, 2, 3]
