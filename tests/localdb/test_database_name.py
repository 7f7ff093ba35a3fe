"""A server whose database has another name: everything goes there."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mkg.localdb import launch, life, store
from mkg.settings import Settings, subprocess_env
from tests.conftest import Live, Server, shared_cache
from tests.faults.test_path import User, stated, told
from tests.support.requirement import requirement
from tests.support.user_env import importable, user_env

NAME = "mem2"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A managed server whose only user database is called otherwise."""
    planned = launch.plan

    def named(*words: Any, **more: Any) -> launch.Plan:
        setting = f"initial.dbms.default_database={NAME}"
        return dataclasses.replace(planned(*words, **more), settings=(setting,))

    base = tmp_path / "server"
    settings = Settings(
        home=base, cache=shared_cache(), config_dir=base / "config", runtime_dir=base / "run"
    )
    place = store.Store(settings.paths.store_dir)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(launch, "plan", named)
            patched.setattr(store, "DATABASE", NAME)
            life.ensure_running(settings, place, str, subprocess_env())
        secret = store.password(place)
        assert secret is not None
        port = store.remembered_port(place)
        yield Server(f"bolt://127.0.0.1:{port}", store.USER, secret, NAME)
    finally:
        life.stop(place, str)


@pytest.fixture
def user(server: Server, tmp_path: Path) -> Iterator[User]:
    home, project = tmp_path / "home of a user", tmp_path / "shop"
    home.mkdir()
    project.mkdir()
    server.write_user_file(home)
    made = User(home, project, user_env(home, **importable()))
    yield made
    made.mkg("worker", "stop", check=False)


@pytest.mark.live
@requirement("B43")
def test_a_database_of_another_name_is_used_for_everything(user: User, server: Server) -> None:
    user.mkg("db", "up", "--json")
    user.mkg("migrate", "apply", "--yes")
    stated(user, "Remember that the staging database listens on port 5433.", "s1")
    # A server that has just started plans every statement for the first time.
    user.mkg("worker", "drain", "--timeout", "85")
    assert "5433" in told(user, "Which port does the staging database use?", "s2")
    assert json.loads(user.mkg("migrate", "status", "--json"))
    for words in (
        ("db", "status", "--json"),
        ("migrate", "verify"),
        ("run", "timeline.recent", "--param", "project_id=x", "--param", "limit=1"),
        ("log", "--last", "--json"),
        ("scan-secrets", "--json"),
    ):
        user.mkg(*words)
    doctor = subprocess.run(
        [sys.executable, "-m", "mkg", "doctor", "--json"],
        env=user.env,
        capture_output=True,
        text=True,
        check=False,
    )
    links = {link["link"]: link["state"] for link in json.loads(doctor.stdout)["links"]}
    assert (links["database"], links["schema"]) == ("ok", "ok")
    with server.runner() as run:
        live = Live(server, run)
        assert live.value("MATCH (l:Learning) RETURN count(l)") == 1
        names = {row["name"] for row in live.rows("SHOW DATABASES YIELD name")}
        assert names == {NAME, "system"}
        indexes = "SHOW INDEXES YIELD name WHERE name = 'project_learning_vector' RETURN count(*)"
        assert live.value(indexes) == 1
