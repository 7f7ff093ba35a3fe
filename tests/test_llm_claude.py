"""The route of `claude -p`: data on stdin, nothing of a session, and no event of its own."""

import json
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from mkg.llm import Failed, Replied, Skipped
from tests.support.models import Account, asking, model_settings
from tests.support.requirement import requirement

# Writes down how it was called; answers as the client does with --output-format json.
PROGRAM = """#!EXE
import json, os, sys
seen = {"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd()}
seen["env"] = dict(os.environ)
json.dump(seen, open({place!r}, "w"))
print({answer!r})
sys.exit({code})
"""
USED = {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 7}
GOOD = {
    "result": 'Sure: {"answer": "yes"}',
    "is_error": False,
    "usage": USED,
    "total_cost_usd": 0.25,
}


class Answer(BaseModel):
    answer: str


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "bin"
    made.mkdir()
    monkeypatch.setenv("PATH", f"{made}:/usr/bin:/bin")
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CODE_ENTRYPOINT", "CLAUDECODE", "NEO4J_PASSWORD"):
        monkeypatch.setenv(name, "hidden")
    return made


def program(folder: Path, answer: object, code: int = 0) -> Path:
    seen = folder / "seen.json"
    text = PROGRAM.replace("EXE", sys.executable).replace("{place!r}", repr(str(seen)))
    text = text.replace("{answer!r}", repr(json.dumps(answer))).replace("{code}", str(code))
    path = folder / "claude"
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return seen


def ask(tmp_path: Path, account: Account, **llm: object):
    settings = model_settings(tmp_path, backend="claude_cli", retries=0, **llm)
    return asking(settings, account).ask("extract", {"turns": ["a secret plan"]}, Answer)


@requirement("MEM-W24", "CL-12")
def test_the_users_own_claude_is_asked_without_tools_hooks_or_a_session(
    folder: Path, tmp_path: Path
) -> None:
    place = program(folder, GOOD)
    account = Account()
    answer = ask(tmp_path, account, claude_cli_model="haiku")
    assert answer == Replied(Answer(answer="yes"), "haiku", "extract@1")
    seen = json.loads(place.read_text("utf-8"))
    words = seen["argv"]
    assert words[words.index("--tools") + 1] == "" and words[words.index("--model") + 1] == "haiku"
    assert json.loads(words[words.index("--settings") + 1]) == {"disableAllHooks": True}
    assert {"-p", "--strict-mcp-config", "--no-session-persistence"} <= set(words)
    # Other programs see an argument list: what was said is not in it.
    assert "secret plan" in seen["stdin"] and "secret plan" not in str(words)
    assert seen["env"]["MKG_IN_EXTRACTION"] == "1" and "hidden" not in seen["env"].values()
    assert not Path(seen["cwd"]).exists() and seen["cwd"] != str(Path.cwd())
    ((_, _, spent, failed),) = account.settled
    assert (spent.input_tokens, spent.output_tokens, spent.usd, failed) == (25, 7, 0.25, False)


@pytest.mark.parametrize(
    ("answer", "code"),
    [({**GOOD, "is_error": True, "api_error_status": 401}, 1), (GOOD, 2), ("no object", 0)],
)
def test_a_run_that_failed_is_no_reply(
    folder: Path, tmp_path: Path, answer: object, code: int
) -> None:
    program(folder, answer, code)
    assert isinstance(ask(tmp_path, Account()), Failed)


def test_without_the_program_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    account = Account()
    assert isinstance(ask(tmp_path, account), Skipped) and account.reserved == []
