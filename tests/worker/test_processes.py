"""Real worker processes: one winner, a quiet stop, kill -9 at any moment, no child left."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from mkg.worker import client, lifecycle
from mkg_hooks.spool import Spool
from tests.hooks.launching import FAKE_WORKER, Home, make_home, prompt_event, wait_until
from tests.support.requirement import requirement
from tests.worker import fake_worker


@pytest.fixture
def home(tmp_path: Path):
    made = make_home(tmp_path / "base")
    yield made
    made.close()


def begin(home: Home) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(FAKE_WORKER), str(home.folder)],
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home.folder.parent)},
    )


@requirement("PERF-43")
def test_of_many_starters_one_wins_and_the_others_leave_quietly(home: Home):
    starters = [begin(home) for _ in range(5)]
    wait_until(lambda: sum(s.poll() is not None for s in starters) == 4, 20)
    losers = [s for s in starters if s.poll() is not None]
    (winner,) = [s for s in starters if s.poll() is None]
    for loser in losers:
        out, err = loser.communicate()
        assert (loser.returncode, out, err) == (0, b"", b"")
    assert wait_until(lambda: home.ask("ping"))["pid"] == winner.pid
    home.ask("stop")
    out, err = winner.communicate(timeout=10)
    assert (winner.returncode, out, err) == (0, b"", b"")
    assert (home.folder / "served").read_text().split() == [str(winner.pid)]


def test_a_starter_takes_the_place_of_a_worker_that_is_just_leaving(home: Home):
    places = fake_worker.places(home.folder)
    with lifecycle.sole(places) as mine:
        assert mine
        successor = begin(home)
        wait_until(
            lambda: (
                b"fake_worker" in Path(f"/proc/{successor.pid}/cmdline").read_bytes()
                if sys.platform == "linux"
                else True
            )
        )
    assert wait_until(lambda: home.ask("ping"), 10)["pid"] == successor.pid
    home.ask("stop")
    successor.communicate(timeout=10)


def test_sigterm_finishes_the_batch_at_hand_and_leaves_no_socket(home: Home):
    worker = home.start_worker()
    spool = Spool(home.spool)
    for number in range(50):
        spool.append({"event_key": f"k{number}"})
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(10) == 0
    assert not home.socket.exists()
    done = home.applied()
    assert done == [f"k{n}" for n in range(len(done))] and len(done) + spool.pending() == 50


@requirement("SEC-10", "MEM-W71")
def test_a_worker_killed_at_random_moments_loses_nothing_it_acknowledged(home: Home):
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    (home.folder / "python").write_text("#!/bin/sh\n")
    told: list[str] = []
    stop = threading.Event()

    def fire(name: str) -> None:
        number = 0
        while not stop.is_set():
            prompt = f"{name}-{number}"
            done = home.hook(
                "claude", "UserPromptSubmit", prompt_event(prompt, prompt, session_id=name)
            )
            assert done.returncode == 0
            told.append(prompt)
            number += 1

    threads = [threading.Thread(target=fire, args=(f"s{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        worker = home.start_worker()
        pause = threading.Event()
        pause.wait(dice.uniform(0.05, 0.5))
        worker.kill()
        worker.wait()
    stop.set()
    for thread in threads:
        thread.join(10)
    home.start_worker()
    keys = home.drained()
    turns = [key.split(":")[3] for key in keys]
    assert set(told) - set(turns) == set()
    # A batch that was applied and not yet committed comes again: the same keys, in the same order.
    once = list(dict.fromkeys(turns))
    for name in ("s0", "s1"):
        own = [turn for turn in once if turn.startswith(f"{name}-")]
        assert own == sorted(own, key=lambda turn: int(turn.split("-")[1]))
    assert max(Counter(keys).values()) <= 5 and len(set(keys)) == len(set(turns))


def test_a_started_worker_belongs_to_no_client_and_holds_nothing_of_it(tmp_path: Path, monkeypatch):
    home = make_home(tmp_path / "base")
    monkeypatch.setattr(sys, "executable", str(home.folder / "python"))
    read, write = os.pipe()
    os.set_inheritable(write, True)
    assert client.start(home.socket, timeout=10)
    pid = home.ask("ping")["pid"]
    os.close(write)
    assert os.getsid(pid) != os.getsid(0) and os.getpgid(pid) != os.getpgid(0)
    if sys.platform == "linux":
        links = {str(Path(f"/proc/{pid}/fd/{fd}").readlink()) for fd in ("0", "1", "2")}
        assert links == {"/dev/null"} and str(Path(f"/proc/{pid}/cwd").readlink()) == "/"
    assert os.read(read, 1) == b""  # the only other writer would have been the worker
    os.close(read)
    assert client.start(home.socket) and home.ask("ping")["pid"] == pid
    assert client.stop(home.socket, timeout=10) and not client.running(pid)
    assert client.stop(home.socket)


def test_a_worker_that_ended_is_gone_although_its_number_was_not_taken_away():
    assert client.running(os.getpid())
    ended = subprocess.Popen(["/bin/sh", "-c", ":"])
    try:
        # Nobody asks how it ended, so the system keeps its number.
        wait_until(lambda: not client.running(ended.pid))
        os.kill(ended.pid, 0)
    finally:
        ended.wait()
    assert not client.running(ended.pid)
