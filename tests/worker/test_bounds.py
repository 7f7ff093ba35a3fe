"""What bounds a worker: bytes in flight, bytes in a batch, and who may speak to it at all."""

import json
import logging
import os
import pwd
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mkg import log
from mkg.worker import client, lifecycle
from mkg.worker.room import SMALL, Room
from mkg_hooks import spool as spooling
from mkg_hooks.payload import HookResult
from mkg_hooks.spool import Spool
from tests.hooks.launching import Home, make_home, prompt_event, tool_event, wait_until
from tests.support.requirement import requirement
from tests.worker import fake_worker
from tests.worker.test_worker import LIMITS, fire, serving


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[SimpleNamespace]:
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    yield from serving(home, LIMITS, fake_worker.makers(home))


def test_room_is_for_large_payloads_until_it_is_full_and_always_for_small_ones() -> None:
    room = Room(4 * SMALL)
    assert room.admit(3 * SMALL)
    assert not room.admit(2 * SMALL)
    assert room.admit(SMALL)
    assert room.admit(SMALL)
    assert not room.admit(SMALL + 1)
    room.leave(3 * SMALL)
    assert room.admit(2 * SMALL)


def test_a_payload_for_which_there_is_no_room_is_kept_by_the_launcher(tmp_path: Path) -> None:
    home = make_home(tmp_path / "base")
    try:
        held(home)
    finally:
        home.close()


def held(home: Home) -> None:
    home.start_worker()
    most = fake_worker.LIMITS.in_flight
    large = tool_event("PostToolUse", "Bash", {"command": "x"}, tool_response="x " * (most // 2))
    assert home.hook("claude", "PostToolUse", large).returncode == 0
    status = home.ask("status")
    assert (status["rejected"], status["acknowledged"]) == (1, 0)
    fits = tool_event("PostToolUse", "Bash", {"command": "x"}, "toolu_2", tool_response="x" * 999)
    home.hook("claude", "PostToolUse", fits)
    # What was refused once leaves no mark: the same size fits again when it is allowed.
    for number in range(5):
        home.hook("claude", "UserPromptSubmit", prompt_event("y" * SMALL, f"p{number}"))
    assert home.ask("status")["rejected"] == 1
    assert [key.split(":")[2] for key in home.drained()] == ["PostToolUse"] * 2 + [
        "UserPromptSubmit"
    ] * 5


def test_a_batch_is_bounded_by_bytes_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool")
    for number in range(6):
        spool.append({"event_key": f"k{number}", "text": "x" * 1000})
    whole = spool.read(spool.cursor(), 100)
    monkeypatch.setattr(spooling, "BATCH_BYTES", 2500)
    first = spool.read(spool.cursor(), 100)
    assert [record["event_key"] for _, record in first] == ["k0", "k1", "k2"]
    assert [*first, *spool.read(first[-1][0], 100)] == whole
    assert len(spool.read(spool.cursor(), 2)) == 2
    monkeypatch.setattr(spooling, "BATCH_BYTES", 1)
    assert len(spool.read(spool.cursor(), 100)) == 1


SPEAK = """
import os, socket, sys
os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
link = socket.socket(socket.AF_UNIX); link.settimeout(5)
try:
    link.connect(sys.argv[1]); link.sendall(b"MKG1 ping - - 0 0\\n"); print(link.recv(99))
except OSError as error:
    print(type(error).__name__)
"""


@requirement("SEC-29")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_reaches_neither_the_socket_nor_an_answer(worker: SimpleNamespace) -> None:
    def speak(uid: int) -> str:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", SPEAK, str(worker.places.socket), str(uid)],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout.strip()

    nobody = pwd.getpwnam("nobody").pw_uid
    opened = [path for path in worker.places.socket.parents if path.stat().st_mode & 0o001 == 0]
    modes = {path: path.stat().st_mode & 0o777 for path in opened}
    assert worker.places.socket.parent in modes
    assert speak(nobody) == "PermissionError"
    try:
        for path in opened:
            path.chmod(0o711)
        assert speak(nobody) == "PermissionError"  # the socket is 0600 itself
        worker.places.socket.chmod(0o666)
        assert speak(nobody) in ("b''", "ConnectionResetError", "BrokenPipeError")
        assert speak(0).startswith("b'OUT ")
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    status = client.ask(worker.places.socket, "status")
    assert status and status["rejected"] == 1


def test_a_folder_of_another_user_is_refused_and_an_open_one_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    lifecycle.private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="another user"):
        lifecycle.private(folder)


def test_status_tells_queue_oldest_item_last_error_version_and_memory(
    worker: SimpleNamespace,
) -> None:
    (worker.home / "poison").write_text("bad")
    fire(worker, "UserPromptSubmit", prompt_event("bad"))
    fire(worker, "Stop", {"session_id": "s"})

    def told() -> dict[str, object]:
        return client.ask(worker.places.socket, "status") or {}

    wait_until(lambda: told().get("last_error"))
    status = told()
    assert "KeyError" in str(status["last_error"])
    assert str(status["oldest_received_at"]).endswith("Z")
    assert isinstance(status["queue"], int) and status["queue"] >= 1
    assert {"answered", "late", "busy", "rejected", "acknowledged"} <= set(status)


@requirement("SEC-29")
def test_a_socket_of_somebody_else_is_not_spoken_to(tmp_path: Path) -> None:
    home = make_home(tmp_path / "base")
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    (home.folder / "python").write_text("#!/bin/sh\n")
    home.socket.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(home.socket))
        trap.listen(1)
        trap.settimeout(0.1)
        os.chown(home.socket, pwd.getpwnam("nobody").pw_uid, -1)
        assert home.hook("claude", "Stop", {"session_id": "s"}).returncode == 0
        with pytest.raises(TimeoutError):
            trap.accept()
        os.chown(home.socket, 0, -1)
        home.hook("claude", "Stop", {"session_id": "t"})
        trap.accept()[0].close()
    assert len(home.records()) == 2


def test_storing_begins_once_the_client_has_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    # So long a poll that only a word from the server lets the drain look.
    limits = replace(LIMITS, poll=60.0, answer_ceiling=5.0)
    seen: list[bool] = []

    def answer(event: object, deps: object) -> HookResult:
        threading.Event().wait(0.3)
        seen.append((home / "applied").exists())
        return HookResult(context="told")

    for made in serving(home, limits, fake_worker.makers(home)):
        monkeypatch.setattr(made.dispatch, "answer", answer)
        assert b"told" in (fire(made, "UserPromptSubmit", prompt_event("x")) or b"")
        wait_until(lambda: (home / "applied").exists())
        fire(made, "Stop", {"session_id": "s"})
        wait_until(lambda: len((home / "applied").read_text().splitlines()) == 2)
    assert seen == [False]


def test_a_log_line_spares_the_search_for_secrets_in_names_only() -> None:
    secret = "ghp_" + "a1B2" * 9
    shape = {"kind": "UserPromptSubmit", "told": secret}
    record = logging.makeLogRecord({"msg": "shape", "shape": shape})
    line = json.loads(log._JsonLines().format(record))
    assert (line["kind"], secret in line["told"]) == ("UserPromptSubmit", False)
    names = [text for text in ("Stop", secret, "a b", "ÄB", "x" * 25, "a1") if log._is_name(text)]
    assert names == ["Stop"]


@requirement("PERF-02")
def test_an_answer_is_begun_while_its_record_goes_to_the_disk_and_for_no_other_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    begun = home / "begun"
    real = Spool.append

    def append(spool: Spool, record: dict[str, Any]) -> Any:
        if record.get("prompt"):
            # A disk that only goes on once the other thread has come so far.
            wait_until(begun.exists)
        return real(spool, record)

    monkeypatch.setattr(Spool, "append", append)
    for made in serving(home, LIMITS, fake_worker.makers(home)):
        fire(made, "Stop", {"session_id": "s"})
        assert not begun.exists()
        assert b"echo: x" in (fire(made, "UserPromptSubmit", prompt_event("x")) or b"")
    assert begun.read_text() == "x"


def test_what_cannot_be_kept_is_not_answered_though_its_answer_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)

    def append(spool: Spool, record: dict[str, Any]) -> Any:
        wait_until((home / "begun").exists)
        raise OSError(28, "no space left")

    for made in serving(home, LIMITS, fake_worker.makers(home)):
        with monkeypatch.context() as full:
            full.setattr(Spool, "append", append)
            assert not fire(made, "UserPromptSubmit", prompt_event("x"))
        # Its thread is free again, and so is the way for storing.
        for number in range(LIMITS.answers + 1):
            told = fire(made, "UserPromptSubmit", prompt_event(f"y{number}"))
            assert b"echo: y" in (told or b"")
        assert client.ask(made.places.socket, "drain", {"timeout": 5}, timeout=6)["drained"]
