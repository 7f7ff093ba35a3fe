"""The dry run of a release: what it builds passes, and what lacks something does not."""

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import release
from tests.support.requirement import requirement

ROOT = release.ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return release.build(ROOT, tmp_path_factory.mktemp("dist"))


@requirement("MEM-T115")
def test_this_tree_could_be_released(built: tuple[Path, Path]):
    wheel, sdist = built
    assert list(release.wrong_versions(ROOT)) == list(release.wrong_changes(ROOT)) == []
    assert list(release.wrong_wheel(ROOT, wheel)) == list(release.wrong_sdist(sdist)) == []


@requirement("ENC-W53")
def test_what_is_tracked_is_enough_for_a_newcomer(tmp_path: Path):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached"], cwd=ROOT, capture_output=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    clone = tmp_path / "clone"
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    wheel, sdist = release.build(clone, tmp_path / "dist")
    assert list(release.wrong_wheel(ROOT, wheel)) == list(release.wrong_sdist(sdist)) == []
    for name in (".env.example", "LICENSE", "compose.yaml", "requirements.lock", "Makefile"):
        assert (clone / name).is_file()


def without(name: str, wheel: Path, target: Path) -> Path:
    """A copy of a wheel that lacks one file."""
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.namelist():
            if entry != name:
                new.writestr(entry, old.read(entry))
    return target


@pytest.mark.parametrize(
    "name",
    ["mkg/_data/hooks/launch.py", "mkg/_data/migrations/V0001__timeline.cypher", "mkg/db/raw.py"],
)
def test_a_wheel_that_lacks_a_file_is_found(name: str, built: tuple[Path, Path], tmp_path: Path):
    short = without(name, built[0], tmp_path / "short.whl")
    assert list(release.wrong_wheel(ROOT, short)) == [f"the wheel lacks {name}"]


def other_version(root: Path) -> None:
    path = root / "python" / "mkg" / "__init__.py"
    path.write_text('__version__ = "9.9.9"\n')


def old_manifest(root: Path) -> None:
    path = root / "gemini-extension.json"
    path.write_text(path.read_text("utf-8").replace('"version": "', '"version": "9'), "utf-8")


def no_lines(root: Path) -> None:
    (root / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n\n## 0.0.1\n\n- x\n")


@pytest.mark.parametrize("spoils", [other_version, old_manifest, no_lines])
def test_a_tree_that_is_not_ready_is_found(spoils: Callable[[Path], None], tmp_path: Path):
    names = ("pyproject.toml", "CHANGELOG.md", *release.manifests.manifests())
    for name in (*names, "python/mkg/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    assert [*release.wrong_versions(tmp_path), *release.wrong_changes(tmp_path)] == []
    spoils(tmp_path)
    assert len([*release.wrong_versions(tmp_path), *release.wrong_changes(tmp_path)]) == 1
