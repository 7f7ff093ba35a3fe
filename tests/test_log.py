"""The product's own log: shape and never content, private, rotated."""

import json
import logging
import logging.handlers
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mkg import log
from tests.support.recipes import expand
from tests.support.requirement import requirement

TOKEN = expand("ghp_{AN36}", 5)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    where = tmp_path / "logs"
    log.to_file(where)
    yield where
    root = logging.getLogger("mkg")
    for handler in [h for h in root.handlers if str(where) in getattr(h, "baseFilename", "")]:
        root.removeHandler(handler)
        handler.close()


@requirement("MEM-W73")
def test_what_is_written_in_the_background_rotates_in_private_files(folder: Path) -> None:
    (handler,) = [
        h
        for h in logging.getLogger("mkg").handlers
        if isinstance(h, logging.handlers.RotatingFileHandler) and str(folder) in h.baseFilename
    ]
    assert (handler.maxBytes, handler.backupCount) == (2_000_000, 3)
    # The same in small: megabytes of lines are written slowly.
    handler.maxBytes = 10_000
    logger = log.get("mkg.test")
    for number in range(600):
        logger.info("tick", number=number)
    files = sorted(path.name for path in folder.iterdir())
    assert files == ["mkg.log", "mkg.log.1", "mkg.log.2", "mkg.log.3"]
    for path in folder.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert path.stat().st_size <= 10_000
    last = (folder / "mkg.log").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["number"] == 599


@requirement("SEC-56")
def test_a_text_that_gets_into_a_line_is_cut_and_masked(folder: Path) -> None:
    log.get("mkg.test").error("failed", reason=f"{TOKEN} " + "x" * 5_000, count=3)
    (line,) = (folder / "mkg.log").read_text(encoding="utf-8").splitlines()
    assert TOKEN not in line and len(line) < 500
    assert json.loads(line)["count"] == 3
