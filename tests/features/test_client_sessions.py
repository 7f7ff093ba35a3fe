"""Sessions of every client on a real server: one project, one memory, and the lives they lead."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mkg_hooks import clients, dispatch, intake
from mkg_hooks.deps import Deps, SessionMemory
from mkg_hooks.payload import from_record
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.requirement import requirement

STATEMENT = "Remember that we deploy with `make ship`, never with deploy.sh."
QUESTION = "How do I deploy the service to staging?"
RECORDED = Path(__file__).resolve().parents[1] / "fixtures" / "session_more"
CLIENTS = ("claude", "codex", "gemini", "copilot", "custom:my-agent")
# What the clients call a prompt and a stop, and the keys of the latter's words.
PROMPT = dict.fromkeys(CLIENTS, "UserPromptSubmit") | {"gemini": "BeforeAgent"}
STOP = dict.fromkeys(CLIENTS, "Stop") | {"gemini": "AfterAgent"}
SAID = dict.fromkeys(CLIENTS, "last_assistant_message") | {"gemini": "prompt_response"}
NOON = datetime(2026, 11, 2, 12, tzinfo=UTC)


class Seat:
    """One client's session, as a worker sees it: intake, answer, apply, deliveries."""

    def __init__(self, deps: Deps, client: str, session: str, cwd: str) -> None:
        self.deps, self.client, self.session, self.cwd = deps, client, session, cwd
        self.turn = 0

    def fire(self, event: str, *, apply: bool = True, **payload: Any) -> str:
        """One event; returns the context that the client puts before its model."""
        body = {"session_id": self.session, "cwd": self.cwd, **payload}
        return self.hand(event, body, apply=apply)

    def hand(self, event: str, body: dict[str, Any], *, apply: bool = True) -> str:
        clock = self.deps.clock.__self__  # type: ignore[attr-defined]
        clock.now += timedelta(seconds=3)
        at = clock.now.isoformat().replace("+00:00", "Z")
        raw = json.dumps(body).encode()
        record = intake.read(self.client, event, raw, {}, hmac_key=None, received_at=at)
        assert record is not None
        found = from_record(record)
        result = dispatch.answer(found, self.deps)
        out = clients.envelope(self.client, found.name, context=result.context, notice="")
        dispatch.delivered(found, result, self.deps)
        if apply:
            self.apply(record)
        answer = json.loads(out or b"{}")
        return answer.get("hookSpecificOutput", answer).get("additionalContext", "")

    def apply(self, *records: dict[str, Any]) -> None:
        pending: list[dict[str, Any]] = self.deps.spool.__self__  # type: ignore[attr-defined]
        dispatch.apply([*records, *pending], self.deps)
        pending.clear()

    def start(self, source: str = "startup") -> str:
        return self.fire("SessionStart", source=source)

    def ask(self, prompt: str, **more: Any) -> str:
        self.turn += 1
        ids = {"turn_id": f"t{self.turn}"}
        if self.client in ("gemini", "copilot"):
            ids = {"timestamp": f"2026-11-02T12:00:{self.turn:02}Z"}
        return self.fire(PROMPT[self.client], prompt=prompt, **ids, **more)

    def stop(self, said: str = "Noted.") -> None:
        self.fire(STOP[self.client], **{SAID[self.client]: said, "turn_id": f"t{self.turn}"})


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def read(self) -> datetime:
        return self.now


@pytest.fixture
def deps(live: Live, tmp_path: Path) -> Deps:
    spooled: list[dict[str, Any]] = []
    settings = live.settings(tmp_path / "mkg", user_id="ann")
    return Deps(live.run, minilm(), settings, clock=Clock().read, spool=spooled.append)


@pytest.fixture
def shop(tmp_path: Path) -> str:
    folder = tmp_path / "shop"
    folder.mkdir()
    return str(folder)


def names(live: Live, session: str) -> list[object]:
    rows = live.rows(
        "MATCH (e:SessionEvent {session_id: $s}) RETURN e.event_name AS n ORDER BY e.seq", s=session
    )
    return [r["n"] for r in rows]


# One thing stated in each client: what is told, and the question that another client asks about it.
FACTS = {
    "claude": ("we deploy with `make ship`, never with deploy.sh", "How do I deploy?", "make ship"),
    "codex": ("the staging database listens on port 5433", "staging database port?", "5433"),
    "gemini": ("the invoices are mailed by the quill service", "Who mails the invoices?", "quill"),
    "copilot": (
        "release notes live in docs/changes.rst",
        "Where are release notes?",
        "changes.rst",
    ),
    "custom:my-agent": ("the linter is called tarn", "What is the linter called?", "tarn"),
}


@requirement("CL-05")
def test_what_was_stated_in_any_client_is_told_in_all_others_in_the_same_folder(
    deps: Deps, live: Live, shop: str
) -> None:
    # A line whose only name is gone from the checkout would be held back.
    (Path(shop) / "docs").mkdir()
    (Path(shop) / "docs" / "changes.rst").touch()
    for client, (fact, _, _) in FACTS.items():
        seat = Seat(deps, client, f"told in {client}".replace(" ", "-").replace(":", "-"), shop)
        seat.start()
        assert seat.ask(f"Remember that {fact}.") == ""
        seat.stop()
    for client in CLIENTS:
        later = Seat(deps, client, f"later-in-{client}".replace(":", "-"), shop)
        later.start()
        told = "".join(later.ask(question) for _, question, _ in FACTS.values())
        assert all(word in told for _, _, word in FACTS.values()), client
    assert live.value("MATCH (l:Learning) RETURN count(l)") == 5
    sessions = live.rows("MATCH (p:Project) RETURN COUNT { (p)-[:HAS_SESSION]->() } AS n")
    assert sessions == [{"n": 10}]
    known = live.rows("MATCH (s:Session) RETURN DISTINCT s.client AS c ORDER BY c")
    assert [r["c"] for r in known] == sorted(CLIENTS)
    assert live.rows("MATCH (u:User) RETURN u.id AS id") == [{"id": "ann"}]


@requirement("B19", "MEM-W39")
def test_a_line_is_told_once_in_an_epoch_whatever_worker_asks_and_again_after_a_new_one(
    deps: Deps, live: Live, shop: str
) -> None:
    client = "codex"
    first = Seat(deps, client, "told", shop)
    first.ask(STATEMENT)
    first.stop()
    seat = Seat(deps, client, "s", shop)
    seat.start()
    assert "make ship" in seat.ask(QUESTION)
    assert seat.ask(QUESTION) == ""
    deps.memory = SessionMemory()
    seat.start("resume")
    assert seat.ask(QUESTION) == "", "a resume goes on with its epoch, in a new worker too"
    for source in ("compact", "clear"):
        seat.start(source)
        assert "make ship" in seat.ask(QUESTION), source
        assert seat.ask(QUESTION) == ""
    assert live.value("MATCH (s:Session {session_id: 's'}) RETURN s.epoch") == 2
    fork = Seat(deps, client, "forked", shop)
    fork.start("fork")
    assert "make ship" in fork.ask(QUESTION), "a fork has an id and an epoch of its own"


@requirement("CL-22")
def test_a_recorded_codex_session_is_stored_whole_and_its_subagent_apart(
    deps: Deps, live: Live, shop: str
) -> None:
    text = (RECORDED / "codex.jsonl").read_text("utf-8").replace("{{CWD}}", shop)
    events = [json.loads(line) for line in text.splitlines()]
    seat = Seat(deps, "codex", "", shop)
    for line in events:
        seat.hand(line["event"], line["payload"])
    main, other = events[0]["payload"]["session_id"], events[-1]["payload"]["session_id"]
    inner = next(e["payload"]["agent_id"] for e in events if e["event"] == "SubagentStart")
    assert names(live, main) == [e["event"] for e in events[:15]]
    mine = [e["event"] for e in events[15:] if "agent_id" not in e["payload"]]
    mine.insert(4, "SubagentStart")
    assert names(live, other) == mine
    assert names(live, inner) == ["UserPromptSubmit", "PreToolUse"]
    assert live.rows(
        "MATCH (a)-[:HAS_SUBAGENT]->(b) RETURN a.session_id AS a, b.session_id AS b"
    ) == [{"a": other, "b": inner}]
    assert live.value("MATCH (s:Session {session_id: $s}) RETURN s.epoch", s=main) == 1
    origin = "MATCH (e {session_id: $s, event_name: 'UserPromptSubmit'}) RETURN e.origin"
    assert live.value(origin, s=inner) == "assistant_tainted"


@requirement("CL-22")
def test_a_compaction_of_claude_with_its_phantom_ends_of_subagents(
    deps: Deps, live: Live, shop: str
) -> None:
    Seat(deps, "claude", "told", shop).ask(STATEMENT)
    seat = Seat(deps, "claude", "s", shop)
    seat.start()
    seat.ask("hello there")
    seat.fire("PreCompact", trigger="auto", prompt_id="p1", custom_instructions=None)
    for ghost in ("g1", "g2"):
        summary = f"<summary>{STATEMENT}</summary>"
        seat.fire("SubagentStop", agent_id=ghost, agent_type="", last_assistant_message=summary)
    seat.start("compact")
    seat.fire("PostCompact", trigger="auto", compact_summary=f"<summary>{STATEMENT}</summary>")
    seat.stop("All right.")
    assert names(live, "s") == [
        *("SessionStart", "UserPromptSubmit", "PreCompact", "SubagentStop", "SubagentStop"),
        *("SessionStart", "PostCompact", "Stop"),
    ]
    assert live.value("MATCH (s:Session) RETURN count(s)") == 2, "a ghost has no session"
    assert live.value("MATCH (l:Learning) RETURN count(l)") == 0, "a summary is nobody's word"


@requirement("CL-26")
def test_clear_ends_one_session_and_begins_another(deps: Deps, live: Live, shop: str) -> None:
    old = Seat(deps, "claude", "old", shop)
    old.start()
    old.ask(STATEMENT)
    old.stop()
    old.fire("SessionEnd", reason="clear")
    new = Seat(deps, "claude", "new", shop)
    new.start("clear")
    assert "make ship" in new.ask(QUESTION)
    ended = (
        "MATCH (s:Session) RETURN s.session_id AS id, s.ended_at IS NOT NULL AS over ORDER BY id"
    )
    assert live.rows(ended) == [{"id": "new", "over": False}, {"id": "old", "over": True}]
    old.start("resume")
    assert live.rows(ended)[1] == {"id": "old", "over": False}, "a resumed session is open again"


def test_parallel_calls_of_tools_are_told_apart_by_their_ids(
    deps: Deps, live: Live, shop: str
) -> None:
    seat = Seat(deps, "claude", "s", shop)
    seat.start()
    same = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}
    for use in ("u1", "u2", "u3"):
        seat.fire("PreToolUse", tool_use_id=use, **same)
    for use in ("u3", "u1", "u2", "u2"):
        seat.fire("PostToolUse", tool_use_id=use, tool_response="x", **same)
    stored = live.rows(
        "MATCH (e:SessionEvent) WHERE e.tool_use_id IS NOT NULL "
        "RETURN e.event_name AS n, e.tool_use_id AS u ORDER BY e.seq"
    )
    assert [r["u"] for r in stored] == ["u1", "u2", "u3", "u3", "u1", "u2"]


def test_several_sessions_at_once_in_one_project_keep_their_own_turns(
    deps: Deps, live: Live, shop: str
) -> None:
    seats = [Seat(deps, client, f"s{n}", shop) for n, client in enumerate(CLIENTS)]
    for step in (Seat.start, lambda s: s.ask(f"Remember that {s.session} is blue."), Seat.stop):
        for seat in seats:
            step(seat)
    for seat in seats:
        assert names(live, seat.session) == ["SessionStart", "UserPromptSubmit", "Stop"]
    told = live.rows(
        "MATCH (l:Learning)-[:EVIDENCED_BY]->(e) RETURN l.text AS t, e.session_id AS s"
    )
    assert all(str(row["s"]) in str(row["t"]) for row in told) and len(told) == len(seats)


@requirement("B11", "CL-13")
def test_two_registrations_of_one_hook_are_one_event_in_the_graph_too(
    deps: Deps, live: Live, shop: str
) -> None:
    at = NOON.isoformat().replace("+00:00", "Z")
    for number, client in enumerate(CLIENTS):
        body = {"session_id": f"s{number}", "cwd": shop, "timestamp": "x", "prompt": "hi"}
        raw = json.dumps(body).encode()
        records: list[dict[str, Any]] = []
        for event in ("SessionStart", PROMPT[client], PROMPT[client], "SessionStart"):
            found = intake.read(client, event, raw, {}, hmac_key=None, received_at=at)
            assert found is not None
            records.append(found)
        Seat(deps, client, f"s{number}", shop).apply(*records)
        assert names(live, f"s{number}") == ["SessionStart", "UserPromptSubmit"], client


@requirement("B75")
def test_a_transcript_that_was_rewritten_shorter_takes_nothing_away(
    deps: Deps, live: Live, shop: str, tmp_path: Path
) -> None:
    transcript = tmp_path / "s.jsonl"
    transcript.write_text("line\n" * 1000)
    seat = Seat(deps, "claude", "s", shop)
    seat.start()
    for number in range(3):
        seat.ask(f"Remember that the port of service {number} is 80{number}0.")
        seat.fire("Stop", transcript_path=str(transcript), last_assistant_message=f"ok {number}")
    counts = "MATCH (e:SessionEvent) WITH count(e) AS e MATCH (l:Learning) RETURN e, count(l) AS l"
    assert live.rows(counts) == [{"e": 7, "l": 3}]
    transcript.write_text("line\n")
    seat.start("compact")
    seat.ask("go on")
    seat.fire("Stop", transcript_path=str(transcript), last_assistant_message="ok")
    assert live.rows(counts) == [{"e": 10, "l": 3}]
    assert live.value("MATCH (e:Episode) RETURN count(e)") == 1
