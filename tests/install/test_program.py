"""Which program the registered lines run: compiled, named by its path, and told where it lies."""

import os
import re
import shutil
from pathlib import Path

import pytest

from mkg.bundle.files import root
from mkg.install import plan
from mkg.install.lines import script_path
from tests.install.place import Machine
from tests.support.requirement import requirement


@requirement("PERF-31")
def test_an_installation_compiles_the_hooks_and_names_its_interpreter_by_path(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    hooks = tmp_path / "packed" / "_data" / "hooks"
    shutil.copytree(root("hooks"), hooks, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(plan, "root", lambda kind: hooks)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert machine.mkg("install", "claude", "--yes").exit_code == 0
    for module in (hooks / "mkg_hooks").glob("*.py"):
        assert list((hooks / "mkg_hooks" / "__pycache__").glob(f"{module.stem}.*.pyc")), module
    script = script_path(machine.settings()).read_text(encoding="utf-8")
    (interpreter,) = re.findall(r"^python='?([^'\n]*)'?$", script, re.MULTILINE)
    assert Path(interpreter).is_absolute() and os.access(interpreter, os.X_OK)


@requirement("ENC-W106")
def test_an_installation_from_a_checkout_says_that_its_hooks_run_from_there(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said = machine.mkg("install", "claude", "--yes").output
    assert f"Its hooks run from {root('hooks')}" in said
    packed = tmp_path / "mkg" / "_data" / "hooks"
    shutil.copytree(root("hooks"), packed)
    monkeypatch.setattr("mkg.bundle.files.root", lambda kind: packed)
    assert "Its hooks run from" not in machine.mkg("install", "codex", "--yes").output
