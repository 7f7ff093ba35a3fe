"""The launcher under bad input, stuck pipes, stopped workers and full disks: exit 0, in time."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mkg_hooks import notice
from mkg_hooks.spool import Spool
from tests.hooks.launching import (
    LAUNCH,
    SESSION,
    Home,
    prompt_event,
    start_event,
    tool_event,
    wait_until,
    write_pointer,
)
from tests.support.requirement import requirement

NESTED = b'{"session_id":"s-1","tool_response":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
LARGE = json.dumps(
    tool_event(
        "PostToolUse", "Bash", {"command": "cat big"}, tool_response={"stdout": "x" * 50_000_000}
    )
).encode()
HOSTILE = {
    "nothing": b"",
    "blanks": b" \n\t ",
    "half an object": b'{"session_id":"s-1","prompt":"hel',
    "a list": b'[{"session_id":"s-1"}]',
    "a word": b"null",
    "no text": bytes(range(256)) * 40,
    "lone surrogate": b'{"session_id":"s-1","prompt":"a \\ud800 b"}',
    "not a number": b'{"session_id":"s-1","prompt":"x","cost":NaN,"more":-Infinity}',
    "a long integer": b'{"session_id":"s-1","prompt":"x","n":' + b"9" * 100_000 + b"}",
    "zero bytes": b'{"session_id":"s-1","prompt":"a\\u0000b\x00c"}',
    "deep": NESTED,
    "50 MB": LARGE,
}


@requirement("CL-11", "MEM-T108", "ENC-W70", "SS3")
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_input_ends_with_exit_code_0_and_no_word_on_stderr(offline: Home, what):
    event = "PostToolUse" if what in ("deep", "50 MB", "a list") else "UserPromptSubmit"
    began = time.monotonic()
    done = offline.hook("claude", event, HOSTILE[what])
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - began < 8.0
    if done.stdout:
        assert set(json.loads(done.stdout)) == {"systemMessage"}
    assert [r["name"] for r in offline.records()] == ([event] if what in KEPT else [])


KEPT = {"lone surrogate", "not a number", "a long integer", "zero bytes", "deep", "50 MB"}


@requirement("CL-11", "ENC-W70")
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("claude",),
        ("claude", "--help"),
        ("", ""),
        ("mcp",),
        ("a b", "c\nd"),
        ("claude", "x" * 5000),
    ],
)
def test_a_wrong_command_line_does_nothing_and_exits_0(offline: Home, words):
    done = offline.launch(*words, stdin=b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@requirement("CL-11")
def test_a_launcher_without_its_package_exits_0(offline: Home, tmp_path: Path):
    alone = tmp_path / "launch.py"
    alone.write_bytes(LAUNCH.read_bytes())
    done = offline.hook("claude", "UserPromptSubmit", prompt_event("hi"), script=alone)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@requirement("B1", "SEC-10")
def test_a_stopped_worker_costs_a_prompt_less_than_two_seconds_and_the_event_is_stored_once(
    home: Home,
):
    worker = home.start_worker()
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        done = home.hook("claude", "UserPromptSubmit", prompt_event("hello", "p-stopped"))
        assert time.monotonic() - began < 2.0
        assert json.loads(done.stdout) == {"systemMessage": notice.KEPT}
        began = time.monotonic()
        done = home.hook(
            "claude", "PostToolUse", tool_event("PostToolUse", "Bash", {"command": "ls"})
        )
        assert (done.stdout, done.returncode) == (b"", 0)
        assert time.monotonic() - began < 1.5
    finally:
        os.kill(worker.pid, signal.SIGCONT)
    keys = home.drained()
    assert sorted(key.split(":")[2] for key in keys) == ["PostToolUse", "UserPromptSubmit"]
    assert not (home.folder / "started").exists()


@requirement("B1")
def test_an_answer_that_never_comes_is_replaced_by_one_line_in_time(home: Home):
    home.start_worker()
    (home.folder / "slow-answer").touch()
    began = time.monotonic()
    done = home.hook("claude", "UserPromptSubmit", prompt_event("hello"))
    assert time.monotonic() - began < 2.0
    assert json.loads(done.stdout) == {"systemMessage": notice.LATE}
    assert home.hook("claude", "UserPromptSubmit", prompt_event("again", "p2")).stdout == b""


@requirement("B1")
@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionEnd", "Stop"])
def test_a_stdin_that_is_never_closed_does_not_hang_the_hook(offline: Home, event):
    read, write = os.pipe()
    os.write(write, json.dumps(prompt_event("open end")).encode())
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(LAUNCH), "claude", event],
        stdin=read,
        capture_output=True,
        env=offline.environment(),
        cwd=offline.project,
        timeout=10,
        check=False,
    )
    assert (done.returncode, time.monotonic() - began < 2.5) == (0, True)
    os.close(read)
    os.close(write)
    assert [r["name"] for r in offline.records()] == [event]


def test_a_stdin_that_stays_empty_and_open_ends_by_the_deadline(offline: Home):
    read, write = os.pipe()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(LAUNCH), "claude", "UserPromptSubmit"],
        stdin=read,
        capture_output=True,
        env=offline.environment(),
        cwd=offline.project,
        timeout=10,
        check=False,
    )
    os.close(read)
    os.close(write)
    assert (done.returncode, done.stdout, time.monotonic() - began < 2.5) == (0, b"", True)


def test_a_stdout_that_nobody_reads_does_not_hang_the_hook(offline: Home):
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 65536)
    except BlockingIOError:
        os.set_blocking(write, True)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(LAUNCH), "claude", "SessionStart"],
        stdout=write,
        input=json.dumps(start_event()).encode(),
        env=offline.environment(),
        cwd=offline.project,
        timeout=10,
        check=False,
    )
    os.close(read)
    os.close(write)
    assert (done.returncode, time.monotonic() - began < 2.5) == (0, True)


@requirement("B5", "CL-08")
def test_a_session_end_that_is_killed_with_its_group_loses_nothing(home: Home):
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(LAUNCH), "claude", "SessionEnd"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=home.environment(),
        cwd=home.project,
        start_new_session=True,
    )
    process.communicate(
        json.dumps({"session_id": SESSION, "reason": "other"}).encode(), timeout=1.5
    )
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the worker is in no group of the client's
    pid = wait_until(lambda: home.ask("ping"))["pid"]
    assert os.getsid(pid) == pid
    assert [key.split(":")[2] for key in home.drained()] == ["SessionEnd"]


def test_a_worker_that_hangs_up_without_an_acknowledgement_leaves_the_event_to_the_launcher(
    offline: Home,
):
    server = socket.socket(socket.AF_UNIX)
    offline.socket.parent.mkdir()
    server.bind(str(offline.socket))
    server.listen(1)
    thread = threading.Thread(target=lambda: server.accept()[0].close())
    thread.start()
    done = offline.hook("claude", "Stop", {"session_id": "s", "last_assistant_message": "m"})
    thread.join(5)
    server.close()
    assert (done.returncode, done.stdout) == (0, b"")
    assert [r["last_message"] for r in offline.records()] == ["m"]


# Root writes everywhere, so only a user finds a folder that cannot be written.
@pytest.mark.parametrize("spool", ["a file", "disk full", *(["read-only"] if os.geteuid() else [])])
def test_a_spool_that_cannot_be_written_costs_the_user_nothing(offline: Home, spool):
    if spool == "read-only":
        offline.spool.mkdir(mode=0o500)
    elif spool == "a file":
        offline.spool.write_text("in the way")
    command = [sys.executable, "-I", "-S", str(LAUNCH), "claude", "UserPromptSubmit"]
    if spool == "disk full":
        # RLIMIT_FSIZE of 0: every write to a file fails, as on a full disk.
        command = ["/bin/sh", "-c", 'ulimit -f 0; exec "$0" "$@"', *command]
    done = subprocess.run(
        command,
        input=json.dumps(prompt_event("x")).encode(),
        capture_output=True,
        timeout=10,
        env=offline.environment(),
        cwd=offline.project,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"" or json.loads(done.stdout) == {"systemMessage": notice.LOST}


def test_the_bound_of_the_pointer_holds_for_the_launcher_and_a_lost_event_is_counted(offline: Home):
    write_pointer(offline.folder, spool_mb="0")
    done = offline.hook("claude", "UserPromptSubmit", prompt_event("no room"))
    assert json.loads(done.stdout) == {"systemMessage": notice.LOST}
    assert offline.records() == [] and Spool(offline.spool).counters()["lost"] == 1
    write_pointer(offline.folder, spool_mb="1")
    offline.hook("claude", "UserPromptSubmit", prompt_event("room", "p2"))
    assert [r["prompt"] for r in offline.records()] == ["room"]
    assert Spool(offline.spool).counters()["lost"] == 1


@pytest.mark.parametrize("waiting", [False, True])
def test_a_payload_over_16_mib_leaves_ids_length_and_hash(home: Home, waiting):
    if waiting:
        home.start_worker()
    else:
        (home.folder / "python").write_text("#!/bin/sh\n")
    raw = json.dumps(
        {
            **tool_event("PostToolUse", "Bash", {"command": "x"}),
            "tool_response": {"stdout": "y" * 17_000_000},
            "tool_use_id": "toolu_last",
        }
    ).encode()
    home.hook("claude", "PostToolUse", raw)
    if waiting:
        assert [key.split(":")[3] for key in home.drained()] == ["toolu_last"]
        return
    (record,) = home.records()
    assert (
        record["raw_bytes"] == len(raw) and record["raw_sha256"] == hashlib.sha256(raw).hexdigest()
    )
    assert (record["session_id"], record["tool_use_id"]) == (SESSION, "toolu_last")
    assert {"tool_input", "tool_output", "cwd", "prompt"}.isdisjoint(record)


@requirement("ADV-G02")
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_a_payload_of_200_mib_is_never_held_whole(offline: Home):
    head = json.dumps({**tool_event("PostToolUse", "Bash", {"command": "x"}), "tool_response": ""})
    # With less memory than that nothing could hold it.
    command = [sys.executable, "-I", "-S", str(LAUNCH), "claude", "PostToolUse"]
    process = subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -v 150000; exec "$0" "$@"', *command],
        stdin=subprocess.PIPE,
        env=offline.environment(),
        cwd=offline.project,
    )
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(head[:-2].encode())
        for _ in range(200):
            process.stdin.write(b"x" * 2**20)
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    assert process.wait(20) == 0
    (record,) = wait_until(offline.records)
    assert record["session_id"] == SESSION and record["truncated"]
    assert record["raw_bytes"] > 16 * 2**20 and "tool_output" not in record


@requirement("ADV-G10", "SEC-60")
def test_a_session_id_that_is_a_path_names_no_file(offline: Home):
    evil = "../../../../etc/cron.d/x"
    before = sorted(offline.folder.parent.rglob("*"))
    done = offline.hook("claude", "UserPromptSubmit", prompt_event("x", session_id=evil))
    assert json.loads(done.stdout) == {"systemMessage": notice.KEPT}
    (record,) = offline.records()
    assert str(record["session_id"]).startswith("h-") and evil not in json.dumps(record)
    made = set(offline.folder.parent.rglob("*")) - set(before)
    assert all(path.is_relative_to(offline.spool) for path in made)
    assert not any("cron" in path.name for path in made)
