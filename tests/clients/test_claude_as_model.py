"""The user's own `claude -p` as the model: the real program, and none of it comes back as memory.

Three guards stand between the memory and itself: the program's hooks are off, a variable silences
every launcher below it, and no session is kept. The first two are tried one without the other.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from mkg.llm import Failed, Replied, sending
from tests.clients.conftest import ROOT
from tests.clients.kit.clients import STUB_KEY
from tests.clients.kit.stub_model import StubModel, text_of
from tests.clients.world import World
from tests.support.models import Account, asking, model_settings
from tests.support.requirement import requirement

pytestmark = [pytest.mark.clients, pytest.mark.timeout(300)]
SECRET_PLAN = "the zebra plan of this window"
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")


class Answer(BaseModel):
    answer: str


@dataclass(slots=True)
class Person:
    """A user whose client has our hooks for every session, and who chose it as the model."""

    world: World
    stub: StubModel

    def ask(self) -> tuple[Any, Account]:
        account = Account()
        settings = model_settings(self.world.home, backend="claude_cli", retries=0)
        given = {"turns": [SECRET_PLAN]}
        return asking(settings, account).ask("extract", given, Answer), account

    def heard(self) -> list[str]:
        """Files of this user's memory that hold what the model was asked."""
        words = SECRET_PLAN.encode()
        files = [p for p in self.world.state.rglob("*") if p.is_file() and not p.is_symlink()]
        return [str(p.relative_to(self.world.state)) for p in files if words in p.read_bytes()]

    def transcripts(self) -> list[Path]:
        return list((self.world.home / ".claude" / "projects").rglob("*.jsonl"))


@pytest.fixture
def person(
    world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Person]:
    rules = getattr(request, "param", [{"then": {"json": {"answer": "yes"}, "usage": [50, 9]}}])
    with StubModel(rules) as stub:
        client = world.client(stub.url)
        hooks = {
            event: [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": f'python3 -I -S "{ROOT}/hooks/launch.py" claude {event}',
                        }
                    ]
                }
            ]
            for event in EVENTS
        }
        env = {"ANTHROPIC_BASE_URL": stub.url, "ANTHROPIC_API_KEY": STUB_KEY}
        env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        place = world.home / ".claude" / "settings.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps({"env": env, "hooks": hooks}), "utf-8")
        # From the first command on the launcher knows where to keep what it hears.
        assert world.mkg("config").returncode == 0
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in client.env.items():
            monkeypatch.setenv(name, value)
        programs = world.folder / "bin"
        programs.mkdir()
        (programs / "claude").symlink_to(world.program)
        monkeypatch.setenv("PATH", f"{programs}:{client.env['PATH']}")
        yield Person(world, stub)


def unguarded(monkeypatch: pytest.MonkeyPatch, *, hooks: bool, variable: bool) -> None:
    """Call the program without one of its guards, or without both."""
    run = subprocess.run

    def called(words: list[str], **more: Any) -> Any:
        words = list(words)
        if words[0] != "claude":
            return run(words, **more)
        if not hooks:
            words[words.index("--settings") + 1] = "{}"
        if not variable:
            more["env"] = {k: v for k, v in more["env"].items() if k != sending.GUARD}
        return run(words, **more)

    monkeypatch.setattr(sending.subprocess, "run", called)


@requirement("CL-12", "MEM-W24")
def test_the_real_program_answers_and_leaves_neither_an_event_nor_a_session(
    person: Person,
) -> None:
    answer, account = person.ask()
    assert answer == Replied(Answer(answer="yes"), "claude_cli", "extract@1"), answer
    ((task, _, spent, failed),) = account.settled
    assert (task, failed) == ("extract", False) and spent.output_tokens == 9
    (body,) = [b for b in person.stub.bodies() if SECRET_PLAN in text_of(b)]
    # It got our words in place of the agent's own, and no tool to do anything with.
    assert "worth noting" in text_of(body) and not body.get("tools")
    assert (person.heard(), person.transcripts()) == ([], [])


@requirement("CL-12")
@pytest.mark.parametrize(("hooks", "variable"), [(True, False), (False, True)])
def test_either_guard_alone_keeps_the_memory_from_hearing_itself(
    person: Person, monkeypatch: pytest.MonkeyPatch, hooks: bool, variable: bool
) -> None:
    unguarded(monkeypatch, hooks=hooks, variable=variable)
    answer, _ = person.ask()
    assert isinstance(answer, Replied), answer
    assert person.heard() == []


def test_without_both_guards_the_memory_hears_itself(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    unguarded(monkeypatch, hooks=False, variable=False)
    answer, _ = person.ask()
    assert isinstance(answer, Replied), answer
    assert person.heard() != []


@pytest.mark.parametrize("person", [[{"then": {"text": "I would rather talk."}}]], indirect=True)
def test_an_answer_of_the_real_program_out_of_form_is_asked_for_once_more(person: Person) -> None:
    answer, account = person.ask()
    assert isinstance(answer, Failed) and answer.reached
    assert len(account.settled) == 2
