"""The server's process: it outlives us, is recognised, and ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mkg.localdb import process
from mkg.localdb.process import Process

SLEEP = ["/bin/sleep", "60"]
DEAF = [
    sys.executable,
    "-c",
    "import signal,time;signal.signal(signal.SIGTERM,signal.SIG_IGN);print('deaf',flush=True);"
    "time.sleep(60)",
]


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Process]]:
    """Starts processes, and ends what a test left."""
    started: list[Process] = []

    def begin(command: list[str], env: dict[str, str] | None = None) -> Process:
        found = process.start(
            command, note=tmp_path / "server.pid", log=tmp_path / "out", env=env or {}
        )
        assert found is not None
        started.append(found)
        return found

    yield begin
    for found in started:
        process.stop(found, patience=0)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_process_leaves_our_session_and_writes_down_who_it_is(start, tmp_path):
    found = start(SLEEP)
    assert process.alive(found)
    assert process.read(tmp_path / "server.pid") == found
    assert os.getsid(found.pid) != os.getsid(0)
    assert (tmp_path / "server.pid").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_the_process_gets_neither_our_descriptors_nor_our_environment(start, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret-of-the-shell")
    with (tmp_path / "ours").open("w", encoding="utf-8") as handle:
        os.set_inheritable(handle.fileno(), True)
        found = start(SLEEP, {"LC_ALL": "C.UTF-8"})
        links = {str(path.readlink()) for path in Path(f"/proc/{found.pid}/fd").iterdir()}
    assert links == {"/dev/null", str(tmp_path / "out")}
    assert Path(f"/proc/{found.pid}/environ").read_bytes() == b"LC_ALL=C.UTF-8\0"


def test_what_it_prints_goes_to_the_log(start, tmp_path):
    start(["/bin/sh", "-c", "echo out; echo err >&2; exec sleep 60"])
    log = tmp_path / "out"
    until(lambda: log.read_text(encoding="utf-8") == "out\nerr\n")


def test_a_polite_process_ends_when_asked(start):
    found = start(SLEEP)
    assert process.stop(found, patience=5)
    assert not process.alive(found)


def test_a_deaf_process_is_killed(start, tmp_path):
    found = start(DEAF)
    until(lambda: (tmp_path / "out").read_text(encoding="utf-8") != "")
    assert not process.stop(found, patience=0.2)
    assert not process.alive(found)


def test_a_number_that_now_belongs_to_another_process_is_left_alone(start):
    other = start(SLEEP)
    stale = Process(other.pid, "another boot:12345")
    assert not process.alive(stale)
    process.stop(stale, patience=0)
    assert process.alive(other)


def test_a_killed_process_that_nobody_has_collected_counts_as_ended():
    child = subprocess.Popen(SLEEP)
    began = process.began(child.pid)
    assert began is not None
    child.send_signal(signal.SIGKILL)
    try:
        until(lambda: not process.alive(Process(child.pid, began)))
    finally:
        child.wait()
    assert process.began(child.pid) is None


def test_ps_tells_the_same_story_where_there_is_no_proc():
    child = subprocess.Popen(SLEEP)
    first = process._began_by_ps(child.pid)
    assert first is not None
    assert process._began_by_ps(child.pid) == first
    child.kill()
    until(lambda: process._began_by_ps(child.pid) is None)
    child.wait()
    assert process._began_by_ps(child.pid) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"pid": "x", "began": ""}', "\x00", "null"])
def test_a_broken_note_is_no_process(tmp_path, text):
    note = tmp_path / "server.pid"
    assert process.read(note) is None
    note.write_text(text, encoding="utf-8")
    assert process.read(note) is None


def test_a_program_that_cannot_run_leaves_its_reason_in_the_log(tmp_path):
    note, log = tmp_path / "server.pid", tmp_path / "out"
    found = process.start([str(tmp_path / "absent")], note=note, log=log, env={})
    assert found is not None
    until(lambda: not process.alive(found))
    assert "No such file" in log.read_text(encoding="utf-8")


def test_the_note_of_the_last_run_does_not_survive_a_start(tmp_path):
    note = tmp_path / "server.pid"
    note.write_text(json.dumps({"pid": 1, "began": "x"}), encoding="utf-8")
    log = tmp_path / "a folder that is not there" / "out"
    assert process.start(SLEEP, note=note, log=log, env={}) is None
    assert process.read(note) is None
