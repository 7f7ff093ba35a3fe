"""The launcher as a client starts it: one allowed answer, nothing lost, nothing waited for."""

import json
import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from mkg_hooks import notice, wire
from tests.hooks.launching import (
    LAUNCH,
    ROOT,
    SESSION,
    STOP,
    Home,
    prompt_event,
    start_event,
    tool_event,
    wait_until,
)
from tests.support.requirement import requirement


@requirement("CL-05", "CL-15", "MEM-W71")
def test_a_warm_worker_answers_a_prompt_in_the_one_form_and_other_events_with_nothing(home: Home):
    home.start_worker()
    done = home.hook("claude", "UserPromptSubmit", prompt_event("hello"))
    assert json.loads(done.stdout) == {
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": "echo: hello",
        }
    }
    assert (done.returncode, done.stderr) == (0, b"")
    for event, payload in {
        "PostToolUse": tool_event(
            "PostToolUse", "Bash", {"command": "ls"}, tool_response={"stdout": "a"}
        ),
        "Stop": {
            "session_id": SESSION,
            "stop_hook_active": False,
            "last_assistant_message": "done",
        },
        "SessionEnd": {"session_id": SESSION, "reason": "other"},
        "MadeUpEvent": {"session_id": SESSION, "something": 1},
    }.items():
        done = home.hook("claude", event, payload)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    names = [key.split(":")[2] for key in home.drained()]
    assert names == ["UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd", "MadeUpEvent"]


@requirement("CL-05")
def test_the_client_is_named_by_the_argument_and_never_guessed(home: Home):
    home.start_worker()
    for client, answers in {"claude": True, "codex": True, "unheard": False}.items():
        done = home.hook(client, "SessionStart", start_event(session_id=f"s-{client}"))
        assert bool(done.stdout) is answers
    assert sorted(key.split(":")[0] for key in home.drained()) == ["claude", "codex", "unheard"]


@requirement("SEC-09", "PERF-42", "PERF-44", "CL-09", "MEM-T113")
def test_without_a_worker_the_event_is_kept_one_is_started_and_one_line_is_said(home: Home):
    done = home.hook("claude", "SessionStart", start_event())
    assert done.returncode == 0
    assert json.loads(done.stdout) == {"systemMessage": notice.KEPT}
    assert "\n" not in notice.KEPT and len(notice.KEPT) < 400
    # The launcher's stdout was closed (run() returned), although its child lives on.
    assert wait_until(lambda: home.ask("ping"))["pid"]
    assert [key.split(":")[2] for key in home.drained()] == ["SessionStart"]
    assert (home.folder / "started").read_text() == "-P -m mkg worker run --from-client\n"


@requirement("CL-16")
def test_the_degraded_line_is_said_once_per_epoch_and_outage(offline: Home):
    def said(event: str, payload: dict) -> bool:
        return bool(offline.hook("claude", event, payload).stdout)

    assert said("SessionStart", start_event())
    assert not said("UserPromptSubmit", prompt_event("one", "p1"))
    assert not said("PostToolUse", tool_event("PostToolUse", "Bash", {"command": "ls"}))
    assert not said("SessionStart", start_event(source="resume"))
    marker = offline.spool / "notices" / SESSION
    os.utime(marker, (time.time() - 60, time.time() - 60))
    assert not said("UserPromptSubmit", prompt_event("two", "p2"))
    assert said("SessionStart", start_event(source="compact"))
    notice.clear(str(offline.spool))
    assert said("UserPromptSubmit", prompt_event("three", "p3"))


@requirement("CL-16")
def test_a_client_without_a_place_for_it_is_told_nothing(offline: Home):
    assert offline.hook("copilot", "SessionStart", start_event()).stdout == b""
    assert json.loads(offline.hook("codex", "SessionStart", start_event()).stdout) == {
        "systemMessage": notice.KEPT
    }


@requirement("CL-12")
def test_a_hook_inside_our_own_extraction_does_nothing(offline: Home):
    env = offline.environment(MKG_IN_EXTRACTION="1")
    assert offline.hook("claude", "SessionStart", start_event(), env=env).stdout == b""
    assert offline.records() == []
    assert offline.hook("claude", "SessionStart", start_event()).stdout != b""
    assert len(offline.records()) == 1


@requirement("SEC-70", "CL-27")
def test_no_secret_and_no_environment_reaches_the_disk_when_the_launcher_keeps_an_event(
    offline: Home,
):
    env = offline.environment(
        MY_SERVICE_TOKEN="plainlooking-but-secret-7731", PUBLIC_THING="visible-9442"
    )
    prompt = (
        "use plainlooking-but-secret-7731 and visible-9442 with ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    )
    offline.hook("claude", "UserPromptSubmit", prompt_event(prompt), env=env)
    stored = b"".join(path.read_bytes() for path in offline.folder.rglob("*") if path.is_file())
    assert b"plainlooking-but-secret" not in stored and b"a1B2c3D4" not in stored
    assert b"visible-9442" in stored and stored.count(b"[REDACTED:") == 2


@requirement("CL-27", "PERF-41")
def test_the_frame_carries_the_payload_untouched_and_few_variables(offline: Home):
    frames: list[wire.Frame] = []
    server = socket.socket(socket.AF_UNIX)
    offline.socket.parent.mkdir()
    server.bind(str(offline.socket))
    server.listen(1)

    def take() -> None:
        link, _ = server.accept()
        frames.append(wire.read_frame(link, time.monotonic() + 5))
        link.sendall(b"ACK\n")
        link.close()

    thread = threading.Thread(target=take)
    thread.start()
    env = offline.environment(
        MY_SERVICE_TOKEN="0123456789",
        DB_PASSWORD="short",
        EDITOR="vim",
        ANTHROPIC_API_KEY="sk-abcdefgh",
        CLAUDECODE="1",
        CLAUDE_CODE_ENTRYPOINT="cli",
        CLAUDE_PROJECT_DIR="/w/p",
        CLAUDE_PID="77",
    )
    raw = b'{ "session_id" : "s",\r\n "\xff": "\xf0\x9f\x9a\x80" }'
    done = offline.hook("claude", "PostToolUse", raw, env=env)
    thread.join(5)
    server.close()
    assert (done.returncode, done.stdout) == (0, b"")
    frame = frames[0]
    assert (frame.verb, frame.client, frame.event, frame.payload) == (
        "hook",
        "claude",
        "PostToolUse",
        raw,
    )
    assert abs(float(frame.env.pop("mkg.sent_at")) - time.time()) < 60
    assert frame.env == {
        "MY_SERVICE_TOKEN": "0123456789",
        "ANTHROPIC_API_KEY": "sk-abcdefgh",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_PROJECT_DIR": "/w/p",
        "mkg.capture": "on",
    }
    assert offline.records() == []


@requirement("CL-06", "PERF-01")
def test_a_hook_with_a_worker_imports_c_modules_and_its_own_body_only(home: Home):
    home.start_worker()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", str(LAUNCH), "claude", "PostToolUse"],
        input=json.dumps(tool_event("PostToolUse", "Bash", {"command": "ls"})).encode(),
        capture_output=True,
        env=home.environment(),
        cwd=home.project,
        timeout=10,
        check=True,
    )
    bare = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", "pass"],
        capture_output=True,
        check=True,
    )
    names = [
        {line.split("|")[-1].strip() for line in run.stderr.decode().splitlines()}
        for run in (done, bare)
    ]
    assert names[0] - names[1] <= {
        "mkg_hooks",
        "mkg_hooks.launcher",
        "mkg_hooks.consent",
        "_signal",
        "select",
        "_socket",
    }
    assert [key.split(":")[2] for key in home.drained()] == ["PostToolUse"]


AUDITED = """
import sys
def heard(event, args):
    if event in ("os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "subprocess.Popen"):
        sys.stderr.write(event + "\\n")
import posix
sys.addaudithook(heard)
sys.argv = sys.argv[1:]
__file__ = sys.argv[0]
exec(compile(open(__file__).read(), __file__, "exec"))
"""


@requirement("PERF-03", "PERF-40", "NEO-102")
def test_an_event_is_one_command_and_with_a_worker_one_process(home: Home):
    for client in ("claude", "codex"):
        events = json.loads((ROOT / "plugin" / client / "hooks.json").read_text())["hooks"]
        assert events
        assert {sum(len(entry["hooks"]) for entry in entries) for entries in events.values()} == {1}

    def started() -> list[str]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", AUDITED, str(LAUNCH), "claude", "Stop"],
            input=json.dumps(STOP).encode(),
            capture_output=True,
            env=home.environment(),
            cwd=home.project,
            timeout=10,
            check=True,
        )
        return done.stderr.decode().split()

    # The instrument does hear a process: without a worker one keeps the event and one is started.
    assert started() == ["os.fork", "os.fork"]
    wait_until(lambda: home.ask("ping"), 20)
    assert started() == []
    assert [key.split(":")[2] for key in home.drained()] == ["Stop", "Stop"]


@requirement("MEM-W72")
def test_a_tool_call_is_not_delayed_by_a_graph_that_is_away(home: Home):
    (home.folder / "graph-down").touch()
    home.start_worker()
    waits = []
    for number in range(5):
        began = time.monotonic()
        home.hook(
            "claude",
            "PostToolUse",
            tool_event("PostToolUse", "Bash", {"command": "ls"}, f"toolu_{number}"),
        )
        waits.append(time.monotonic() - began)
    assert sorted(waits)[2] < 0.5
    assert home.applied() == []
    (home.folder / "graph-down").unlink()
    assert [key.split(":")[3] for key in home.drained()] == [f"toolu_{n}" for n in range(5)]


@requirement("B11")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_hook_that_is_registered_twice_stores_one_event_and_answers_once(home: Home, event):
    home.start_worker()
    payload = start_event() if event == "SessionStart" else prompt_event("same", turn=None)
    done: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: done.append(home.hook("claude", event, payload).stdout))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(map(bool, done)) == [False, True]
    assert len(home.drained()) == 1
