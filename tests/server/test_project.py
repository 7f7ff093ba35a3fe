"""The server asks the same resolver as the hooks: one folder is one project, whoever looks."""

from pathlib import Path

import pytest

from mkg.server.connection import Client, Connection
from mkg.settings import load_settings
from mkg_hooks.deps import Deps
from mkg_hooks.identity import identify
from tests.features.test_project import repository, worktree
from tests.server.asking import FakeStore
from tests.support.events import record
from tests.support.requirement import requirement

SHAPES = ("remote", "subfolder", "worktree", "declared", "no remote", "plain", "temporary")


def shaped(shape: str, base: Path) -> Path:
    """A folder of one of the kinds that the table of projects tells apart."""
    if shape == "plain":
        (base / "plain").mkdir()
        return base / "plain"
    if shape == "temporary":
        return Path("/tmp")
    top = repository(base / "app", None if shape == "no remote" else "git@host:acme/app.git")
    if shape == "worktree":
        return worktree(top, base / "tree")
    if shape in ("subfolder", "declared"):
        (top / "services" / "billing").mkdir(parents=True)
    if shape == "declared":
        (top / "services" / "billing" / ".mkg.toml").write_text("[project]\n", encoding="utf-8")
    return top / "services" / "billing" if shape in ("subfolder", "declared") else top


@requirement("MEM-T153", "MEM-W62")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_folder_is_one_project_for_the_server_and_for_the_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    folder = shaped(shape, tmp_path)
    settings = load_settings()
    deps = Deps(None, None, settings)
    hooks = identify(record("SessionStart", cwd=str(folder)), deps).project_id
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(folder))
    served = Connection("client", connect=lambda _: FakeStore(), settings=lambda *_: settings)
    call, _ = served.call(Client("t", None, None))
    here = call.here()
    assert (here.id if here else None) == hooks
    assert (hooks is None) == (shape == "temporary")


def test_what_an_agent_adds_is_gated_as_the_settings_say() -> None:
    own = load_settings().model_copy(update={"consistency_gate": False, "consistency_topk": 3})
    served = Connection("client", connect=lambda _: FakeStore(), settings=lambda *_: own)
    call, _ = served.call(Client("t", None, None))
    assert (call.rules.on, call.rules.topk, call.rules.model) == (False, 3, None)
