"""`mkg setup`: what it asks, keeps, tries and writes; the wizard on a pseudo terminal."""

import os
import pty
import select
import socket
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkg import private
from mkg.cli.setup import edited
from mkg.errors import ConfigError, ModelUnavailable, Refused
from mkg.settings import load_settings, read_env_file
from tests.conftest import Live
from tests.install.place import Machine
from tests.support.requirement import requirement

OWN = "# mine\n\nexport OPENAI_API_KEY='sk-abc'\nMKG_RECALL_LIMIT = 3\nODD LINE\nNEO4J_DATABASE=x\n"
SECRET = "p\"w '=#1"


def env_file(machine: Machine) -> Path:
    return machine.home / ".config" / "meta-knowledge-graph" / ".env"


def own(machine: Machine, text: str = OWN) -> Path:
    path = env_file(machine)
    path.parent.mkdir(parents=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


@requirement("MEM-T213", "MEM-W64")
def test_lines_that_the_wizard_does_not_know_stay_as_they_are(machine: Machine):
    path = own(machine)
    done = machine.mkg("setup", "--yes", "--set", "MKG_RECALL_LIMIT=7", "--set", "MKG_INJECT=off")
    assert done.exit_code == 0, done.output
    wanted = OWN.replace("MKG_RECALL_LIMIT = 3", "MKG_RECALL_LIMIT=7") + "MKG_INJECT=off\n"
    assert path.read_text("utf-8") == wanted
    again = machine.mkg("setup", "--yes", "--set", "MKG_RECALL_LIMIT=7")
    assert "already" in again.output and path.read_text("utf-8") == wanted


VALUES = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=9)


@given(VALUES)
@settings(max_examples=40, deadline=None)
def test_every_value_is_read_back_as_it_was_given(value: str):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".env"
        path.touch(mode=0o600)
        path.write_text(edited("A=1\nX=2\n", {"X": value}), encoding="utf-8")
        assert read_env_file(path) == {"A": "1", "X": value}


def test_an_empty_value_drops_every_line_of_its_name():
    assert edited("X=1\nY=2\nexport X=3\n#X=4\n", {"X": ""}) == "Y=2\n#X=4\n"
    assert edited("X=1\nY=2\nX=3\n", {"X": "5"}) == "Y=2\nX=5\n"
    with pytest.raises(ConfigError, match="one line"):
        edited("", {"X": "a\nb"})


@requirement("MEM-W65")
def test_the_file_is_the_users_alone_before_it_holds_a_word(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    seen, real = [], os.fdopen
    os.umask(0)

    def opened(descriptor: int, *args: object, **options: object) -> object:
        found = os.fstat(descriptor)
        seen.append((stat.S_IMODE(found.st_mode), found.st_size))
        return real(descriptor, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(private.os, "fdopen", opened)
    machine.mkg("setup", "--yes", "--set", "MKG_INJECT=off")
    os.umask(0o022)
    assert (0o600, 0) in seen and {mode for mode, _ in seen} == {0o600}
    assert stat.S_IMODE(env_file(machine).stat().st_mode) == 0o600
    assert stat.S_IMODE(env_file(machine).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (("--set", "MKG_RECALL_LIMIT=many"), ConfigError, "MKG_RECALL_LIMIT"),
        (("--set", "NO_SUCH=1"), Refused, "--set takes"),
        (("--set", "NEO4J_PASSWORD=x"), Refused, "--password-stdin"),
        (("--set", "EMBEDDING_MODEL=big"), ModelUnavailable, "EMBEDDING_MODEL"),
        (("--uri", "http://x"), ConfigError, "NEO4J_URI"),
        (("--uri", "bolt://127.0.0.1:9"), ConfigError, "NEO4J_PASSWORD"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    words: tuple[str, ...], error: type[Exception], says: str, machine: Machine
):
    done = machine.mkg("setup", "--yes", *words)
    assert isinstance(done.exception, error) and says in str(done.exception)
    assert not env_file(machine).exists()


def test_without_a_terminal_or_a_yes_nothing_is_written(machine: Machine):
    done = machine.mkg("setup", "--set", "MKG_INJECT=off")
    assert isinstance(done.exception, Refused) and "--yes" in str(done.exception)
    assert not env_file(machine).exists()


@requirement("MEM-W65")
def test_a_store_that_does_not_answer_is_refused_unless_one_insists(machine: Machine):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        words = ("setup", "--yes", "--uri", uri, "--password-stdin")
        done = machine.mkg(*words, input=f"{SECRET}\n")
        assert isinstance(done.exception, Refused) and not env_file(machine).exists()
        assert machine.mkg(*words, "--untested", input=f"{SECRET}\n").exit_code == 0
    settings = load_settings()
    assert settings.store.uri == uri and settings.store.password is not None
    assert settings.store.password.get_secret_value() == SECRET
    shown = machine.mkg("config")
    assert SECRET not in shown.output and SECRET not in done.output
    assert "NEO4J_PASSWORD" in shown.output and "[user file]" in shown.output
    assert machine.mkg("setup", "--yes", "--local").exit_code == 0
    assert load_settings().store.uri is None and env_file(machine).read_text("utf-8") == ""


def test_a_store_that_answers_is_tried_and_written(machine: Machine, live: Live):
    server = live.server
    wrong = machine.mkg(
        *("setup", "--yes", "--uri", server.uri, "--password-stdin"), input="not-the-password-1\n"
    )
    assert isinstance(wrong.exception, Refused) and not env_file(machine).exists()
    done = machine.mkg(
        *("setup", "--yes", "--uri", server.uri, "--username", server.username),
        "--password-stdin",
        input=f"{server.password}\n",
    )
    assert done.exit_code == 0 and "the store answers" in done.output, done.output
    assert replace(server, uri=server.uri).password not in done.output
    assert load_settings().store.uri == server.uri


def talk(words: list[str], answers: list[tuple[str, str]], env: dict[str, str]) -> tuple[int, str]:
    """Run a command on a pseudo terminal, answer each question, return its code and the screen."""
    pid, terminal = pty.fork()
    if not pid:
        os.execve(words[0], words, env)
    screen, until, seen = b"", time.monotonic() + 60, 0
    while time.monotonic() < until:
        if answers and answers[0][0].encode() in screen[seen:] and screen.endswith(b": "):
            # The blank comes when a hidden prompt has switched the echo off.
            seen = len(screen)
            os.write(terminal, answers.pop(0)[1].encode() + b"\r")
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            screen += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), screen.decode("utf-8", "replace")


@requirement("MEM-W64")
def test_the_wizard_on_a_terminal_asks_hides_the_password_and_keeps_the_rest(machine: Machine):
    path = own(machine, "OPENAI_API_KEY=kept\nNEO4J_USERNAME=ann\n")
    words = [sys.executable, "-m", "mkg", "setup"]
    env = {k: os.environ[k] for k in ("PATH", "HOME", "MKG_HOME", "MKG_CACHE")} | {"TERM": "dumb"}
    answers = [
        ("of your own", "y"),
        ("NEO4J_URI", "bolt://127.0.0.1:9"),
        ("NEO4J_USERNAME", ""),
        ("NEO4J_DATABASE", ""),
        ("NEO4J_PASSWORD", "hidden-word-1"),
        ("EMBEDDING_MODEL", ""),
        ("language model", "y"),
        ("LLM_MODEL", "openai/x"),
        ("MKG_LLM_BASE_URL", ""),
        ("MKG_LLM_DAILY_USD", ""),
        ("OPENAI_API_KEY", ""),
        ("ANTHROPIC_API_KEY", "hidden-key-2"),
        ("GEMINI_API_KEY", ""),
        ("OPENROUTER_API_KEY", ""),
        ("all the same", "y"),
    ]
    code, screen = talk(words, [*answers], env)
    assert code == 0, screen
    assert "hidden-word-1" not in screen and "ann" in screen and "hidden-key-2" not in screen
    assert path.read_text("utf-8") == (
        "OPENAI_API_KEY=kept\nNEO4J_USERNAME=ann\nANTHROPIC_API_KEY=hidden-key-2\n"
        "LLM_MODEL=openai/x\nNEO4J_DATABASE=neo4j\n"
        "NEO4J_PASSWORD=hidden-word-1\nNEO4J_URI=bolt://127.0.0.1:9\n"
    )
    # Enter keeps what is set, the password too, which is told as set only.
    kept = [(q, "") for q, _ in answers[:-1]] + [answers[-1]]
    code, screen = talk(words, kept, env)
    assert code == 0 and "already" in screen and "hidden-" not in screen
    assert "set; Enter keeps it" in screen
