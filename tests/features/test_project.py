"""Project identity exactly as the documented table says (D12)."""

from pathlib import Path

import pytest

from mkg.features.timeline.project import canonical_remote, resolve
from mkg.settings import load_settings
from tests.support.requirement import requirement


def repository(path: Path, remote: str | None = None) -> Path:
    git = path / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    text = "[core]\n\tbare = false\n"
    if remote:
        text += (
            f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        )
    (git / "config").write_text(text)
    return path


def worktree(main: Path, path: Path) -> Path:
    path.mkdir(parents=True)
    inside = main / ".git" / "worktrees" / path.name
    inside.mkdir(parents=True)
    (inside / "commondir").write_text("../..\n")
    (path / ".git").write_text(f"gitdir: {inside}\n")
    return path


def identity(path: Path) -> str | None:
    found = resolve(load_settings(), str(path))
    return found.id if found else None


@requirement("MEM-W61", "B77", "CL-28")
def test_clones_worktrees_and_subfolders_of_one_remote_are_one_project(tmp_path: Path) -> None:
    one = repository(tmp_path / "a" / "app", "git@github.com:Acme/App.git")
    two = repository(tmp_path / "b" / "renamed", "https://user:token@github.com/acme/app")
    tree = worktree(one, tmp_path / "c" / "feature")
    sub = one / "src" / "deep"
    sub.mkdir(parents=True)
    assert {identity(p) for p in (one, two, tree, sub)} == {"github.com/acme/app"}


@requirement("MEM-W61", "B77")
def test_folders_of_one_name_are_two_projects(tmp_path: Path) -> None:
    one = repository(tmp_path / "x" / "app", "git@github.com:acme/app.git")
    two = repository(tmp_path / "y" / "app", "git@github.com:other/app.git")
    three, four = repository(tmp_path / "z" / "app"), repository(tmp_path / "w" / "app")
    assert len({identity(p) for p in (one, two, three, four)}) == 4


@requirement("B77")
def test_a_subfolder_that_declares_itself_is_a_project_of_its_own(tmp_path: Path) -> None:
    one = repository(tmp_path / "mono", "git@github.com:acme/mono.git")
    inner = one / "services" / "billing"
    (inner / "src").mkdir(parents=True)
    (inner / ".mkg.toml").write_text('name = "Billing"\n')
    assert identity(inner / "src") == "github.com/acme/mono//services/billing"
    assert identity(one / "services") == "github.com/acme/mono"


@requirement("B79")
def test_worktrees_are_apart_where_the_projects_file_says_so(tmp_path: Path) -> None:
    one = repository(tmp_path / "app", "git@github.com:acme/app.git")
    tree = worktree(one, tmp_path / "feature")
    assert identity(one) == identity(tree)
    for path in (one, tree):
        (path / ".mkg.toml").write_text('worktrees = "separate"\n')
    assert identity(one) == "github.com/acme/app"
    assert identity(tree) == "github.com/acme/app@feature"


@requirement("B77")
def test_a_repository_without_a_remote_keeps_its_random_id_when_one_appears(tmp_path: Path) -> None:
    path = repository(tmp_path / "app")
    first = identity(path)
    assert first is not None and first.startswith("local/")
    assert identity(worktree(path, tmp_path / "tree")) == first
    (path / ".git" / "config").write_text('[remote "origin"]\n url = git@github.com:acme/app.git\n')
    assert identity(path) == first
    clone = repository(tmp_path / "clone", "https://github.com/acme/app.git")
    assert identity(clone) == first


@requirement("B63", "MEM-T116")
def test_home_temp_root_plugin_caches_and_deleted_folders_are_no_projects(
    own_home: Path, tmp_path: Path
) -> None:
    cache = own_home / ".claude" / "plugins" / "cache" / "mkg" / "1.2.3"
    cache.mkdir(parents=True)
    gone = tmp_path / "gone"
    for path in (own_home, Path("/tmp"), Path("/"), cache, gone):
        assert identity(path) is None, path
    assert resolve(load_settings(), None) is None
    assert resolve(load_settings(), "relative/path") is None


def test_a_plain_folder_is_a_project_and_remembers_its_id(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.mkdir()
    assert identity(path) == identity(path)
    assert str(identity(path)).startswith("local/")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:Acme/App.git", "github.com/acme/app"),
        ("ssh://git@git.example.test:2222/Group/Sub/App.git", "git.example.test/Group/Sub/App"),
        ("https://user:secret@GitLab.com/a/b/", "gitlab.com/a/b"),
        ("git.example.test:team/App", "git.example.test/team/App"),
        ("/srv/git/app.git", None),
        ("file:///srv/git/app.git", None),
        ("../app", None),
        ("https://", None),
        ("https://host/../../etc", None),
        ("", None),
    ],
)
def test_a_remote_url_is_host_and_path_without_user_port_or_suffix(
    url: str, expected: str | None
) -> None:
    assert canonical_remote(url) == expected


def test_a_hostile_git_folder_runs_nothing_and_names_no_project_of_others(tmp_path: Path) -> None:
    path = repository(tmp_path / "evil", "git@github.com:acme/app.git")
    (path / ".git" / "config").write_text(
        "[core]\n fsmonitor = touch /tmp/pwned\n[include]\n path = ~/.ssh/config\n"
        '[remote "origin"]\n url = \x00\n'
    )
    assert str(identity(path)).startswith("local/")
    (path / ".git" / "config").write_text("[[[[ not a config")
    assert identity(path) is not None
