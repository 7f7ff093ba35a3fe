"""The worker makes room for other code: it finishes, one takes over, nothing is lost or doubled."""

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mkg import pointer
from mkg.worker import client, code, lifecycle
from mkg.worker.code import Code, Watch
from mkg.worker.shape import Limits
from mkg_hooks import starting
from tests.hooks.launching import Home, make_home, prompt_event, wait_until
from tests.support.requirement import requirement
from tests.worker import fake_worker
from tests.worker.fake_worker import Log
from tests.worker.test_worker import LIMITS as WORKER_LIMITS
from tests.worker.test_worker import serving

LIMITS = Limits(look=0.01, resident=100, grown=0.0)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = make_home(tmp_path / "base")
    yield made
    # A hook that fell into a gap may have started one that nobody here waited for, and that one may
    # only begin, or take the place of one that leaves, while this looks: so ask until none is left.
    wait_until(lambda: not ended(made), 20)
    made.close()


def ended(home: Home) -> set[int]:
    """Ask every worker of this home to end; returns those that still ran."""
    running = alive(home)
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return running


def starts(home: Home) -> list[str]:
    began = home.folder / "began"
    return began.read_text().split() if began.exists() else []


def alive(home: Home) -> set[int]:
    """The workers of this home that run, whoever started them."""
    for worker in home.workers:
        worker.poll()
    return {int(pid) for pid in starts(home) if client.running(int(pid))}


def replaced(home: Home, text: str) -> None:
    """Put other code on the disk and wait until it runs."""
    before = len(starts(home))
    (home.folder / "code").write_text(text)
    wait_until(lambda: len(starts(home)) > before, 20)
    wait_until(lambda: home.ask("ping"), 20)


@requirement("PERF-43")
def test_other_code_takes_over_while_hooks_go_on_and_every_event_is_stored_once(home: Home) -> None:
    home.start_worker()
    told: list[str] = []
    stop = threading.Event()

    def fire(name: str) -> None:
        while not stop.is_set():
            prompt = f"{name}-{len(told)}"
            done = home.hook(
                "claude", "UserPromptSubmit", prompt_event(prompt, prompt, session_id=name)
            )
            assert (done.returncode, done.stderr) == (0, b"")
            told.append(prompt)

    threads = [threading.Thread(target=fire, args=(f"s{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for number in range(3):
        replaced(home, f"version {number}")
    stop.set()
    for thread in threads:
        thread.join(20)
    keys = home.drained()
    turns = Counter(key.split(":")[3] for key in keys)
    assert set(turns) == set(told) and set(turns.values()) == {1}
    # A hook that fell into a gap may have started one too: they leave, one is the winner.
    wait_until(lambda: alive(home) == {home.ask("ping").get("pid")}, 20)


def test_the_process_stays_the_same_for_who_supervises_it(home: Home) -> None:
    worker = home.start_worker()
    for text in ("next", "the one after"):
        replaced(home, text)
    assert starts(home) == [str(worker.pid)] * 3
    assert home.ask("ping")["pid"] == worker.pid
    assert not (home.folder / "served").exists()


def test_hooks_start_no_rival_while_the_successor_begins(home: Home) -> None:
    for made in serving(home.folder, WORKER_LIMITS, fake_worker.makers(home.folder)):
        assert starting.due(os.fsencode(home.spool))
        (home.spool / "starting").unlink()
        made.made.make_room()
        made.thread.join(10)
        assert not home.socket.exists()
        assert not starting.due(os.fsencode(home.spool))
        assert home.hook("claude", "Stop", {"session_id": "s"}).returncode == 0
        assert [record["name"] for record in home.records()] == ["Stop"]
        assert not (home.folder / "started").exists()


def test_what_was_acknowledged_before_the_change_waits_for_the_successor(home: Home) -> None:
    home.start_worker()
    (home.folder / "graph-down").touch()
    for number in range(5):
        home.hook("claude", "UserPromptSubmit", prompt_event(f"p{number}", f"p{number}"))
    replaced(home, "next")
    assert home.applied() == []
    assert home.ask("status")["queue"] >= 4
    (home.folder / "graph-down").unlink()
    assert sorted(key.split(":")[3] for key in home.drained()) == [f"p{n}" for n in range(5)]


def test_a_person_who_stops_the_worker_stops_the_successor_too(home: Home) -> None:
    worker = home.start_worker()
    (home.folder / "code").write_text("next")
    home.ask("stop")
    assert worker.wait(20) == 0
    assert starts(home) == [str(worker.pid)]


def test_code_that_does_not_start_changes_nothing_until_it_does(home: Home) -> None:
    worker = home.start_worker()
    (home.folder / "unusable").touch()
    (home.folder / "code").write_text("broken")
    wait_until(lambda: home.ask("status").get("code") == "unusable", 20)
    assert home.hook("claude", "UserPromptSubmit", prompt_event("x")).stdout
    assert starts(home) == [str(worker.pid)]
    (home.folder / "unusable").unlink()
    replaced(home, "mended")
    assert home.ask("status")["code"] == "current"


def test_a_worker_that_has_grown_too_large_begins_again(home: Home) -> None:
    home.start_worker()
    (home.folder / "held").write_text("100")
    assert home.ask("status")["resident_mib"] == 0
    wait_until(lambda: home.hook("claude", "UserPromptSubmit", prompt_event("a")).stdout, 20)
    before = len(starts(home))
    (home.folder / "held").write_text("101")
    wait_until(lambda: len(starts(home)) > before, 20)
    (home.folder / "held").unlink()
    wait_until(lambda: home.ask("ping"), 20)
    assert set(starts(home)) == {str(home.ask("ping")["pid"])}


def looks(tmp_path: Path, *answers: Code, proof: str | None = "1.1") -> Watch:
    """A watch that sees these in turn."""
    left = list(answers)
    return Watch(
        tmp_path / "pointer",
        LIMITS,
        Log(),
        look=lambda note: left.pop(0) if len(left) > 1 else left[0],
        proof=lambda python: proof,
        memory=lambda: 0,
    )


OLD, HALF, NEW = (Code("/a/python", "/a", text) for text in ("old", "half", "new"))


def test_code_that_still_changes_is_not_started(tmp_path: Path) -> None:
    watch = looks(tmp_path, OLD, HALF, NEW, NEW)
    assert (watch.due(), watch.state) == (False, "settling")
    assert (watch.due(), watch.state) == (False, "settling")
    assert (watch.due(), watch.successor) == (True, "/a/python")


def test_code_that_comes_back_is_no_change(tmp_path: Path) -> None:
    watch = looks(tmp_path, OLD, HALF, OLD, HALF, OLD)
    assert [watch.due() for _ in range(6)] == [False] * 6
    assert (watch.state, watch.successor) == ("current", None)


def test_another_interpreter_in_the_pointer_is_other_code(tmp_path: Path) -> None:
    there = Code("/b/python", "/b", "old")
    watch = looks(tmp_path, OLD, there, there)
    assert [watch.due(), watch.due()] == [False, True]
    assert watch.successor == "/b/python"


def test_without_a_pointer_nobody_is_started(tmp_path: Path) -> None:
    gone = Code("", "", "old")
    watch = looks(tmp_path, OLD, gone, gone, gone)
    assert [watch.due() for _ in range(3)] == [False] * 3
    assert watch.state == "unusable"


@pytest.mark.parametrize(("again", "proofs"), [(60.0, 1), (0.0, 4)])
def test_code_that_did_not_start_is_tried_again_after_a_while(
    tmp_path: Path, again: float, proofs: int
) -> None:
    asked: list[str] = []
    seen = [OLD, NEW]
    watch = Watch(
        tmp_path,
        Limits(look_again=again),
        Log(),
        look=lambda note: seen.pop(0) if len(seen) > 1 else seen[0],
        proof=lambda python: asked.append(python),
        memory=lambda: 0,
    )
    assert [watch.due() for _ in range(5)] == [False] * 5
    assert (len(asked), watch.state) == (proofs, "unusable")


class Decided(Watch):
    """Has found a successor; makes room at once, or leaves that to a person."""

    leaves = True

    def run(self, leave: Callable[[], None]) -> None:
        self.successor = "/b/python"
        if self.leaves:
            leave()


@pytest.mark.parametrize(("leaves", "ending"), [(True, "replaced"), (False, "over")])
def test_only_a_worker_that_nobody_stopped_has_a_successor(
    tmp_path: Path, leaves: bool, ending: str
) -> None:
    places = fake_worker.places(tmp_path)
    watch = Decided(tmp_path / "pointer", LIMITS, Log(), look=lambda note: OLD)
    watch.leaves = leaves
    stopping = threading.Thread(
        target=lambda: wait_until(lambda: client.ask(places.socket, "stop")) if not leaves else None
    )
    stopping.start()
    mask = os.umask(0o077)
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        ended = lifecycle.run(
            places,
            fake_worker.makers(tmp_path),
            fake_worker.Dispatch(tmp_path),
            log=Log(),
            limits=WORKER_LIMITS,
            watch=watch,
        )
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
            signal.signal(number, handler)
        os.umask(mask)
    stopping.join(10)
    assert ended == ending


def test_a_young_worker_is_not_replaced_for_its_size(tmp_path: Path) -> None:
    def watch(grown: float) -> Watch:
        limits = Limits(resident=100, grown=grown)
        return Watch(tmp_path, limits, Log(), look=lambda note: OLD, memory=lambda: 101)

    assert (watch(60.0).due(), watch(0.0).due()) == (False, True)


def test_the_digest_follows_every_own_file_and_only_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("queries", "queries/__pycache__", "hooks"):
        (tmp_path / name).mkdir()
    (tmp_path / "queries" / "a.cypher").write_text("a")
    monkeypatch.setattr(code, "_folders", lambda: [str(tmp_path / "queries")])
    note = tmp_path / "pointer"
    first = code.on_disk(note)
    (tmp_path / "queries" / "__pycache__" / "a.pyc").write_text("x")
    (tmp_path / "queries" / ".a.swp").write_text("x")
    (tmp_path / "hooks" / "b.py").write_text("x")
    assert code.on_disk(note) == first
    (tmp_path / "queries" / "a.cypher").write_text("b")
    os.utime(tmp_path / "queries" / "a.cypher", (1.0, 1.0))
    second = code.on_disk(note)
    assert second != first
    (tmp_path / "queries" / "a.cypher").write_text("bb")
    os.utime(tmp_path / "queries" / "a.cypher", (1.0, 1.0))
    assert code.on_disk(note) not in (first, second)


def test_the_folders_that_are_watched_hold_program_hooks_queries_and_migrations() -> None:
    found = {str(Path(folder).name) for folder in code._folders()}
    assert {"mkg", "mkg_hooks", "cypher", "gds", "migrations", "hooks"} == found


def test_a_pointer_that_others_could_have_written_names_nothing(tmp_path: Path) -> None:
    note = tmp_path / "pointer"
    assert pointer.read_pointer(note) == {}
    note.write_text("python=/a/python\nroot=/a\n")
    note.chmod(0o600)
    assert pointer.read_pointer(note) == {"python": "/a/python", "root": "/a"}
    note.chmod(0o620)
    assert pointer.read_pointer(note) == {}
    note.chmod(0o600)
    (tmp_path / "link").symlink_to(note)
    assert pointer.read_pointer(tmp_path / "link") == {}


def test_an_interpreter_proves_itself_by_telling_its_version(tmp_path: Path) -> None:
    def script(text: str) -> str:
        path = tmp_path / f"python{time.monotonic_ns()}"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        return str(path)

    asked = '[ "$*" = "-P -m mkg --version" ] && echo 2.0'
    assert code.starts(script(asked)) == "2.0"
    assert code.starts(script("echo 2.0; exit 1")) is None
    assert code.starts(str(tmp_path / "none")) is None
