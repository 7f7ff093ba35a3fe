"""A line that names a file or a command tells whether it is still there; nothing is guessed."""

import json
import os
import threading
from pathlib import Path

import pytest

from mkg.features.learnings import freshness
from mkg.features.learnings import freshness_lists as lists
from mkg.features.learnings.freshness import Checker, root_of, withheld
from mkg.features.learnings.freshness_names import Named, named
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
    (root / "justfile").write_text(
        "x := 1\nalias b := bench\nbench size='1': build\n  go\nbuild:\n"
    )
    (root / "Taskfile.yml").write_text("version: '3'\ntasks:\n  db:seed:\n    cmds:\n      - x\n")
    (root / "pyproject.toml").write_text(
        '[project.scripts]\nshop-import = "shop.load:main"\n[tool.poe.tasks]\ntypes = "x"\n'
    )
    (root / "src/shop").mkdir()
    (root / "src/shop/load.py").write_text('add("--fast")\n')
    (root / "src/load.py").write_text("add('--batch-size')\nadd('--cache')\n")
    (root / "tools").mkdir()
    (root / "tools/load.sh").write_text("case $1 in --dry-run) x;; esac\n")
    (root / "tools/pass.sh").write_text('case $1 in --dry-run) x;; esac; other "$@"\n')
    return root


def mark(text: str, folder: Path) -> str:
    return Checker(seconds=30).marks([text], str(folder))[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The server starts in src/app/main.py.", "still there"),
        ("The server starts in `./src/app/main.py`", "still there"),
        ("The server starts in src/app/gone.py.", "all gone: src/app/gone.py"),
        ("Deploy with `make ship`.", "still there"),
        ("Deploy with `make launch`.", "all gone: launch"),
        ("Styles: npm run lint:css, then we make waste.", "still there"),
        ("Styles are checked by pnpm run lint:html.", "all gone: lint:html"),
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
        ("src/old/ was removed in May.", ""),
        ("The build writes src/app/made.js for the page.", "unchecked"),
        ("The page is dist/page.html.", "unchecked"),
        ("Releases are cut from origin/release-1.x", ""),
        ("We run on Node.js and read settings.timeout.", ""),
        ("Docs are at docs.example.com/guide/index.html", ""),
        ("Clone acme/shop.git first.", ""),
        ("Tools lie in scripts/tool.sh.", "all gone: scripts/tool.sh"),
        ("Run `just bench` before a merge.", "still there"),
        ("Run `just b` before a merge.", "still there"),
        ("Run `just launch` before a merge.", "all gone: launch"),
        ("We just launch it.", ""),
        ("Run `task db:seed` once.", "still there"),
        ("Run `task db:drop` once.", "all gone: db:drop"),
        ("Types: `poe types`.", "still there"),
        ("Types: `poe typos`.", "all gone: typos"),
        ("Run npm test first.", "all gone: test"),
        ("Import with `shop-import --fast`.", "still there"),
        ("Import with `uv run shop-import --fast`.", "still there"),
        ("Import with `shop-import --slow`.", "unchecked"),
        ("Tests: `uv run pytest -x`.", ""),
        ("Amend with `git commit --amend`.", ""),
        ("Load with `./tools/load.sh --dry-run`.", "still there"),
        ("Load with `python src/load.py --batch-size=5`.", "still there"),
        ("Load with `python src/load.py --no-cache`.", "still there"),
        ("Load with `./tools/load.sh --quick`.", "gone: --quick"),
        ("Load with `./tools/pass.sh --quick`.", "unchecked"),
        ("Never load with `./tools/load.sh --quick`.", ""),
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
    assert mark("Run `make launch`.", checkout) == "all gone: launch"
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


def test_a_line_of_whose_names_none_stands_is_held_back_and_only_then() -> None:
    assert withheld("all gone: launch")
    for mark in ("gone: --quick", "unchecked", "still there", ""):
        assert not withheld(mark)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("justfile", "import 'more.just'\nbench:\n"),
        ("Taskfile.yml", "includes:\n  x: ./x.yml\ntasks:\n  seed:\n"),
        ("package.json", '{"scripts": {}, "workspaces": ["a"]}'),
        ("package.json", "[" * 100_000),
        ("pyproject.toml", "[tool.poe]\ninclude = 'x.toml'\n[tool.poe.tasks]\ntypes = 'x'\n"),
        ("pyproject.toml", "[tool.poe.tasks\n"),
    ],
)
def test_a_list_that_may_hold_more_or_cannot_be_read_calls_nothing_gone(
    checkout: Path, name: str, content: str
) -> None:
    (checkout / name).write_text(content)
    commands = {
        "justfile": "just launch",
        "Taskfile.yml": "task db:drop",
        "package.json": "npm run launch",
        "pyproject.toml": "poe typos",
    }
    assert mark(f"Run `{commands[name]}`.", checkout) == "unchecked"


@requirement("SEC-06")
def test_lists_are_read_inside_the_checkout_only_and_plain_files_only(
    checkout: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"scripts": {"hidden": "x"}}')
    (checkout / "package.json").unlink()
    (checkout / "package.json").symlink_to(outside)
    assert mark("Run npm run hidden.", checkout) == "unchecked"
    (checkout / "package.json").unlink()
    os.mkfifo(checkout / "package.json")
    assert mark("Run npm run hidden.", checkout) == "unchecked"
    (checkout / "package.json").unlink()
    (checkout / "package.json").write_text(" " * lists.MOST_BYTES + outside.read_text())
    assert mark("Run npm run hidden.", checkout) == "unchecked"
    (checkout / "package.json").write_text(outside.read_text())
    assert mark("Run npm run hidden.", checkout) == "still there"


def test_what_is_ignored_may_be_missing_and_other_things_may_not(checkout: Path) -> None:
    (checkout / ".gitignore").write_text("# made\n/src/app/local.py\n*.log\nscratch/\n")
    assert mark("Settings: src/app/local.py", checkout) == "unchecked"
    assert mark("Settings: scratch/x.py", checkout) == "unchecked"
    assert mark("Settings: src/app/other.py", checkout) == "all gone: src/app/other.py"


def test_a_slow_disk_delays_a_mark_by_one_prompt_and_holds_nothing_back(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, read = threading.Event(), threading.Event()
    real = lists.content

    def held(path: Path, root: Path) -> bytes | None:
        slow.wait(60)
        found = real(path, root)
        read.set()
        return found

    monkeypatch.setattr(lists, "content", held)
    checker, texts = Checker(), ["Run `make launch`.", "Run `just bench`."]
    assert checker.marks(texts, str(checkout)) == ["unchecked", "unchecked"]
    slow.set()
    assert read.wait(30)
    checker._pool.submit(int).result(30)  # the first lookup has ended
    checker._seconds = 30.0
    assert checker.marks(texts, str(checkout)) == ["all gone: launch", "still there"]


def test_a_told_line_carries_its_mark_and_one_that_is_gone_waits_until_it_is_back(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkg_hooks.on import learnings as on_learnings

    monkeypatch.setattr(on_learnings, "_CHECKER", Checker(seconds=30))
    played = Session(live, tmp_path)
    makefile = played.folder / "Makefile"
    makefile.write_text("ship:\n\techo\n")
    played.play("s1", "UserPromptSubmit", prompt="Remember that we deploy with `make ship`.")
    played.play("s1", "Stop", last_message="Noted.")
    question = "How do I deploy the service to staging?"
    assert '"checked": "still there"' in played.play("s2", "UserPromptSubmit", prompt=question)
    makefile.write_text("launch:\n\techo\n")
    assert "make ship" not in played.play("s3", "UserPromptSubmit", prompt=question)
    # What was held back was not told: the same session hears it once it stands again.
    makefile.write_text("ship:\n\techo again\n")
    assert '"checked": "still there"' in played.play("s3", "UserPromptSubmit", prompt=question)


def test_a_line_that_has_lost_a_part_says_which_and_counts_those_held_back(
    live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mkg_hooks.on import learnings as on_learnings

    monkeypatch.setattr(on_learnings, "_CHECKER", Checker(seconds=30))
    played = Session(live, tmp_path)
    (played.folder / "Makefile").write_text("ship:\n\techo\n")
    said = "Remember that we deploy with `make ship` and then `make announce`."
    played.play("s1", "UserPromptSubmit", prompt=said)
    nearest = "Remember that we deploy the service to staging with `make dry`."
    played.play("s1", "UserPromptSubmit", prompt=nearest)
    played.play("s1", "Stop", last_message="Noted.")
    question = "How do I deploy the service to staging?"
    told = played.play("s2", "UserPromptSubmit", prompt=question)
    assert '"checked": "gone: announce"' in told
    assert "make dry" not in told and "1 more held back" in told
    # Only what was told counts as told, whichever place it had among what was found.
    (played.folder / "Makefile").write_text("ship dry announce:\n\techo\n")
    later = played.play("s2", "UserPromptSubmit", prompt=question)
    assert "make dry" in later and "make announce" not in later and "held back" not in later
