"""Sessions through the whole loop: events, extraction, gate, graph, and what a prompt is told."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from mkg_hooks.payload import from_record
from tests.conftest import Live
from tests.support.embedding import minilm
from tests.support.events import record
from tests.support.learned import put
from tests.support.sentences import Hostile


class Loop:
    """Sessions as the worker plays them, in one project of one person."""

    def __init__(self, live: Live, folder: Path) -> None:
        self.live, self.folder = live, folder
        self.waiting: list[dict[str, Any]] = []
        settings = live.settings(folder / "mkg", user_id="ann")
        self.deps = Deps(live.run, minilm(), settings, spool=self.waiting.append)
        self.deps.clock = lambda: datetime(2026, 11, 2, tzinfo=UTC)
        (folder / "shop").mkdir()
        self.number = 0

    def session(self, prompt: str, *, tool: str = "", said: str = "Done.") -> str:
        """One turn: a prompt, perhaps a tool that returns a text, and the agent's answer."""
        self.number += 1
        name = f"s{self.number}"
        events: list[tuple[str, dict[str, Any]]] = [("UserPromptSubmit", {"prompt": prompt})]
        if tool:
            call = {"tool_name": "WebFetch", "tool_input": '{"url": "https://x.test"}'}
            events.append(("PostToolUse", {**call, "tool_output": tool}))
            failed = {**call, "tool_error": True, "error": tool}
            events.append(("PostToolUseFailure", failed))
        events.append(("Stop", {"last_message": said}))
        for place, (event, fields) in enumerate(events):
            second = 100 * self.number + place
            made = record(event, session=name, second=second, cwd=self.cwd, **fields)
            dispatch.apply([made], self.deps)
        return name

    @property
    def cwd(self) -> str:
        return str(self.folder / "shop")

    def attack(self, one: Hostile) -> None:
        """A hostile text on its channel: typed, added by an agent, or read and repeated."""
        if one.channel == "U":
            self.session(f"Remember that {one.text}")
        elif one.channel == "A":
            put(self.live, one.text, origin="mcp_write", session=f"s{self.number}")
        else:
            self.session("Have a look.", tool=one.text, said=one.text)

    def held_up(self) -> list[dict[str, object]]:
        """What was kept and is not told, and why."""
        return self.live.rows(
            "MATCH (l:Learning) WHERE NOT l.injectable AND l.valid_until IS NULL"
            " RETURN l.text AS text, l.wait_reason AS reason"
        )

    def asked(self, prompt: str) -> str:
        """What a new session's start and prompt are told."""
        self.number += 1
        told = ""
        for place, (name, fields) in enumerate(
            [("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": prompt})]
        ):
            made = record(
                name, session=f"q{self.number}", second=90_000 + 10 * self.number + place,
                cwd=self.cwd, **fields,
            )  # fmt: skip
            told += dispatch.answer(from_record(made), self.deps).context
        return told

    def believed(self) -> list[str]:
        """What may be told."""
        text = (
            "MATCH (l:Learning) WHERE l.injectable OR l.status = 'approved' RETURN l.text AS text"
        )
        return [str(row["text"]) for row in self.live.rows(text)]
