"""What a release must hold, tried out: builds wheel and sdist, looks into them, publishes nothing.

`make release` runs it; a line a finding, and exit code 1 when there is one.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mkg.install import manifests

ROOT = Path(__file__).resolve().parents[2]
TOLD = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "hooks/launch.py")


def version(root: Path) -> str:
    """The version of the package."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def wrong_versions(root: Path) -> Iterator[str]:
    """Places that name another version than pyproject.toml, and manifests that are stale."""
    wanted = version(root)
    found = re.search(r'__version__ = "([^"]+)"', (root / "python/mkg/__init__.py").read_text())
    if found is None or found[1] != wanted:
        yield f"python/mkg/__init__.py does not name {wanted}"
    for name, value in manifests.manifests().items():
        path = root / name
        if not path.is_file() or path.read_text("utf-8") != manifests.text(value):
            yield f"{name} is out of date; run: python -m mkg.install.manifests"


def wrong_changes(root: Path) -> Iterator[str]:
    """The changelog needs lines for what is released: under the version, or still open."""
    text = (root / "CHANGELOG.md").read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    names = (version(root), "Unreleased")
    if not any(s.startswith(names) and re.search(r"^- ", s, re.MULTILINE) for s in sections):
        yield f"CHANGELOG.md has no section {names[0]} (or Unreleased) with lines in it"


def build(root: Path, target: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, with the build tool of this environment."""
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    subprocess.run(words, cwd=root, check=True, capture_output=True)
    return next(target.glob("*.whl")), next(target.glob("*.tar.gz"))


def shipped(root: Path) -> dict[str, bytes]:
    """Every file that the program finds beside itself: its name in the wheel, and its bytes."""
    config = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    folders = config["build"]["targets"]["wheel"]["force-include"]
    return {
        f"{inside}/{path.relative_to(root / folder).as_posix()}": path.read_bytes()
        for folder, inside in folders.items()
        for path in sorted((root / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def wrong_wheel(root: Path, wheel: Path) -> Iterator[str]:
    """Files that the wheel lacks, has in another form, or should not have."""
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        for name, content in shipped(root).items():
            if name not in names:
                yield f"the wheel lacks {name}"
            elif file.read(name) != content:
                yield f"the wheel has another {name}"
        code = {
            f"mkg/{p.relative_to(root / 'python/mkg').as_posix()}"
            for p in (root / "python/mkg").rglob("*.py")
        }
        yield from (f"the wheel lacks {name}" for name in sorted(code - names))
        for name in sorted(names):
            if name.startswith("tests/") or name.endswith((".env", ".pyc")):
                yield f"the wheel should not have {name}"
        points = [n for n in names if n.endswith("entry_points.txt")]
        if not points or b"mkg = mkg.cli:main" not in file.read(points[0]):
            yield "the wheel has no command `mkg`"


def wrong_sdist(sdist: Path) -> Iterator[str]:
    """Files that the sdist lacks."""
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    yield from (f"the sdist lacks {name}" for name in TOLD if name not in names)


def main() -> int:
    """The dry run."""
    found = [*wrong_versions(ROOT), *wrong_changes(ROOT)]
    with tempfile.TemporaryDirectory() as folder:
        wheel, sdist = build(ROOT, Path(folder))
        found += [*wrong_wheel(ROOT, wheel), *wrong_sdist(sdist)]
        sizes = {path.name: path.stat().st_size for path in (wheel, sdist)}
    for line in found:
        print(line)
    for name, size in sizes.items():
        print(f"{name}  {size / 1024:.0f} kB")
    print(f"version {version(ROOT)}: {len(found)} finding(s); nothing was published")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
