"""A line that names a file or a command tells whether it is still there; nothing is guessed."""

import json
import threading
from pathlib import Path

import pytest

from mkg.features.learnings import freshness
from mkg.features.learnings.freshness import Checker, Named, named, root_of
from tests.conftest import Live
from tests.features.test_receipts import Session
from tests.support.requirement import requirement


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for folder in (".git", "src/app", "docs"):
        (root / folder).mkdir(parents=True)
    (root / "src/app/main.py").write_text("x")
    (root / "Makefile").write_text("VERSION := 1\nship test: build\n\techo\nbuild:\n\techo\n")
    (root / "package.json").write_text(json.dumps({"scripts": {"lint:css": "x"}}))
    return root


def mark(text: str, folder: Path) -> str:
    return Checker(seconds=30).marks([text], str(folder))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The server starts in src/app/main.py.", "still there"),
        ("The server starts in `./src/app/main.py`", "still there"),
        ("The server starts in src/app/gone.py.", "gone: src/app/gone.py"),
        ("Deploy with `make ship`.", "still there"),
        ("Deploy with `make launch`.", "gone: launch"),
        ("Styles: npm run lint:css, then we make waste.", "still there"),
        ("Styles are checked by pnpm run lint:html.", "gone: lint:html"),
        ("Notes lie in docs/.", "still there"),
        ("Old notes lay in src/old/", ""),
        ("Notes lie in docs/ and in src/none/", "gone: src/none/"),
        ("Start it with run.sh.", "unchecked"),
        ("Read ../other/main.py first.", "unchecked"),
        ("Never deploy with scripts/deploy.sh, use `make ship`.", "still there"),
        ("Use `make ship` instead of scripts/deploy.sh", "still there"),
        ("We make sure that nobody waits, and api.example.com answers.", ""),
        ("I prefer short answers.", ""),
        ("Python 3.12.1 is used, e.g. by main.", ""),
        ("The key lies in /etc/app/key.pem and ~/conf/x.toml", ""),
    ],
)
def test_what_a_text_names_is_looked_up_in_the_checkout(
    checkout: Path, text: str, expected: str
) -> None:
    assert mark(text, checkout) == expected


def test_a_session_in_a_folder_below_sees_its_own_files_and_the_checkouts(checkout: Path) -> None:
    below = checkout / "src"
    assert root_of(below) == checkout
    assert mark("It starts in app/main.py.", below) == "still there"
    assert mark("It starts in src/app/main.py.", below) == "still there"
    assert mark("Deploy with `make ship`.", below) == "still there"


@requirement("SEC-06")
def test_nothing_outside_the_checkout_is_told_about(checkout: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "there.txt").write_text("x")
    (secret / "Makefile").write_text("hidden:\n")
    (checkout / "link").symlink_to(secret)
    (checkout / "Makefile").unlink()
    (checkout / "Makefile").symlink_to(secret / "Makefile")
    # The same answer whether the file beyond the link is there or not.
    assert mark("See link/there.txt.", checkout) == "unchecked"
    assert mark("See link/none.txt.", checkout) == "unchecked"
    assert mark("Run `make hidden`.", checkout) == "unchecked"
    assert mark("See src/../../secret/there.txt.", checkout) == "unchecked"
    (checkout / "inner").symlink_to(checkout / "src")
    assert mark("See inner/app/main.py.", checkout) == "still there"


def test_a_makefile_that_may_hold_more_calls_nothing_gone(checkout: Path) -> None:
    for text in ("include more.mk\nship:\n", "%.o: %.c\n\tcc\nship:\n"):
        (checkout / "Makefile").write_text(text)
        assert mark("Run `make launch`.", checkout) == "unchecked"
        assert mark("Run `make ship`.", checkout) == "still there"


def test_a_file_that_changed_is_read_again(checkout: Path) -> None:
    assert mark("Run `make launch`.", checkout) == "gone: launch"
    (checkout / "Makefile").write_text("launch:\n\techo launched\n")
    assert mark("Run `make launch`.", checkout) == "still there"


def test_a_disk_that_does_not_answer_costs_a_mark_and_one_thread(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, asked = threading.Event(), threading.Event()
    real = freshness.root_of

    def stuck(folder: Path) -> Path:
        asked.set()
        opened.wait(60)
        return real(folder)

    monkeypatch.setattr(freshness, "root_of", stuck)
    checker = Checker()
    texts = ["Run `make ship`.", "I prefer tabs."]
    before = threading.active_count()
    for _ in range(20):
        assert checker.marks(texts, str(checkout)) == ["unchecked", ""]
    assert asked.is_set() and threading.active_count() <= before + 1
    opened.set()
    checker._pool.submit(int).result(30)  # the lookup that was stuck has ended
    monkeypatch.setattr(freshness, "root_of", real)
    patient = Checker(seconds=30)
    assert patient.marks(texts, str(checkout)) == ["still there", ""]


def test_no_folder_means_unchecked() -> None:
    assert Checker().marks(["Run `make ship`."], None) == ["unchecked"]
    assert Checker().marks(["Run `make ship`."], "not/absolute") == ["unchecked"]
    assert named("Run `make ship`.") == (Named("make", "ship"),)


def test_a_told_line_carries_its_mark(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkg_hooks.on import learnings as on_learnings

    monkeypatch.setattr(on_learnings, "_CHECKER", Checker(seconds=30))
    played = Session(live, tmp_path)
    (played.folder / "Makefile").write_text("ship:\n\techo\n")
    played.play("s1", "UserPromptSubmit", prompt="Remember that we deploy with `make ship`.")
    played.play("s1", "Stop", last_message="Noted.")
    question = "How do I deploy the service to staging?"
    assert '"checked": "still there"' in played.play("s2", "UserPromptSubmit", prompt=question)
    (played.folder / "Makefile").write_text("launch:\n\techo\n")
    assert '"checked": "gone: ship"' in played.play("s3", "UserPromptSubmit", prompt=question)
