"""What a hook says when something is wrong: a setting, an interpreter, the graph, or its input."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg.cli import app
from mkg_hooks import notice
from tests.hooks.launching import Home, make_home, prompt_event, start_event, wait_until
from tests.support.requirement import requirement

BAD = "MKG_RECALL_LIMIT=many\nMKG_SPOOL_MB=-1\n"


@requirement("ENC-W45", "ENC-W47")
def test_a_bad_setting_costs_no_event_is_announced_once_and_the_doctor_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home(tmp_path / "user")
    # The real worker, which cannot start with such settings.
    (home.folder / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    file = home.folder.parent / ".config" / "meta-knowledge-graph" / ".env"
    file.parent.mkdir(parents=True, mode=0o700)
    file.touch(mode=0o600)
    file.write_text(BAD)
    home.env = {"MKG_SPOOL_MB": "lots", "MKG_INJECT": "perhaps", "MKG_RECALL_LIMIT": ""}
    first = home.hook("claude", "SessionStart", start_event())
    rest = [home.hook("claude", "UserPromptSubmit", prompt_event(f"n{n}", f"p{n}")) for n in (1, 2)]
    assert json.loads(first.stdout) == {"systemMessage": notice.KEPT}
    assert [(done.returncode, done.stdout, done.stderr) for done in rest] == [(0, b"", b"")] * 2
    assert [r["name"] for r in home.records()] == ["SessionStart", *["UserPromptSubmit"] * 2]
    monkeypatch.setenv("HOME", str(home.folder.parent))
    monkeypatch.setenv("MKG_HOME", str(home.folder))
    told = CliRunner().invoke(app, ["doctor", "--json"])
    assert told.exit_code == 6 and "MKG_RECALL_LIMIT" in told.output


@requirement("ENC-W87")
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_a_payload_without_a_session_is_an_answer_and_no_failure(home: Home, event: str) -> None:
    home.start_worker()
    (home.folder / "graph-down").touch()
    for payload in ({"hook_event_name": event, "cwd": "/w"}, {"session_id": None, "prompt": "x"}):
        done = home.hook("custom:own", event, payload)
        assert (done.returncode, done.stderr) == (0, b"")
    status = home.ask("status")
    assert status["last_error"] in (None, "") or "session" not in status["last_error"]
    (home.folder / "graph-down").unlink()
    wait_until(lambda: home.ask("status").get("graph") == "up")
    done = home.hook("claude", event, {**prompt_event("well"), "source": "startup"})
    assert b"additionalContext" in done.stdout


@requirement("HK11")
def test_an_outage_is_announced_and_unreadable_input_is_counted_apart_from_it(home: Home) -> None:
    home.start_worker()
    for raw in (b"[1, 2]", b"{half", b"not json"):
        done = home.hook("claude", "UserPromptSubmit", raw)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    counts = home.ask("status")
    assert counts["unreadable"] == 3 and counts["acknowledged"] == 0
    (home.folder / "graph-down").touch()
    done = home.hook("claude", "UserPromptSubmit", prompt_event("x"))
    assert (done.returncode, json.loads(done.stdout)) == (0, {"systemMessage": notice.KEPT})
    assert home.ask("status")["unreadable"] == 3
    assert home.ask("status")["graph_error"]


@requirement("MEM-T143")
def test_the_end_of_a_codex_session_is_only_spooled(offline: Home, home: Home) -> None:
    event = {"session_id": "c1", "hook_event_name": "SessionEnd", "reason": "exit", "cwd": "/w"}
    done = offline.hook("codex", "SessionEnd", event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [r["name"] for r in offline.records()] == ["SessionEnd"]
    home.start_worker()
    (home.folder / "slow-answer").touch()
    done = home.hook("codex", "SessionEnd", event)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [key.split(":")[2] for key in home.drained()] == ["SessionEnd"]
