"""The ways by container: the compose file and the fixture's container, as far as no daemon goes."""

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml

from mkg.bundle import load_bundle
from mkg.db import Neo4jRunner
from mkg.localdb import config, look, prove
from mkg.localdb.jars import load_lock
from tests.support import docker_server
from tests.support.requirement import requirement

ROOT = Path(__file__).parents[2]
FILE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICE: dict[str, Any] = FILE["services"]["neo4j"]
ENVIRONMENT: dict[str, str] = SERVICE["environment"]


def pinned() -> str:
    return load_lock().version("org.neo4j", "neo4j")


def test_the_compose_file_and_the_fixture_run_the_server_that_is_pinned():
    assert list(FILE["services"]) == ["neo4j"]
    assert SERVICE["image"] == docker_server.IMAGE == f"neo4j:{pinned()}-community"


def test_the_compose_file_and_the_fixture_ask_for_both_plugins():
    wanted = '["apoc", "graph-data-science"]'
    assert ENVIRONMENT["NEO4J_PLUGINS"] == docker_server.ENVIRONMENT["NEO4J_PLUGINS"] == wanted


@requirement("ENC-W91")
def test_the_compose_file_opens_one_port_on_the_loopback_address():
    assert SERVICE["ports"] == ["127.0.0.1:${MKG_BOLT_PORT:-7687}:7687"]
    assert "network_mode" not in SERVICE and "networks" not in FILE
    assert ENVIRONMENT["NEO4J_server_http_enabled"] == "false"
    assert ENVIRONMENT["NEO4J_server_https_enabled"] == "false"


def test_the_compose_file_has_no_password_and_refuses_to_start_without_one():
    value = ENVIRONMENT["NEO4J_AUTH"]
    assert value.startswith("neo4j/${NEO4J_PASSWORD:?") and value.endswith("}")
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    assert "NEO4J_PASSWORD=" in lines
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_compose_file_keeps_data_and_logs_in_volumes_and_knows_when_it_is_ready():
    assert SERVICE["volumes"] == ["data:/data", "logs:/logs"]
    assert set(FILE["volumes"]) == {"data", "logs"}
    assert "RETURN 1" in SERVICE["healthcheck"]["test"][1]
    assert SERVICE["healthcheck"]["retries"] >= 10


def test_the_compose_file_lets_in_what_the_product_calls_and_nothing_that_reads_or_runs():
    patterns = ENVIRONMENT["NEO4J_dbms_security_procedures_allowlist"].split(",")

    def open_to(name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in patterns)

    for name in config.allowed(load_bundle(), look.migrations()):
        assert open_to(name), f"add {name} to the allowlist in compose.yaml"
    for name in ("apoc.load.json", "apoc.cypher.run", "apoc.export.csv.all", "apoc.import.json"):
        assert not open_to(name)
    own = dict(
        line.split("=", 1) for line in config._neo4j(1, _fit(), ()).splitlines() if "=" in line
    )
    for setting in (
        "db.query.default_language",
        "db.lock.acquisition.timeout",
        "db.transaction.timeout",
        "dbms.usage_report.enabled",
        "dbms.security.allow_csv_import_from_file_urls",
        "internal.dbms.cypher_ip_blocklist",
    ):
        assert ENVIRONMENT[spelled(setting)] == own[setting]


def _fit() -> Any:
    from mkg.localdb.fit import fit

    return fit(4 << 30, 2)


def spelled(setting: str) -> str:
    """A setting as the image reads it from its environment."""
    return "NEO4J_" + setting.replace("_", "__").replace(".", "_")


def test_the_fixtures_container_is_given_image_password_plugins_and_language(monkeypatch):
    # It would ask a daemon for its version before anything else.
    monkeypatch.setattr("testcontainers.core.container.DockerClient", lambda **_: None)
    container = docker_server.container("a-secret-of-this-run")
    assert container.image == docker_server.IMAGE
    assert container.env["NEO4J_AUTH"] == "neo4j/a-secret-of-this-run"
    assert container.env["NEO4J_PLUGINS"] == '["apoc", "graph-data-science"]'
    assert container.env["NEO4J_db_query_default__language"] == "CYPHER_25"
    assert container.env["NEO4J_dbms_security_procedures_unrestricted"].startswith("gds.*")
    assert [str(port).split("/")[0] for port in container.ports] == ["7687"]


@pytest.mark.skipif(
    os.environ.get("MKG_TEST_DOCKER") != "1" or not docker_server.daemon_answers(),
    reason="MKG_TEST_DOCKER=1 and a Docker daemon that answers are needed",
)
@pytest.mark.timeout(300)
def test_a_container_starts_with_both_plugins():
    with (
        docker_server.docker_server() as (uri, user, password),
        Neo4jRunner(uri, (user, password), "neo4j") as run,
    ):
        found = prove.identify(run)
    assert found.neo4j == pinned()
    assert found.gds is not None and found.apoc is not None
