"""F1, F7, F14, F17 and F19: real hooks, killed, held up, lied to and upgraded.

The worker is a real process with made-up features, so nothing here needs the database.
"""

import fcntl
import json
import os
import random
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from mkg_hooks.spool import Spool
from tests.faults.outcome import Outcome, counted, times
from tests.faults.shots import Shots, keys_of, rss
from tests.hooks.launching import LAUNCH, ROOT, Home, make_home, wait_until
from tests.localdb.test_faults import allowed
from tests.support.requirement import requirement

Held = Callable[[Outcome], None]
Fired = tuple[Shots, list[str]]
SLOW_DISK = Path(__file__).with_name("slow_disk.py")
ROUNDS = {"short": 1, "long": 25}


def shots(home: Home) -> Shots:
    return Shots(home.environment(), home.project)


def no_worker(home: Home) -> None:
    (home.folder / "python").write_text("#!/bin/sh\n")


def stored(home: Home) -> list[str]:
    """What a worker brings into the graph from everything that lies in the spool."""
    if not home.ask("ping"):
        home.start_worker()
    return keys_of(home.drained())


# -- F1: hooks killed at random moments ------------------------------------------------------------


@requirement("SEC-10")
def test_f1_hooks_killed_at_random_moments(home: Home, form: str, held: Held):
    seed = random.randrange(10**6)
    print("seed", seed)
    no_worker(home)
    fired = shots(home)
    # Four of ten are killed: fifty times two hundred in the long form.
    sessions, each = 4, times(form, 12, 6250)
    with_worker = threading.Event()

    def client(number: int) -> None:
        dice = random.Random(seed + number)
        for n in range(each):
            kill = dice.uniform(0.0, 0.15) if dice.random() < 0.4 else None
            fired.fire(f"s{number}-{n}", kill_after=kill)
            if n == each // 2:
                with_worker.set()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(sessions)]
    for thread in threads:
        thread.start()
    # The first half is kept by the launchers themselves.
    with_worker.wait(600)
    home.start_worker()
    for thread in threads:
        thread.join()
    found = stored(home)
    held(counted("F1", "hooks killed", form, stored=found, **fired.counts()))
    assert set(found) - set(fired.acked) <= set(fired.killed)
    assert len(fired.killed) > each // 4


# -- F7: everything a hook asks stands still -------------------------------------------------------


@contextmanager
def worker_stopped(home: Home) -> Iterator[None]:
    worker = home.start_worker()
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(worker.pid, signal.SIGCONT)


@contextmanager
def answer_missing(home: Home) -> Iterator[None]:
    home.start_worker()
    (home.folder / "slow-answer").touch()
    yield
    (home.folder / "slow-answer").unlink()


@contextmanager
def graph_away(home: Home) -> Iterator[None]:
    (home.folder / "graph-down").touch()
    home.start_worker()
    yield
    (home.folder / "graph-down").unlink()


@contextmanager
def lock_held(home: Home) -> Iterator[None]:
    no_worker(home)
    home.spool.mkdir(mode=0o700, exist_ok=True)
    with (home.spool / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def lock_held_from_the_worker(home: Home) -> Iterator[None]:
    home.start_worker()
    with (home.spool / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def disk_busy(home: Home) -> Iterator[None]:
    no_worker(home)
    yield


STILL = (worker_stopped, answer_missing, graph_away, lock_held, lock_held_from_the_worker)


@requirement("SEC-10", "B1")
def test_f7_no_prompt_waits_for_what_stands_still(tmp_path: Path, form: str, held: Held):
    found: list[str] = []
    total = Shots({}, tmp_path)
    # Each in a home of its own, so that they stand still at the same time.
    with ThreadPoolExecutor(max_workers=6) as several:
        for trial in range(ROUNDS[form]):
            of = partial(fired_at, tmp_path / f"{trial}")
            for fired, stored_there in several.map(of, (*STILL, disk_busy)):
                total.add(fired)
                found += stored_there
    held(counted("F7", "all that a hook asks stands still", form, stored=found, **total.counts()))
    assert total.told_lost == []


def fired_at(folder: Path, still: Callable[[Home], AbstractContextManager[None]]) -> Fired:
    """Three events while something stands still, and what is stored once it goes on."""
    home = make_home(folder / still.__name__)
    fired = shots(home)
    if still is disk_busy:
        fired.script, fired.arguments = SLOW_DISK, (str(LAUNCH), "3")
    with still(home):
        for number, event in enumerate(("SessionStart", "UserPromptSubmit", "Stop")):
            key = f"{still.__name__}{folder.name}-{number}"
            fired.fire(key, event=event, source="startup", tool_use_id=key)
    # What waited for the lock or for the disk is written by then.
    wait_until(lambda: written(home) >= len(fired.acked), 15)
    found = stored(home)
    home.close()
    return fired, found


def written(home: Home) -> int:
    waiting = {str(record["event_key"]) for record in Spool(home.spool).waiting()}
    return len(waiting | set(home.applied()))


# -- F14: files that a payload names ---------------------------------------------------------------

LINE = json.dumps({"type": "assistant.message", "data": {"content": "as told"}}).encode() + b"\n"
CONTENTS = {
    "last line cut": LINE * 3 + LINE[:20],
    "invalid UTF-8": LINE + b"\xff\xfe\xc3(" + LINE,
    "CRLF": LINE.replace(b"\n", b"\r\n") * 3,
    "zero bytes": b"\0" * 5000 + LINE,
    "empty": b"",
}


def a_transcript(folder: Path, what: str) -> Path:
    path = folder / f"{what}.jsonl"
    if what in CONTENTS:
        path.write_bytes(CONTENTS[what])
    elif what == "1 GiB":
        with path.open("wb") as file:
            file.truncate(2**30)
            file.seek(0, os.SEEK_END)
            file.write(LINE)
    elif what == "a pipe":
        os.mkfifo(path)
    elif what == "a link":
        path.symlink_to("/etc/passwd")
    elif what == "a folder":
        path.mkdir()
    elif what == "rotated while read":
        path.write_bytes(LINE * 1000)
    return path


KINDS = (*CONTENTS, "1 GiB", "a pipe", "a link", "a folder", "not there", "rotated while read")


@requirement("SEC-60")
def test_f14_a_transcript_of_any_kind_costs_no_event_and_no_memory(
    home: Home, tmp_path: Path, form: str, held: Held
):
    worker = home.start_worker()
    fired = shots(home)
    fired.fire("warm-0", client="copilot", event="Stop")
    before = rss(worker.pid)
    for trial in range(ROUNDS[form]):
        for kind in KINDS:
            folder = tmp_path / f"{trial}"
            folder.mkdir(exist_ok=True)
            path = a_transcript(folder, kind)
            stop = threading.Event()

            def rotate(path: Path = path, stop: threading.Event = stop) -> None:
                while not stop.wait(0.002):
                    path.unlink(missing_ok=True)
                    path.write_bytes(LINE * 10)

            turning = threading.Thread(target=rotate)
            if kind == "rotated while read":
                turning.start()
            key = f"{kind.replace(' ', '_')}{trial}"
            for client, event in (("copilot", "Stop"), ("claude", "UserPromptSubmit")):
                fired.fire(
                    f"{client}_{key}-1", client=client, event=event, transcript_path=str(path)
                )
            stop.set()
            if turning.ident:
                turning.join()
    assert rss(worker.pid) - before < 100 * 2**20
    found = {key.rpartition("-")[0] for key in sessions(home)}
    acked = [key.rpartition("-")[0] for key in fired.acked]
    counts = {**fired.counts(), "acknowledged": acked}
    held(counted("F14", "transcripts of every kind", form, stored=found, **counts))


def sessions(home: Home) -> list[str]:
    return [f"{key.split(':')[1]}-0" for key in dict.fromkeys(home.drained())]


# -- F17: homes that are not there or not ours -----------------------------------------------------

# The interpreter may lie in a folder of root's, so this one goes on itself.
NO_ROOT = (
    "import os,sys,pwd,select,_socket,_signal,pkgutil,runpy\n"
    "sys.argv=sys.argv[4:]\n"
    "sys.path.insert(0,os.path.dirname(sys.argv[0]))\n"
    "from mkg_hooks import launcher,apart,offline\n"
    "os.setgroups([]);os.setgid(64999);os.setuid(64999)\n"
    "runpy.run_path(sys.argv[0],run_name='__main__')"
)


# Without a variable the password database tells where home is: a place of this test's own.
ELSEWHERE = (
    "import os,sys,pwd,types,runpy\n"
    "pwd.getpwuid=lambda _:types.SimpleNamespace(pw_dir={!r})\n"
    "sys.argv=sys.argv[4:]\n"
    "sys.path.insert(0,os.path.dirname(sys.argv[0]))\n"
    "runpy.run_path(sys.argv[0],run_name='__main__')"
)


def homes(home: Home) -> dict[str, tuple[dict[str, str], tuple[str, ...], Path]]:
    """What is tried: (environment, command before the launcher, working folder)."""
    env = home.environment()
    bare = {k: v for k, v in env.items() if k != "HOME"}
    nowhere = {**env, "HOME": "/nonexistent", "MKG_HOME": "/nonexistent/mkg"}
    own = str(home.folder.parent / "nobody")
    elsewhere = (sys.executable, "-I", "-S", "-c", ELSEWHERE.format(own))
    tried = {
        "no HOME": (bare, (), home.project),
        "HOME that is not there": ({**env, "HOME": "/nonexistent"}, (), home.project),
        "nothing there": (nowhere, (), home.project),
        "root as folder": (env, (), Path("/")),
        "no environment": ({}, elsewhere, home.project),
    }
    if allowed("unshare", "-m"):
        mount = 'mount -t tmpfs -o ro none "$MKG_HOME"; exec "$@"'
        before = ("unshare", "-m", "sh", "-ec", mount, "sh")
        tried["read-only home"] = (env, before, home.project)
    if os.geteuid() == 0:
        user = (sys.executable, "-I", "-S", "-c", NO_ROOT)
        tried["user without an entry"] = (env, user, Path("/"))
    return tried


@requirement("CL-11")
def test_f17_a_home_of_any_kind_never_blocks(home: Home, form: str, held: Held):
    home.start_worker()
    total = shots(home)
    found: list[str] = []
    for trial in range(ROUNDS[form]):
        for name, (env, before, cwd) in homes(home).items():
            fired = Shots(env, cwd, before=before)
            key = f"{name.replace(' ', '_')}{trial}"
            said = fired.fire(f"{key}-0")
            # Where the worker can be reached, what it has to say still comes.
            reached = env.get("MKG_HOME") == str(home.folder) and not before
            assert ("echo: prompt" in said) is reached, name
            if not reached:
                # Nobody promised anything there, and the user was told or nothing was there.
                assert not said or set(json.loads(said)) == {"systemMessage"}
                fired.acked.clear()
            total.add(fired)
    found = stored(home)
    assert total.blocked == []
    held(counted("F17", "homes of every kind", form, stored=found, **total.counts()))


# -- F19: versions side by side --------------------------------------------------------------------


@requirement("SEC-10")
def test_f19_records_and_hooks_of_two_versions_side_by_side(
    home: Home, tmp_path: Path, form: str, held: Held
):
    no_worker(home)
    fired = shots(home)
    old = tmp_path / "another checkout" / "hooks"
    shutil.copytree(ROOT / "hooks", old, ignore=shutil.ignore_patterns("__pycache__"))
    other = shots(home)
    other.script = old / "launch.py"
    wanted: list[str] = []
    for n in range(6 * ROUNDS[form]):
        fired.fire(f"new-{n}")
        other.fire(f"old-{n}")
        # A record of a later version says more, one of an earlier says less.
        spool = Spool(home.spool)
        for name, more in (("later", {"v": 9, "colour": {"a": [1]}}), ("earlier", {"v": 0})):
            session = f"{name}-{n}"
            record = {"event_key": f"claude:{name}:Stop:{session}:0", "name": "Stop", **more}
            spool.append({"kind": "event", "client": "claude", "received_at": "", **record})
            wanted.append(session)
    kept = [record for record in Spool(home.spool).waiting() if record.get("v") == 9]
    assert kept and all(record["colour"] == {"a": [1]} for record in kept)
    home.start_worker()
    fired.fire("new-9999")
    other.fire("old-9999")
    fired.add(other)
    counts = fired.counts()
    counts["acknowledged"] = [*fired.acked, *wanted]
    found = stored(home)
    held(counted("F19", "two versions at once", form, stored=found, **counts))
