"""F3 to F6: the way to the graph breaks at every place, with the real worker and a real server."""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mkg.worker import client
from mkg_hooks import offline
from mkg_hooks.spool import Spool
from tests.conftest import Live, Server
from tests.faults.crashing_worker import POINTS, work
from tests.faults.outcome import Outcome, counted, inverted, times
from tests.faults.ready import started
from tests.faults.shots import Shots, rss
from tests.faults.test_path import User, made_user, send
from tests.hooks.launching import wait_until
from tests.support.proxy import Proxy
from tests.support.requirement import requirement

Held = Callable[[Outcome], None]
CHAIN = (Path(__file__).parents[1] / "support" / "check_chain.cypher").read_text(encoding="utf-8")
STORED = """
MATCH (e:SessionEvent) RETURN coalesce(e.tool_use_id, e.turn_id) AS key ORDER BY e.session_id, e.seq
"""


@pytest.fixture
def net(live: Live) -> Iterator[Proxy]:
    parts = urlsplit(live.server.uri)
    proxy = Proxy(str(parts.hostname), int(parts.port or 7687))
    proxy.open()
    yield proxy
    proxy.close()


@pytest.fixture
def behind(live: Live, net: Proxy, tmp_path: Path) -> Iterator[User]:
    """A user whose database lies behind a bad network; a worker runs and is warm."""
    made = without_model(made_user(live, tmp_path, net))
    made.mkg("worker", "start")
    made.drained()
    yield made
    made.mkg("worker", "stop", check=False)


def without_model(user: User) -> User:
    """Vectors are no part of these faults, and a worker starts sooner without."""
    user.env["EMBEDDING_MODEL"] = "none"
    return user


def stored(live: Live) -> list[str]:
    """The keys in the graph, session by session; the chains are whole (CHK-03)."""
    assert live.rows(CHAIN) == []
    return [str(row["key"]) for row in live.rows(STORED)]


def drained(user: User, seconds: int = 90) -> None:
    user.mkg("worker", "drain", "--timeout", str(seconds))


@requirement("SEC-10")
@pytest.mark.timeout(4 * 3600)
def test_f3_the_reply_of_a_commit_is_lost(
    behind: User, net: Proxy, live: Live, form: str, held: Held
):
    seed = random.randrange(10**6)
    print("seed", seed)
    dice = random.Random(seed)
    acked: list[str] = []
    trials = times(form, 10, 1000)
    for trial in range(trials):
        net.commits_to_cut.append(dice.randrange(2))
        for _ in range(3):
            key = f"s{dice.randrange(3)}-{len(acked)}"
            if send(behind.socket, key, key.partition("-")[0]):
                acked.append(key)
        wait_until(lambda trial=trial: net.cut > trial or send_more(behind, acked), 30)
    drained(behind)
    assert net.cut >= trials
    found = stored(live)
    held(
        counted(
            "F3", "reply of a commit lost", form, trials=trials, acknowledged=acked, stored=found
        )
    )
    assert inverted(found) == []


def send_more(user: User, acked: list[str]) -> bool:
    """Something to commit, when the batch before needed one commit only."""
    key = f"m-{len(acked)}"
    if send(user.socket, key, "m"):
        acked.append(key)
    time.sleep(0.05)
    return False


@requirement("SEC-10", "PERF-43")
@pytest.mark.timeout(4 * 3600)
def test_f4_a_worker_killed_at_each_step_of_a_batch(
    live: Live, net: Proxy, tmp_path: Path, form: str, held: Held
):
    user = without_model(made_user(live, tmp_path, net))
    user.mkg("config")
    pointer = (user.home / "mkg" / "pointer").read_text(encoding="utf-8")
    folder = dict(line.split("=", 1) for line in pointer.splitlines())["spool"]
    acked: list[str] = []
    rounds = times(form, 1, 100)
    for trial in range(rounds):
        for point in POINTS:
            for n in range(3):
                key = f"s{n}-{len(acked)}"
                body = {"session_id": f"s{n}", "tool_name": "Bash", "tool_use_id": key, "cwd": "/x"}
                raw = json.dumps({**body, "tool_input": {"command": key}}).encode()
                spool = os.fsencode(folder)
                offline.keep("claude", "PostToolUse", raw, {}, spool=spool, hmac_key=None)
                acked.append(key)
            # Two are forced at every other point: one works, the other leaves without a word.
            both = [started(work, point, env=user.env) for _ in range(1 + trial % 2)]
            wait_until(lambda both=both: any(one.exitcode == -9 for one in both), 60)
            # The other may take the dead one's place, and has nothing left to die of.
            wait_until(lambda both=both: all_gone(user, both), 60)
            codes = {one.exitcode for one in both}
            assert -9 in codes and codes <= {-9, 0}, (point, codes)
    drained(user)
    found = stored(live)
    assert Spool(folder).counters()["refused"] == 0
    user.mkg("worker", "stop")
    trials = rounds * len(POINTS)
    held(
        counted(
            "F4",
            "worker killed at each step",
            form,
            trials=trials,
            acknowledged=acked,
            stored=found,
        )
    )
    assert inverted(found) == []


def all_gone(user: User, workers: list[BaseProcess]) -> bool:
    """Whether every worker has left; who is left over is told to."""
    if all(worker.exitcode is not None for worker in workers):
        return True
    client.ask(Path(user.socket), "stop")
    return False


class Steady:
    """Events that go on coming while a fault holds, each session's in its order."""

    def __init__(self, user: User, every: float = 0.05) -> None:
        self.user, self.acked, self._stop = user, list[str](), threading.Event()
        self._every = every
        self._threads = [threading.Thread(target=self._one, args=(n,)) for n in range(2)]
        self.trials = 0

    def __enter__(self) -> "Steady":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def _one(self, number: int) -> None:
        n = 0
        while not self._stop.is_set():
            key = f"steady{number}-{n}"
            n += 1
            if send(self.user.socket, key, f"steady{number}"):
                self.acked.append(key)
            self._stop.wait(self._every)
        self.trials += n


def prompts(fired: Shots, name: str, count: int) -> None:
    for n in range(count):
        fired.fire(f"{name}-{n}")


@requirement("SEC-10")
@pytest.mark.timeout(4 * 3600)
def test_f5_the_database_is_away_again_and_again(
    behind: User, net: Proxy, live: Live, form: str, held: Held
):
    fired = Shots(behind.env, behind.project)
    # Away for ten minutes in all, with some ten thousand events meanwhile.
    rounds, hold = times(form, 2, 20), {"short": 1.0, "long": 30.0}[form]
    with Steady(behind) as steady:
        for trial in range(rounds):
            net.close()
            prompts(fired, f"away{trial}", 2)
            time.sleep(hold)
            # It comes back for a moment only, in the middle of what waits.
            net.open()
            time.sleep(0.3)
            net.close()
            prompts(fired, f"again{trial}", 1)
            net.open()
    seen = behind.mkg("doctor", check=False)
    drained(behind)
    assert "spool" in seen
    # Nobody can answer with a wrong password, and nothing is lost by it.
    behind.mkg("worker", "stop")
    server = live.server
    address = f"bolt://127.0.0.1:{net.port}"
    Server(address, server.username, "not-the-password-of-it").write_user_file(behind.home)
    behind.mkg("worker", "start")
    for n in range(3):
        assert send(behind.socket, f"refused-{n}", "refused")
    # So often that the server names the many tries and no longer the password.
    wait_until(lambda: behind.status()["waits"] > 4, 40)
    found_then = behind.status()
    assert "ConfigError" in found_then["last_error"]
    assert (found_then["queue"], found_then["quarantined"]) == (3, 0)
    prompts(fired, "refused_too", 1)
    behind.mkg("worker", "stop")
    Server(address, server.username, server.password).write_user_file(behind.home)
    drained(behind)
    found = stored(live)
    counts = fired.counts()
    counts["acknowledged"] = [*fired.acked, *steady.acked, *(f"refused-{n}" for n in range(3))]
    counts["trials"] += steady.trials + 3
    held(counted("F5", "database away, wrong password", form, stored=found, **counts))
    assert inverted(found) == [] and behind.status()["quarantined"] == 0


ILLS = ("latency", "slow", "resets", "black hole", "half-open")


def sicken(net: Proxy, ill: str) -> None:
    if ill == "latency":
        net.latency = 0.25
    elif ill == "slow":
        net.bytes_per_second = 10_000
    elif ill == "resets":
        net.reset_after = 20
    elif ill == "black hole":
        net.black_hole = True
    else:
        net.half_open()


def heal(net: Proxy) -> None:
    net.latency, net.bytes_per_second, net.reset_after, net.black_hole = 0.0, 0, 0, False


@requirement("SEC-10")
@pytest.mark.timeout(4 * 3600)
def test_f6_a_bad_network(behind: User, net: Proxy, live: Live, form: str, held: Held):
    fired = Shots(behind.env, behind.project)
    pid = int(behind.status()["pid"])
    before = rss(pid)
    rounds, hold = times(form, 1, 12), {"short": 0.8, "long": 10.0}[form]
    with Steady(behind) as steady:
        for trial in range(rounds):
            for ill in ILLS:
                sicken(net, ill)
                prompts(fired, f"{ill.replace(' ', '_')}{trial}", 2)
                time.sleep(hold)
                heal(net)
    drained(behind)
    found = stored(live)
    counts = fired.counts()
    counts["acknowledged"] = [*fired.acked, *steady.acked]
    counts["trials"] += steady.trials
    held(counted("F6", "bad network", form, stored=found, **counts))
    assert inverted(found) == []
    assert threads(pid) < 60 and rss(pid) - before < 150 * 2**20
    assert net.open_links() <= 100


def threads(pid: int) -> int:
    """How many threads a process has; 0 where the system does not tell."""
    folder = Path(f"/proc/{pid}/task")
    return len(list(folder.iterdir())) if folder.exists() else 0
