"""Homes for the launcher, with and without a worker."""

from pathlib import Path

import pytest

from tests.hooks.launching import make_home


@pytest.fixture
def home(tmp_path: Path):
    """A home whose worker, if one is started, is stopped again."""
    made = make_home(tmp_path / "it's a home")
    yield made
    made.close()


@pytest.fixture
def offline(tmp_path: Path):
    """A home in which no worker can be started: every event is kept by the launcher."""
    made = make_home(tmp_path / "home")
    (made.folder / "python").write_text("#!/bin/sh\n")
    return made
