"""Every test runs in a home of its own; those with `live` share one real server, wiped for each.

The server: `MKG_TEST_NEO4J_URI` (bolt://user:password@host:port, empty or marked by this fixture),
else testcontainers when `MKG_TEST_DOCKER=1` and a daemon answers, else a managed local server.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs
import pytest

from mkg import model_settings
from mkg.db import Neo4jRunner
from mkg.settings import Settings, StoreSettings
from tests.support import docker_server

PREFIXES = ("MKG_", "NEO4J_", "XDG_", "CLAUDE", "ANTHROPIC", "OPENAI")
_SUPPORT = Path(__file__).parent / "support"
# Jars and models are the machine's, not a user's state: one download serves every run.
_CACHE = Path(os.environ.get("MKG_CACHE") or platformdirs.user_cache_path("meta-knowledge-graph"))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME, and no setting of the person who runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        foreign = (*PREFIXES, *model_settings.VARIABLES.values())
        if name.startswith(foreign) and name not in {
            "MKG_TEST_NEO4J_URI",
            "MKG_TEST_DOCKER",
            "MKG_CLIENT_TESTS",
        }:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("MKG_HOME", str(tmp_path / "mkg"))
    monkeypatch.setenv("MKG_CACHE", str(shared_cache()))
    return home


def shared_cache() -> Path:
    """Where jars and client programs are kept between runs."""
    return _CACHE


@dataclass(frozen=True, slots=True)
class Server:
    """A running test database."""

    uri: str
    username: str
    password: str
    database: str = "neo4j"

    def runner(self, *, caller: str = "test", notifications: bool = False) -> Neo4jRunner:
        return Neo4jRunner(
            self.uri,
            (self.username, self.password),
            self.database,
            caller=caller,
            notifications=notifications,
        )

    def write_user_file(self, home: Path) -> Path:
        """Point a home at this server, as a user would."""
        folder = home / ".config" / "meta-knowledge-graph"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = folder / ".env"
        path.touch(mode=0o600)
        path.write_text(
            f"NEO4J_URI={self.uri}\nNEO4J_USERNAME={self.username}\n"
            f"NEO4J_PASSWORD={self.password}\nNEO4J_DATABASE={self.database}\n",
            encoding="utf-8",
        )
        return path


@dataclass(frozen=True, slots=True)
class Live:
    """The test database, empty and migrated, with a runner on it."""

    server: Server
    run: Neo4jRunner

    def settings(self, home: Path, **values: object) -> Settings:
        """Settings whose store is this server."""
        return Settings.model_validate(
            {
                "home": home,
                "cache": shared_cache(),
                "config_dir": home / "config",
                "runtime_dir": home / "run",
                "store": StoreSettings.model_validate(
                    {
                        "uri": self.server.uri,
                        "username": self.server.username,
                        "password": self.server.password,
                        "database": self.server.database,
                    }
                ),
                **values,
            }
        )

    def rows(self, text: str, **params: object) -> list[dict[str, object]]:
        """Look into the graph as a person would."""
        return self.run.execute(f"CYPHER 25\n{text}", params, mode="read").rows

    def value(self, text: str, **params: object) -> object:
        """The single value of a single row."""
        (row,) = self.rows(text, **params)
        return next(iter(row.values()))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One database for the whole run, claimed and migrated."""
    given = os.environ.get("MKG_TEST_NEO4J_URI")
    if given:
        parts = urlsplit(given)
        found = Server(
            f"{parts.scheme}://{parts.hostname}:{parts.port}",
            parts.username or "neo4j",
            parts.password or "",
        )
        _claim_and_migrate(found)
        yield found
        return
    if os.environ.get("MKG_TEST_DOCKER") == "1" and docker_server.daemon_answers():
        with docker_server.docker_server() as endpoint:
            found = Server(*endpoint)
            _claim_and_migrate(found)
            yield found
        return
    yield from _managed(tmp_path_factory.mktemp("db"))


def _managed(home: Path) -> Iterator[Server]:
    from mkg import localdb

    endpoint = localdb.start_for_tests(home, shared_cache())
    try:
        found = Server(endpoint.uri, endpoint.username, endpoint.password)
        _claim_and_migrate(found)
        yield found
    finally:
        localdb.stop_for_tests(home)


def _claim_and_migrate(server: Server) -> None:
    from mkg.migrate import apply_all

    with server.runner() as run:
        run.verify()
        text = "CYPHER 25\n" + (_SUPPORT / "claim.cypher").read_text(encoding="utf-8")
        if not run.execute(text).rows[0]["ours"]:
            pytest.exit("the test database holds somebody's data: give an empty one", returncode=4)
        apply_all(run)


@pytest.fixture(scope="session")
def server_runner(server: Server) -> Iterator[Neo4jRunner]:
    """One connection pool for the whole run."""
    with server.runner() as run:
        yield run


@pytest.fixture
def live(server: Server, server_runner: Neo4jRunner) -> Live:
    """The shared database, wiped."""
    wipe(server_runner)
    return Live(server, server_runner)


def wipe(run: Neo4jRunner) -> None:
    """Delete all but the migrations and the mark."""
    text = "CYPHER 25\n" + (_SUPPORT / "wipe.cypher").read_text(encoding="utf-8")
    run.execute(text, mode="auto", name="test.wipe")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark whatever uses the server: `make` runs those in a process of their own."""
    names = getattr(item, "fixturenames", ())
    if "live" in names or "server" in names:
        item.add_marker(pytest.mark.live)
        item.add_marker(pytest.mark.shared)
