"""What was told at which prompt, and what the client's own record says of it."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mkg.cli import app, statusline
from mkg.doctor import Link, store_side
from mkg.features.learnings import receipts
from mkg.settings import load_settings
from mkg.worker import client
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from mkg_hooks.payload import from_record
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import record
from tests.support.requirement import requirement

STATEMENT = "Remember that we deploy with `make ship`, never with deploy.sh."
QUESTION = "How do I deploy the service to staging?"


class Session:
    """Plays events as the worker does."""

    def __init__(self, live: Live, tmp_path: Path):
        self.folder = tmp_path / "shop"
        self.folder.mkdir()
        self.waiting: list[dict[str, Any]] = []
        self.deps = Deps(
            live.run,
            minilm(),
            live.settings(tmp_path / "mkg", user_id="ann"),
            spool=self.waiting.append,
        )
        self.deps.clock = lambda: datetime(2026, 11, 2, tzinfo=UTC)
        self.second = 0.0

    def play(self, session: str, name: str, **fields: Any) -> str:
        self.second += 1
        one = record(name, session=session, second=self.second, cwd=str(self.folder), **fields)
        event = from_record(one)
        result = dispatch.answer(event, self.deps)
        dispatch.delivered(event, result, self.deps)
        dispatch.apply([one, *self.waiting], self.deps)
        self.waiting.clear()
        return result.context


def transcript(path: Path, *texts: str) -> Path:
    """As Claude Code writes it: one JSON object a line, what a hook added as an attachment."""
    lines = [
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text]}}
        for text in texts
    ]
    path.write_text("\n".join(json.dumps(line) for line in ["junk", *lines]) + "\n{cut off")
    return path


def test_what_was_told_is_confirmed_only_by_the_clients_own_record(
    live: Live, tmp_path: Path, own_home: Path
) -> None:
    played = Session(live, tmp_path)
    played.play("s1", "UserPromptSubmit", prompt=STATEMENT)
    played.play("s1", "Stop", last_message="Noted.")
    told = played.play("s2", "UserPromptSubmit", prompt=QUESTION)
    assert "make ship" in told

    def state() -> str:
        (row,) = receipts.receipts(live.run, session_id="s2", limit=9)
        assert (row.hook_event, row.prompt, row.status_then) == (
            "UserPromptSubmit",
            QUESTION,
            "approved",
        )
        return row.state

    assert state() == "delivered"
    forged = told.replace("make ship", "make sink")
    other = transcript(tmp_path / "other.jsonl", forged, "nothing")
    played.play("s2", "Stop", last_message="Done.", transcript_path=str(other))
    assert state() == "unknown"
    right = transcript(tmp_path / "right.jsonl", f"before {told} after")
    played.play("s2", "Stop", last_message="Done again.", transcript_path=str(right))
    assert state() == "confirmed"
    # A record that was compacted later takes nothing back.
    played.play("s2", "Stop", last_message="Over.", transcript_path=str(other))
    assert state() == "confirmed"
    assert dispatch.counts("s2", played.deps) == {"told": 1, "learned": 0}
    assert dispatch.counts("s1", played.deps) == {"told": 0, "learned": 1}
    assert dispatch.counts("nobody", played.deps) == {}
    _log_shows(live, own_home)


def test_a_record_is_read_only_while_something_waits_to_be_confirmed(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played, read = Session(live, tmp_path), list[object]()
    monkeypatch.setattr(receipts, "tail", lambda path, *_, **__: read.append(path) or b"")
    played.play("s1", "SessionStart", source="startup")
    played.play("s1", "UserPromptSubmit", prompt=STATEMENT)
    played.play("s1", "Stop", last_message="Noted.", transcript_path="/t/1")
    assert read == []
    played.play("s2", "SessionStart", source="startup")
    assert played.play("s2", "UserPromptSubmit", prompt=QUESTION)
    played.play("s2", "Stop", last_message="Over.", transcript_path="/t/2")
    assert read == ["/t/2"]


def _log_shows(live: Live, home: Path) -> None:
    live.server.write_user_file(home)
    found = CliRunner().invoke(app, ["log", "--session", "s2", "--last", "--json"])
    assert found.exit_code == 0, found.output
    (told,) = json.loads(found.output)["told"]
    (line,) = told["lines"]
    assert (told["prompt"], line["state"]) == (QUESTION, "confirmed")
    text = CliRunner().invoke(app, ["log", "--session", "s2"]).output
    assert f"confirmed  {line['short_id']}" in text and f"mkg why {line['short_id']}" in text
    assert "nothing was told" in CliRunner().invoke(app, ["log", "--session", "s9"]).output


@requirement("SEC-60", "ENC-W42", "ADV-G12")
def test_only_the_end_of_a_regular_file_of_our_own_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nonce = "0" * 24
    block = f'<mkg-memory nonce={nonce}>\n{{"text": "x"}}\n</mkg-memory nonce={nonce}>'
    path = transcript(tmp_path / "t.jsonl", block)
    assert len(receipts.blocks_seen(str(path))) == 1
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    for name in (
        None,
        "",
        "a\0b",
        str(link),
        str(pipe),
        str(tmp_path),
        str(tmp_path / "none"),
        "/dev/zero",
    ):
        assert receipts.blocks_seen(name) == []
    monkeypatch.setattr(receipts, "TAIL_BYTES", 4096)
    path.write_text(path.read_text().replace("\n{cut off", "\n" + "y" * 9000))
    assert receipts.blocks_seen(str(path)) == []


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ({"graph": "up", "told": 3, "learned": 2}, "memory on · learned 2 · told 3"),
        ({"graph": "up"}, "memory on"),
        ({"graph": "unknown"}, "memory on"),
        ({"graph": "down"}, "memory degraded: store away, events are kept"),
        (None, "memory degraded: no answer"),
    ],
)
def test_the_status_line_tells_what_the_worker_says(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: Any, line: str
) -> None:
    asked: list[Any] = []

    def ask(socket: Path, verb: str, request: Any, *, timeout: float) -> Any:
        asked.append((verb, request, timeout <= 0.5))
        return answer

    assert statusline.line({"session_id": "s1"}) == "memory on"
    assert asked == []
    from mkg.settings import load_settings

    socket = load_settings(origin="client").paths.socket
    socket.parent.mkdir(parents=True)
    socket.touch()
    monkeypatch.setattr(client, "ask", ask)
    assert statusline.line({"session_id": "s1", "cwd": str(tmp_path)}) == line
    assert asked == [("session", {"session_id": "s1"}, True)]
    (tmp_path / "mkg" / "paused").write_text("all\n", encoding="utf-8")
    assert statusline.line({"session_id": "s1"}) == "memory paused"


def test_the_status_line_is_one_line_whatever_is_wrong(own_home: Path) -> None:
    folder = own_home / ".config" / "meta-knowledge-graph"
    for given in (b"", b"no json", b"[1]", b'{"workspace": 3, "session_id": []}'):
        found = CliRunner().invoke(app, ["statusline"], input=given)
        assert (found.exit_code, found.output) == (0, "memory on\n")
    folder.mkdir(parents=True, mode=0o700)
    (folder / ".env").touch(mode=0o600)
    (folder / ".env").write_text("NEO4J_URI=ftp://x\n", encoding="utf-8")
    found = CliRunner().invoke(app, ["statusline"], input=b"{}")
    assert (found.exit_code, found.output) == (0, "memory degraded: run mkg worker status\n")


FACT = "Remember that I prefer answers with a table."


@requirement("B17")
@pytest.mark.parametrize(
    ("record", "told_again"), [("dropped", True), ("kept", False), ("none", False)]
)
def test_a_start_that_the_client_dropped_is_told_with_the_next_prompt_once(
    live: Live, tmp_path: Path, record: str, told_again: bool
) -> None:
    played = Session(live, tmp_path)
    played.play("s1", "UserPromptSubmit", prompt=FACT)
    played.play("s1", "Stop", last_message="Noted.")
    start = played.play("s2", "SessionStart", source="startup")
    assert "with a table" in start and "Recent sessions" in start
    assert "with a table" not in played.play("s2", "UserPromptSubmit", prompt="Hello there.")
    texts = {"dropped": ["something else"], "kept": [f"x {start} y"], "none": []}[record]
    path = str(transcript(tmp_path / "t.jsonl", *texts)) if texts else str(tmp_path / "no")
    played.play("s2", "Stop", last_message="Hi.", transcript_path=path)
    again = played.play("s2", "UserPromptSubmit", prompt="And now?")
    assert ("with a table" in again, "Recent sessions" in again) == (told_again, told_again)
    played.play("s2", "Stop", last_message="So.", transcript_path=path)
    assert played.play("s2", "UserPromptSubmit", prompt="Still there?") == ""


@requirement("B17")
def test_the_doctor_says_when_a_client_never_shows_what_it_was_told(
    live: Live, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.server.write_user_file(own_home)
    # The sessions of this test began on a day of their own.
    monkeypatch.setattr(store_side, "DELIVERY_DAYS", 36_500)
    played = Session(live, tmp_path)
    played.play("s1", "UserPromptSubmit", prompt=STATEMENT)
    played.play("s1", "Stop", last_message="Noted.")

    def session(name: str, seen: bool) -> Link:
        told = played.play(name, "UserPromptSubmit", prompt=QUESTION)
        assert "make ship" in told
        path = transcript(tmp_path / f"{name}.jsonl", told if seen else "nothing")
        played.play(name, "Stop", last_message="Done.", transcript_path=str(path))
        return store_side.deliveries(load_settings())

    assert store_side.deliveries(load_settings()).state == "ok"
    assert [session(f"d{n}", False).state for n in range(3)] == ["ok", "ok", "warning"]
    found = store_side.deliveries(load_settings())
    assert "claude kept none of what 3 sessions were told" in found.says
    assert (found.repair, session("d4", True).state) == ("mkg log --last", "ok")
