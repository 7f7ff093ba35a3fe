"""Lists of words in text files: a row a line, "#" before a remark, "name: words" for a kind."""

from pathlib import Path


def rows(path: Path) -> list[list[str]]:
    """The words of each row."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


def named(path: Path) -> dict[str, list[str]]:
    """The words of each row by its name, which may be several words."""
    parted = (" ".join(row).partition(":") for row in rows(path))
    return {name: words.split() for name, colon, words in parted if colon}
