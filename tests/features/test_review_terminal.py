"""`mkg review` on a pseudo terminal: one key an item, both sides shown, no way in for an agent."""

import json
import os
import pty
import re
import select
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg.cli import app, person
from mkg.cli.review import Walk
from mkg.errors import Refused
from mkg.features.gate import review as gate
from tests.conftest import Live
from tests.features.test_review import NEW, OLD, OWNERS, conflict, learned, whole
from tests.support.requirement import requirement

# The tests themselves may be run by an agent: its program above them is not what is tried here.
_ALONE = "from mkg.cli import main, person; person.ancestors = lambda: iter(()); main()"
_HIDDEN = "Deploy with\u202e care\x1b[2J and \u200bmake ship."


class Desk:
    """A person at a terminal of their own."""

    def __init__(
        self,
        live: Live,
        home: Path,
        *arguments: str,
        program: str = _ALONE,
        command: str = "review",
        folder: Path | None = None,
    ):
        live.server.write_user_file(home)
        self.text = ""
        # The variables are the test's; a mark of a client that runs the tests is not.
        env = {k: v for k, v in os.environ.items() if k not in {"AI_AGENT", "CLAUDECODE"}}
        env |= {"MKG_USER_ID": "ann", "TERM": "dumb", "COLUMNS": "200"}
        pid, self._screen = pty.fork()
        if pid == 0:  # pragma: no cover
            os.chdir(folder or home)
            env["PWD"] = str(folder or home)
            words = [sys.executable, "-c", program, *command.split(), *arguments]
            os.execve(sys.executable, words, env)
        self._pid = pid

    def until(self, pattern: str) -> str:
        """What came until the pattern did, and the pattern."""
        end = time.monotonic() + 60
        while not (found := re.search(pattern, self.text)):
            if time.monotonic() > end or not self._more():
                raise AssertionError(f"{pattern!r} did not come in {self.text!r}")
        shown, self.text = self.text[: found.end()], self.text[found.end() :]
        return shown

    def press(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def ends(self) -> int:
        while self._more():
            pass
        os.close(self._screen)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _more(self) -> bool:
        if not select.select([self._screen], [], [], 60)[0]:
            return False
        try:
            piece = os.read(self._screen, 65536)
        except OSError:
            return False
        self.text += piece.decode("utf-8", "replace")
        return bool(piece)


def statuses(live: Live) -> dict[str, str]:
    rows = live.rows("MATCH (l:Learning) RETURN l.text AS t, l.status AS s")
    return {str(row["t"]): str(row["s"]) for row in rows}


@requirement("MEM-W36", "SEC-04", "SEC-24")
def test_twenty_items_are_decided_with_one_key_each(live: Live, own_home: Path) -> None:
    names = [f"I prefer tool number {n}." for n in range(20)]
    for name in names:
        learned(live, name, scope="user", origin="mcp_write")
    desk = Desk(live, own_home)
    keys = "arsaararsaaraaarrasa"
    for n, key in enumerate(keys):
        shown = desk.until(r"\[q\]uit")
        assert f"{n + 1} of 20" in shown and "written by an agent" in shown
        desk.press(key)
    desk.until(r"17 decided, 3 left")
    assert desk.ends() == 0
    meant = {"a": "approved", "r": "rejected", "s": "quarantined"}
    assert statuses(live) == {n: meant[k] for n, k in zip(names, keys, strict=True)}


@requirement("SEC-24")
def test_both_sides_of_a_conflict_are_shown_with_hidden_characters_visible(
    live: Live, own_home: Path
) -> None:
    old, new = conflict(live)
    live.run.execute(
        "CYPHER 25\nMATCH (l:Learning {id: $old}) SET l.text = $text WITH l MATCH (m:Learning) "
        "SET m.owner_key = 'user:ann'",
        {"old": old, "text": _HIDDEN},
    )
    desk = Desk(live, own_home)
    shown = desk.until(r"\[q\]uit")
    assert NEW in shown and "Deploy with\\u202e care\\u001b[2J and \\u200bmake ship." in shown
    assert "pasted by you" in shown and "typed by you" in shown and "port" in shown
    assert "it contradicts something" in shown
    desk.press("x")
    desk.until("no meaning here")
    desk.until(r"\[q\]uit")
    desk.press("n")
    desk.until("the other one is rejected now")
    desk.until("1 decided, 0 left")
    assert desk.ends() == 0
    states = live.rows("MATCH (l:Learning) RETURN l.id AS id, l.status AS s")
    assert {row["id"]: row["s"] for row in states} == {old: "rejected", new: "approved"}


def test_a_decision_is_taken_back_and_an_item_edited_in_the_same_sitting(
    live: Live, own_home: Path
) -> None:
    for text in (OLD, "I like tabs."):
        learned(live, text, scope="user", origin="mcp_write")
    desk = Desk(live, own_home)
    desk.until(r"\[q\]uit")
    desk.press("r")
    desk.until(r"2 of 2[\s\S]*\[q\]uit")
    desk.press("u")
    desk.until(r"taken back[\s\S]*1 of 2[\s\S]*\[q\]uit")
    desk.press("e")
    desk.until("the right wording: ")
    desk.press("\x7f" * 5 + "9090.\n")
    desk.until(r"2 of 2[\s\S]*\[q\]uit")
    desk.press("q")
    desk.until("1 decided, 1 left")
    assert desk.ends() == 0
    assert statuses(live) == {NEW: "approved", "I like tabs.": "quarantined"}


@requirement("SEC-24")
def test_only_what_the_user_typed_is_approved_in_a_batch_and_after_being_listed(
    live: Live,
) -> None:
    # Nothing in common, or one would wait as another value of the other.
    typed = ["I prefer tabs.", "I like the dark theme.", "I read diffs before commit messages."]
    for own, agents in zip(
        typed,
        ["Lunch is at noon.", "Meetings need an agenda.", "The printer stands upstairs."],
        strict=True,
    ):
        learned(live, own, scope="user", explicit=False)
        learned(live, agents, scope="user", origin="mcp_write")
    items = gate.queue(live.run, owner_keys=OWNERS, id=None, limit=99)
    said: list[str] = []
    keys = iter("AnAyq")
    Walk(live.run, gate.By("ann"), said.append, lambda: next(keys), lambda p, g: "").through(items)
    assert "  [A]ll 3 typed by you" in "\n".join(said)
    listed = [line for line in said if line.startswith("  ") and any(t in line for t in typed)]
    assert len(listed) == 6
    assert {t for t, s in statuses(live).items() if s == "approved"} == set(typed)


@requirement("SEC-24")
def test_without_a_terminal_nothing_is_decided_but_the_queue_is_listed(
    live: Live, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.server.write_user_file(own_home)
    monkeypatch.setenv("MKG_USER_ID", "ann")
    id = learned(live, OLD, scope="user", origin="mcp_write")
    before = whole(live)
    for words in (["review"], ["review", "--id", id, "--approve", "--yes"]):
        found = CliRunner().invoke(app, words)
        assert isinstance(found.exception, Refused) and "needs a terminal" in str(found.exception)
    listed = CliRunner().invoke(app, ["review", "--json"])
    assert [item["id"] for item in json.loads(listed.output)] == [id]
    assert whole(live) == before


@requirement("SEC-24", "SEC-04")
def test_a_clients_mark_in_the_environment_keeps_everybody_out(live: Live, own_home: Path) -> None:
    learned(live, OLD, scope="user", origin="mcp_write")
    program = "import os; os.environ['CLAUDECODE'] = '1'\n" + _ALONE
    desk = Desk(live, own_home, program=program)
    desk.until("inside an agent client")
    assert desk.ends() == 4


@requirement("SEC-24", "SEC-04")
@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "copilot", "npm-claude"])
def test_a_terminal_that_a_client_opened_keeps_everybody_out(
    live: Live, own_home: Path, tmp_path: Path, client: str
) -> None:
    learned(live, OLD, scope="user", origin="mcp_write")
    # A real process of that name above the real command, which looks at the real process table.
    script = tmp_path / client
    if client == "npm-claude":
        script = tmp_path / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js"
        script.parent.mkdir(parents=True)
    script.write_text(
        "import subprocess, sys\n"
        "sys.exit(subprocess.run([sys.executable, '-c', 'from mkg.cli import main; main()', "
        "'review']).returncode)\n"
    )
    program = f"import os, sys; os.execv(sys.executable, [sys.executable, {str(script)!r}])"
    desk = Desk(live, own_home, program=program)
    desk.until("was started by an agent client")
    assert desk.ends() == 4


def test_a_program_that_is_no_client_above_lets_a_person_in() -> None:
    chain = [["/bin/bash"], ["/usr/bin/vim", "notes.md"], ["tmux", "new", "-s", "claude"]]
    assert person.client_above(iter(chain)) is None
    assert person.client_above(iter([*chain, ["node", "/x/@openai/codex/bin/codex.js"]]))
    here = list(person.ancestors(os.getpid()))
    assert here and here[0][0].rpartition("/")[2].startswith(Path(sys.executable).name[:6])


def test_one_learning_is_decided_by_its_id_after_a_question(live: Live, own_home: Path) -> None:
    id = learned(live, OLD, scope="user", origin="mcp_write")
    desk = Desk(live, own_home, "--id", id, "--approve")
    desk.until(r"\[y/N\]")
    desk.press("y\n")
    desk.until("approved; mkg why")
    assert desk.ends() == 0
    desk = Desk(live, own_home, "--id", id, "--undo", "--yes")
    desk.until("quarantined: ")
    assert desk.ends() == 0 and statuses(live) == {OLD: "quarantined"}
