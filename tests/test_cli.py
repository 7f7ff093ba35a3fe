"""The command line: one line and an exit code for what goes wrong, JSON for programs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg import cli
from mkg.cli import app
from tests.conftest import Live
from tests.support.learned import say

runner = CliRunner()


def user_file(home: Path, text: str) -> None:
    path = home / ".config" / "meta-knowledge-graph" / ".env"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def main(
    *words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """`mkg WORDS` as a person runs it: exit code and stderr."""
    monkeypatch.setattr(sys, "argv", ["mkg", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0), capsys.readouterr().err


def test_config_shows_values_with_their_source_and_masks_secrets(own_home: Path) -> None:
    user_file(own_home, "NEO4J_URI=bolt://127.0.0.1:1\nNEO4J_PASSWORD=very-secret-thing\n")
    shown = runner.invoke(app, ["config", "--json"])
    rows = {r["name"]: r for r in json.loads(shown.stdout)}
    assert rows["NEO4J_PASSWORD"] == {
        "name": "NEO4J_PASSWORD",
        "value": "set",
        "source": "user file",
    }
    assert rows["NEO4J_URI"]["source"] == "user file"
    assert "very-secret-thing" not in shown.stdout


def test_the_first_command_leaves_the_pointer_and_it_names_the_user_files_store(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt+s://somewhere:1")
    monkeypatch.setenv("NEO4J_PASSWORD", "long-enough-secret")
    runner.invoke(app, ["config"])
    pointer = (tmp_path / "mkg" / "pointer").read_text(encoding="utf-8")
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.delenv("NEO4J_PASSWORD")
    from mkg.settings import load_settings

    assert f"socket={load_settings().paths.socket}\n" in pointer


def test_check_offline_counts_the_queries(own_home: Path) -> None:
    done = runner.invoke(app, ["check", "--offline"])
    assert done.exit_code == 0, done.output
    assert "0 finding(s)" in done.stdout


@pytest.mark.parametrize(
    ("lines", "code", "words"),
    [
        ("NEO4J_URI=bolt://127.0.0.1:9\nNEO4J_PASSWORD=long-enough-secret\n", 3, "does not answer"),
        ("MKG_MODULES=nonsense\n", 2, "unknown modules"),
        ("", 3, "mkg db up"),
    ],
)
def test_what_goes_wrong_is_one_line_and_the_exit_code_of_its_kind(
    own_home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: str,
    code: int,
    words: str,
) -> None:
    user_file(own_home, lines)
    ended, told = main("why", "x", monkeypatch=monkeypatch, capsys=capsys)
    assert ended == code
    assert words in told
    assert told.count("\n") == 1


def test_a_wrong_database_password_names_the_settings(
    live: Live, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    user_file(own_home, f"NEO4J_URI={live.server.uri}\nNEO4J_PASSWORD=not-the-password\n")
    ended, told = main("why", "x", monkeypatch=monkeypatch, capsys=capsys)
    assert ended == 2
    assert "NEO4J_PASSWORD" in told
    assert "not-the-password" not in told


def test_why_prints_quote_decision_and_deliveries(
    live: Live, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    live.server.write_user_file(own_home)
    say(live, "Remember that we deploy with `make ship`, never with deploy.sh.")
    short = str(live.value("MATCH (l:Learning) RETURN l.short_id"))
    done = runner.invoke(app, ["why", short])
    assert done.exit_code == 0, done.output
    assert "we deploy with `make ship`, never with deploy.sh" in done.stdout
    assert "approved" in done.stdout
    assert "told to nobody yet" in done.stdout
    (row,) = json.loads(runner.invoke(app, ["why", short, "--json"]).stdout)
    assert row["evidence"][0]["event"] == "UserPromptSubmit"
    ended, told = main("why", "nonsense", monkeypatch=monkeypatch, capsys=capsys)
    assert (ended, "nothing is known" in told) == (4, True)


def test_check_on_a_server_finds_nothing(live: Live, own_home: Path) -> None:
    live.server.write_user_file(own_home)
    done = runner.invoke(app, ["check", "--json"])
    assert (done.exit_code, json.loads(done.stdout)) == (0, [])


def test_an_unexpected_crash_is_one_line_with_a_mark_and_no_content(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash() -> None:
        raise RuntimeError("secret content")

    monkeypatch.setattr(cli, "app", crash)
    ended, told = main("config", monkeypatch=monkeypatch, capsys=capsys)
    assert ended == 1
    assert "internal error RuntimeError" in told
    assert "secret content" not in told


def test_the_module_and_the_console_script_are_one_command(own_home: Path) -> None:
    env = {**os.environ, "HOME": str(own_home)}
    done = subprocess.run(
        [sys.executable, "-m", "mkg", "--version"],
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stdout.strip() == __import__("mkg").__version__


@pytest.mark.parametrize(("words", "leaves"), [(("lock",), False), (("config",), True)])
def test_what_is_for_the_makers_leaves_the_users_own_hooks_as_they_are(
    own_home: Path, tmp_path: Path, words: tuple[str, ...], leaves: bool
) -> None:
    assert runner.invoke(app, list(words)).exit_code == 0
    assert (tmp_path / "mkg" / "pointer").exists() is leaves
