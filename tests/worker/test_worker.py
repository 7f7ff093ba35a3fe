"""A worker in this process: what it answers, when it is silent, and how it leaves."""

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mkg.worker import client, lifecycle, server
from mkg.worker.firings import Firings
from mkg.worker.shape import Limits, Makers
from mkg_hooks import notice, wire
from mkg_hooks.payload import HookResult
from tests.hooks.launching import SESSION, prompt_event, start_event, tool_event, wait_until
from tests.support.requirement import requirement
from tests.worker import fake_worker

LIMITS = Limits(poll=0.05, backoff_first=0.02, backoff_most=0.05, answer_ceiling=0.4, frame=1.0)


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[SimpleNamespace]:
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    yield from serving(home, LIMITS, fake_worker.makers(home))


def serving(home: Path, limits: Limits, makers: Makers) -> Iterator[SimpleNamespace]:
    places, log, dispatch = fake_worker.places(home), fake_worker.Log(), fake_worker.Dispatch(home)
    with lifecycle.sole(places) as mine:
        assert mine
        made = lifecycle.Worker(places, makers, dispatch, log=log, limits=limits)
        thread = threading.Thread(target=made.serve)
        thread.start()
        wait_until(lambda: client.ask(places.socket, "ping"))
        wait_until(lambda: made.memory.embedder != "unknown" and made.memory.graph != "unknown")
        yield SimpleNamespace(
            home=home, places=places, log=log, dispatch=dispatch, made=made, thread=thread
        )
        made.stop()
        thread.join(10)
        assert not thread.is_alive()


def fire(
    worker: SimpleNamespace, event: str, payload: Any, client_name: str = "claude"
) -> bytes | None:
    """Send one event as the launcher does; the answer, or None without an acknowledgement."""
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(5)
        link.connect(str(worker.places.socket))
        link.sendall(
            wire.encode("hook", client_name, event, raw, {"mkg.sent_at": str(time.time())})
        )
        got = b""
        while part := link.recv(65536):
            got += part
    if not got.startswith(wire.ACK):
        return None
    head, _, answer = got.removeprefix(wire.ACK).partition(b"\n")
    assert head == b"OUT %d" % len(answer)
    return answer


def applied(worker: SimpleNamespace) -> list[str]:
    told = client.ask(worker.places.socket, "drain", {"timeout": 5})
    assert told and told["drained"]
    path = worker.home / "applied"
    return path.read_text().splitlines() if path.exists() else []


@requirement("SEC-29")
def test_the_socket_and_its_folder_are_the_users_alone(worker):
    assert stat.S_IMODE(worker.places.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(worker.places.socket.parent.stat().st_mode) == 0o700


@requirement("SEC-09", "MEM-W72")
def test_an_event_is_on_disk_when_it_is_acknowledged_whatever_the_graph_does(worker, monkeypatch):
    (worker.home / "graph-down").touch()
    worker.made.memory.lost(ConnectionError())
    assert fire(worker, "PostToolUse", tool_event("PostToolUse", "Bash", {"command": "ls"})) == b""
    assert worker.made.spool.pending() == 1
    monkeypatch.setattr(
        worker.made.spool, "append", lambda record: (_ for _ in ()).throw(OSError(28, "full"))
    )
    assert fire(worker, "Stop", {"session_id": SESSION}) is None
    assert client.ask(worker.places.socket, "status")["unspooled"] == 1


@requirement("B11")
@pytest.mark.parametrize(
    ("event", "payload"),
    [("SessionStart", start_event()), ("UserPromptSubmit", prompt_event("same", None))],
)
def test_two_equal_events_at_once_are_one_event_and_one_answer(worker, event, payload):
    answers: list[bytes | None] = []
    threads = [
        threading.Thread(target=lambda: answers.append(fire(worker, event, payload)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert sorted(map(bool, answers)) == [False, False, False, True] and None not in answers
    assert len(applied(worker)) == 1


@requirement("MEM-T206")
def test_two_equal_prompts_are_two_events_by_their_id_or_by_their_distance_in_time(worker):
    for turn in ("p1", "p2"):
        assert fire(worker, "UserPromptSubmit", prompt_event("continue", turn))
    fire(worker, "UserPromptSubmit", prompt_event("continue", None))
    worker.made.server._firings._window = 0.0
    assert fire(worker, "UserPromptSubmit", prompt_event("continue", None))
    assert len(applied(worker)) == 4


def test_a_first_registration_that_was_not_stored_leaves_the_event_to_the_second():
    firings = Firings(2.0)
    first, is_first = firings.begin("k")
    first.finish(stored=False)
    second, again = firings.begin("k")
    second.finish(stored=True)
    assert (is_first, again, firings.begin("k")[1], firings.begin("other")[1]) == (
        True,
        True,
        False,
        True,
    )


def test_a_launcher_that_has_given_up_keeps_the_event_and_the_worker_does_not_store_it_too(
    worker, monkeypatch
):
    held = threading.Event()
    real = server.intake.read
    monkeypatch.setattr(server.intake, "read", lambda *a, **k: (held.wait(5), real(*a, **k))[1])
    link = socket.socket(socket.AF_UNIX)
    link.connect(str(worker.places.socket))
    link.sendall(
        wire.encode("hook", "claude", "Stop", json.dumps({"session_id": SESSION}).encode())
    )
    link.close()
    held.set()
    wait_until(lambda: client.ask(worker.places.socket, "status")["hooks"] == 1)
    assert applied(worker) == [] and worker.made.spool.pending() == 0


@requirement("B1")
def test_an_answer_past_its_budget_is_replaced_by_one_line_and_stuck_ones_hold_no_later_prompt(
    worker,
):
    (worker.home / "slow-answer").touch()
    began = time.monotonic()
    first = fire(worker, "UserPromptSubmit", prompt_event("x", "p0"))
    assert (
        json.loads(first or b"") == {"systemMessage": notice.LATE}
        and time.monotonic() - began < 1.5
    )
    for number in range(1, LIMITS.answers):
        assert fire(worker, "UserPromptSubmit", prompt_event("x", f"p{number}")) == b""
    began = time.monotonic()
    assert fire(worker, "UserPromptSubmit", prompt_event("x", "p9")) == b""
    assert time.monotonic() - began < LIMITS.answer_ceiling
    status = client.ask(worker.places.socket, "status")
    assert (status["late"], status["busy"], status["acknowledged"]) == (
        LIMITS.answers,
        1,
        LIMITS.answers + 1,
    )
    assert len(applied(worker)) == LIMITS.answers + 1


@requirement("CL-16")
def test_while_the_graph_is_away_one_line_is_said_per_epoch_and_outage(worker):
    (worker.home / "graph-down").touch()

    def said(event: str, payload: Any, name: str = "claude") -> bytes | None:
        return fire(worker, event, payload, name)

    line = json.dumps({"systemMessage": notice.KEPT}).encode()
    assert said("SessionStart", start_event()) == line
    assert said("UserPromptSubmit", prompt_event("a", "p1")) == b""
    assert said("SessionStart", start_event(session_id="other"), "gemini") == b""
    assert said("SessionStart", start_event(session_id="other")) == line
    os.utime(worker.places.spool / "notices" / SESSION, (1, 1))
    assert said("SessionStart", start_event(source="resume")) == b""
    assert said("SessionStart", start_event(source="compact")) == line
    (worker.home / "graph-down").unlink()
    wait_until(lambda: worker.made.memory.graph == "up")
    assert b"echo: b" in (said("UserPromptSubmit", prompt_event("b", "p2")) or b"")
    (worker.home / "graph-down").touch()
    assert said("UserPromptSubmit", prompt_event("c", "p3")) == line


@requirement("PERF-54")
def test_a_worker_that_has_only_just_started_is_silent_and_says_nothing_of_an_outage(
    tmp_path: Path,
):
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    waiting = threading.Event()
    makers = Makers(
        connect=lambda: (waiting.wait(5), fake_worker.Run(home))[1],
        embedder=fake_worker.Embed,
        deps=fake_worker.Deps,
        secrets=dict,
    )
    places = fake_worker.places(home)
    with lifecycle.sole(places):
        made = lifecycle.Worker(
            places, makers, fake_worker.Dispatch(home), log=fake_worker.Log(), limits=LIMITS
        )
        thread = threading.Thread(target=made.serve)
        thread.start()
        wait_until(lambda: client.ask(places.socket, "ping"))
        assert fire(SimpleNamespace(places=places), "UserPromptSubmit", prompt_event("x")) == b""
        waiting.set()
        wait_until(lambda: made.memory.graph == "up")
        assert fire(SimpleNamespace(places=places), "UserPromptSubmit", prompt_event("y", "p2"))
        made.stop()
        thread.join(10)


@requirement("ENC-W62", "AD10")
@pytest.mark.parametrize("error", [KeyError("bug"), RecursionError()])
def test_a_feature_that_breaks_costs_its_answer_and_nothing_else(worker, monkeypatch, error):
    monkeypatch.setattr(worker.dispatch, "answer", lambda event, deps: (_ for _ in ()).throw(error))
    told = json.loads(fire(worker, "UserPromptSubmit", prompt_event("x")) or b"")
    assert told == {"systemMessage": notice.FAULT}
    # Once for an outage, not at every prompt.
    assert fire(worker, "UserPromptSubmit", prompt_event("x", "p1")) == b""
    monkeypatch.setattr(
        worker.dispatch, "answer", lambda event, deps: HookResult(context="well again")
    )
    assert b"well again" in (fire(worker, "UserPromptSubmit", prompt_event("x", "p2")) or b"")
    assert ("error", "answer.failed") in [line[:2] for line in worker.log.lines]


def test_an_event_of_a_model_s_own_call_is_answered_and_not_kept(worker: SimpleNamespace):
    def send(env: dict[str, str]) -> bytes:
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(5)
            link.connect(str(worker.places.socket))
            raw = json.dumps(prompt_event("nested")).encode()
            link.sendall(wire.encode("hook", "claude", "UserPromptSubmit", raw, env))
            return b"".join(iter(lambda: link.recv(65536), b""))

    answer = send({"mkg.sent_at": str(time.time()), "MKG_IN_EXTRACTION": "1"})
    assert answer == wire.ACK + server.EMPTY
    assert applied(worker) == []
    assert b"nested" in send({"mkg.sent_at": str(time.time())})
    assert len(applied(worker)) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"MKG1 hook claude Stop 9 0\nxx",
        b"MKG1 embed - - 2 0\n[]",
        b"MKG1 drain - - 3 0\nxyz",
    ],
)
def test_a_bad_frame_ends_its_connection_and_nothing_else(worker, data):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(worker.places.socket))
        link.sendall(data)
        link.shutdown(socket.SHUT_WR)
        link.settimeout(5)
        link.recv(65536)
    assert fire(worker, "UserPromptSubmit", prompt_event("x"))


def test_connections_that_send_nothing_are_ended_and_hold_only_their_own_place(worker):
    idle = [socket.socket(socket.AF_UNIX) for _ in range(LIMITS.connections + 3)]
    for link in idle:
        link.connect(str(worker.places.socket))
    wait_until(lambda: (client.ask(worker.places.socket, "status") or {}).get("rejected", 0) >= 3)

    def reached() -> bytes | None:
        try:
            return fire(worker, "UserPromptSubmit", prompt_event("x"))
        except OSError:
            return None  # the places are given back one after the other

    assert wait_until(reached)
    for link in idle:
        link.close()


@requirement("SEC-29")
def test_a_peer_of_another_user_is_hung_up_on(worker, monkeypatch):
    monkeypatch.setattr(server, "peer_uid", lambda link: os.geteuid() + 1)
    with pytest.raises(OSError):
        wire.ask(str(worker.places.socket), "ping", timeout=2)
    monkeypatch.undo()
    assert client.ask(worker.places.socket, "ping") == {"pid": os.getpid()}
    ours, theirs = socket.socketpair()
    assert server.peer_uid(ours) == os.geteuid()
    ours.close()
    theirs.close()


def test_the_verbs_say_what_a_person_and_other_parts_ask(worker):
    assert client.ask(worker.places.socket, "embed", {"texts": ["a", "abc"]}) == {
        "model": "fake",
        "vectors": [[1.0, 1.0], [3.0, 1.0]],
    }
    assert "error" in client.ask(worker.places.socket, "embed", {"texts": "a"})
    fire(worker, "UserPromptSubmit", prompt_event("x"))
    applied(worker)
    status = client.ask(worker.places.socket, "status")
    assert {
        k: status[k]
        for k in ("pid", "graph", "embedder", "queue", "applied", "answered", "last_error")
    } == {
        "pid": os.getpid(),
        "graph": "up",
        "embedder": "ready",
        "queue": 0,
        "applied": 1,
        "answered": 1,
        "last_error": None,
    }
    assert client.ask(worker.places.socket.with_name("none.sock"), "status") is None


def test_a_drain_that_cannot_finish_says_so_in_time(worker):
    (worker.home / "graph-down").touch()
    worker.made.memory.lost(ConnectionError())
    fire(worker, "Stop", {"session_id": SESSION})
    told = client.ask(worker.places.socket, "drain", {"timeout": 0.2})
    assert (told["drained"], told["queue"], told["graph"]) == (False, 1, "down")


def test_a_worker_without_a_model_says_so_and_serves_on(tmp_path: Path):
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)

    def missing() -> Any:
        raise ImportError("no model here")

    makers = Makers(
        connect=lambda: fake_worker.Run(home), embedder=missing, deps=fake_worker.Deps, secrets=dict
    )
    for made in serving(home, LIMITS, makers):
        assert client.ask(made.places.socket, "embed", {"texts": ["a"]}) == {
            "error": "no embedder",
            "embedder": "none",
        }
        assert fire(made, "UserPromptSubmit", prompt_event("x"))


@requirement("SEC-70")
def test_the_products_own_password_is_masked_though_no_hook_knows_it(tmp_path: Path):
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    makers = Makers(
        connect=lambda: fake_worker.Run(home),
        embedder=fake_worker.Embed,
        deps=fake_worker.Deps,
        secrets=lambda: {"NEO4J_PASSWORD": "graph-word-4711"},
    )
    for made in serving(home, LIMITS, makers):
        answer = fire(made, "UserPromptSubmit", prompt_event("it is graph-word-4711 there"))
        assert answer and b"graph-word" not in answer and b"[REDACTED:known-value]" in answer


@requirement("PERF-43")
def test_an_idle_worker_with_nothing_to_do_leaves_and_one_with_work_stays(tmp_path: Path):
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    places = fake_worker.places(home)
    (home / "graph-down").touch()
    limits = Limits(idle=0.1, poll=0.05, backoff_first=0.02, backoff_most=0.05)
    with lifecycle.sole(places):
        made = lifecycle.Worker(
            places,
            fake_worker.makers(home),
            fake_worker.Dispatch(home),
            log=fake_worker.Log(),
            limits=limits,
        )
        made.spool.append({"event_key": "waiting"})
        thread = threading.Thread(target=made.serve)
        thread.start()
        wait_until(lambda: client.ask(places.socket, "ping"))
        wait_until(lambda: client.ask(places.socket, "status")["waits"] > 20)
        assert thread.is_alive()
        (home / "graph-down").unlink()
        thread.join(10)
        assert not thread.is_alive() and not places.socket.exists()
    assert (home / "applied").read_text() == "waiting\n"


def test_an_event_spooled_while_the_worker_is_leaving_is_still_applied(tmp_path: Path, monkeypatch):
    home = tmp_path / "mkg"
    home.mkdir(mode=0o700)
    places = fake_worker.places(home)
    limits = Limits(idle=0.1, poll=0.05)
    with lifecycle.sole(places):
        made = lifecycle.Worker(
            places,
            fake_worker.makers(home),
            fake_worker.Dispatch(home),
            log=fake_worker.Log(),
            limits=limits,
        )
        real, rounds = made.server.serve, []

        def leaving(idle_over: Any) -> None:
            real(idle_over)
            if not rounds:
                made.spool.append({"event_key": "late"})
            rounds.append(1)

        monkeypatch.setattr(made.server, "serve", leaving)
        made.serve()
    assert len(rounds) == 2 and (home / "applied").read_text() == "late\n"
