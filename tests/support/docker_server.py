"""A Neo4j in a container, for machines where a Docker daemon answers (MKG_TEST_DOCKER=1)."""

import contextlib
import secrets
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

IMAGE = "neo4j:2026.01.4-community"
USER = "neo4j"
START_SECONDS = 90
ENVIRONMENT = {
    "NEO4J_PLUGINS": '["apoc", "graph-data-science"]',
    "NEO4J_db_query_default__language": "CYPHER_25",
    "NEO4J_dbms_usage__report_enabled": "false",
    "NEO4J_dbms_security_procedures_unrestricted": "gds.*",
}


def daemon_answers() -> bool:
    """Whether there is a Docker daemon to start a container with."""
    import docker
    from docker.errors import DockerException

    try:
        with contextlib.closing(docker.from_env(timeout=5)) as client:
            return bool(client.ping())
    except DockerException:
        return False


def container(password: str) -> "DockerContainer":
    """What would be started, without a daemon."""
    from testcontainers.core.container import DockerContainer

    made = DockerContainer(IMAGE).with_exposed_ports(7687)
    made = made.with_env("NEO4J_AUTH", f"{USER}/{password}")
    for name, value in ENVIRONMENT.items():
        made = made.with_env(name, value)
    return made


@contextlib.contextmanager
def docker_server() -> Iterator[tuple[str, str, str]]:
    """Address, user and password of a fresh server with GDS and APOC."""
    from mkg.db import Neo4jRunner
    from mkg.errors import GraphError

    password = secrets.token_hex(12)
    made = container(password)
    with made:
        host, port = made.get_container_host_ip(), made.get_exposed_port(7687)
        uri = f"bolt://{host}:{port}"
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                with Neo4jRunner(uri, (USER, password), "neo4j") as run:
                    run.verify()
                break
            except GraphError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)
        yield uri, USER, password
