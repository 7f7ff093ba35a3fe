"""The machine of a test."""

from pathlib import Path

import pytest

from tests.install.place import Machine


@pytest.fixture
def machine(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """An empty HOME; the working directory is a project beside it."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return Machine(own_home)
