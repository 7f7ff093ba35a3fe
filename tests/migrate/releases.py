"""What earlier releases shipped: `tests/migrate/releases/<version>/` holds the files of each.

Making a release copies `migrations/` there. Until the first one, what stands in for it is the
shipped folder without its newest migration.
"""

import shutil
from pathlib import Path

from mkg.bundle import files
from mkg.migrate import source

RELEASES = Path(__file__).parent / "releases"


def keep(version: str, releases: Path = RELEASES) -> Path:
    """Keep the shipped migrations as those of a release."""
    folder = releases / version
    folder.mkdir(parents=True)
    for path in files.root("migrations").glob("*.cypher"):
        shutil.copy(path, folder / path.name)
    return folder


def last(made: Path, releases: Path = RELEASES) -> Path:
    """The migrations of the last release; without one, a made folder one migration behind."""
    kept = [path for path in releases.iterdir() if path.is_dir()] if releases.is_dir() else []
    if kept:
        return max(kept, key=lambda path: [int(part) for part in path.name.split(".")])
    folder = keep("0.0.0", made)
    newest = max(source.discover(folder), key=lambda path: source.number_of(path.stem) or 0)
    for path in folder.glob(f"{newest.stem}.*"):
        path.unlink()
    return folder


def broken(release: Path, shipped: Path) -> list[str]:
    """Numbered files of a release that are gone or have another text in what is shipped now."""
    now = {path.stem: source.normalised(path) for path in source.discover(shipped)}
    return [
        path.stem
        for path in source.discover(release)
        if source.number_of(path.stem) is not None and now.get(path.stem) != source.normalised(path)
    ]
