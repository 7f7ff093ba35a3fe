"""Who the user is, in the order of the sources; login tokens are never opened."""

import json
from pathlib import Path

import pytest

from mkg.features.timeline import person
from mkg.settings import load_settings
from tests.support.requirement import requirement


def account(home: Path, email: str) -> None:
    (home / ".claude.json").write_text(json.dumps({"oauthAccount": {"emailAddress": email}}))


@requirement("MEM-T092", "MEM-T093")
def test_an_explicit_id_wins_and_is_normalised(own_home: Path) -> None:
    account(own_home, "other@example.test")
    settings = load_settings().model_copy(update={"user_id": " Ann@Example.TEST "})
    assert person.resolve(settings) == person.Person("ann@example.test", "MKG_USER_ID")


@requirement("MEM-T094", "MEM-W24", "MEM-T118", "CL-41")
def test_the_claude_account_file_is_read_and_no_token_file_is(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account(own_home, "Ann@Example.test")
    for name in (".claude/.credentials.json", ".codex/auth.json"):
        path = own_home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
    opened: list[str] = []
    real = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, *a, **k: (opened.append(str(self)), real(self, *a, **k))[1]
    )
    assert person.resolve(load_settings()).id == "ann@example.test"
    assert not [p for p in opened if "credentials" in p or "auth.json" in p]


@requirement("MEM-T096")
def test_git_then_the_system_user_are_the_fallbacks(own_home: Path) -> None:
    assert person.resolve(load_settings()).source == "system user"
    (own_home / ".gitconfig").write_text(
        "[core]\n\teditor = vi\n[user]\n\tname = Ann\n\temail = Ann@Git.test\n"
    )
    assert person.resolve(load_settings()) == person.Person("ann@git.test", "git user.email")


@requirement("MEM-T097")
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"oauthAccount": 3}', '{"oauthAccount": {"emailAddress": 7}}', "[" * 100_000],
)
def test_a_malformed_account_file_is_ignored(own_home: Path, text: str) -> None:
    (own_home / ".claude.json").write_text(text)
    assert person.resolve(load_settings()).source == "system user"
