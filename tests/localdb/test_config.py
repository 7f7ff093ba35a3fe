"""The generated configuration: what is open, what is shut, and what the plugins may offer."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from mkg.bundle import load_bundle
from mkg.localdb import config
from mkg.localdb.fit import fit
from mkg.localdb.look import migrations
from tests.support.requirement import requirement

STORE, HOME = Path("/home/me/a store"), Path("/home/me/.cache/mkg/server/0123")
SIZES = fit(8 << 30, 2)


def made(names: tuple[str, ...] = ("gds.version",), port: int = 20001) -> config.Config:
    return config.configure(STORE, port, SIZES, names)


def values(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


@requirement("NEO-12", "SEC-64")
def test_the_server_listens_on_the_loopback_address_alone_and_reports_nothing():
    found = values(made().neo4j)
    assert found["server.bolt.listen_address"] == "127.0.0.1:20001"
    assert found["server.bolt.advertised_address"] == "127.0.0.1:20001"
    assert found["server.default_listen_address"] == "127.0.0.1"
    assert found["server.http.enabled"] == found["server.https.enabled"] == "false"
    assert found["dbms.usage_report.enabled"] == "false"
    assert found["dbms.security.auth_enabled"] == "true"


@requirement("NEO-138")
def test_import_folder_address_list_and_procedure_list_are_set():
    found = values(made(("apoc.util.sha256", "gds.version")).neo4j)
    assert found["server.directories.import"] == "import"
    assert found["dbms.security.allow_csv_import_from_file_urls"] == "false"
    assert found["internal.dbms.cypher_ip_blocklist"] == "0.0.0.0/0,::/0"
    assert found["dbms.security.procedures.allowlist"] == "apoc.util.sha256,gds.version"
    assert found["dbms.security.procedures.unrestricted"] == "gds.version"
    assert set(values(made().apoc).items()) >= {
        ("apoc.import.file.enabled", "false"),
        ("apoc.export.file.enabled", "false"),
        ("apoc.trigger.enabled", "false"),
    }


def test_language_timeouts_and_small_logs():
    found = values(made().neo4j)
    assert found["db.query.default_language"] == "CYPHER_25"
    assert found["db.lock.acquisition.timeout"] == "5s"
    assert found["db.transaction.timeout"] == "60s"
    assert found["db.tx_log.preallocate"] == "false"
    assert found["db.tx_log.rotation.size"] == "1m"
    assert found["db.logs.query.enabled"] == "OFF"
    for wait in ("thread_pool_shutdown_wait_time", "connection_shutdown_wait_time"):
        assert found[f"internal.server.bolt.{wait}"] == "0s"


def test_the_heap_of_the_file_is_the_heap_of_the_process():
    assert values(made().neo4j)["server.memory.heap.max_size"] == "1024m"
    assert "-Xmx1024m" in made().java
    assert "-XX:TieredStopAtLevel=1" in made().java
    optimised = config.java_arguments(STORE, replace(SIZES, optimise=True))
    assert "-XX:TieredStopAtLevel=1" not in optimised


def test_the_allow_list_is_what_the_files_call_and_what_our_own_code_needs():
    names = config.allowed(load_bundle(), migrations())
    assert set(config.FIXED) <= set(names)
    assert {"gds.pageRank.stream.estimate", "apoc.util.sha256"} <= set(names)
    assert not [name for name in names if not name.startswith(("apoc.", "gds."))]
    assert list(names) == sorted(names)


def test_a_query_that_uses_more_lengthens_the_list():
    bundle = load_bundle()
    query = replace(bundle.queries["ops.ping"], uses=("apoc.meta.schema", "db.labels"))
    longer = replace(bundle, queries={**bundle.queries, "ops.ping": query})
    added = set(config.allowed(longer)) - set(config.allowed(bundle))
    assert added == {"apoc.meta.schema"}


def test_only_what_cannot_run_in_the_sandbox_is_let_out_of_it():
    names = ("apoc.lock.nodes", "apoc.meta.schema", "gds.version")
    assert config.unrestricted(names) == ("apoc.meta.schema", "gds.version")


def test_a_migration_that_calls_a_plugin_lengthens_the_list():
    text = "MATCH (n) SET n.h = apoc.hashing.fingerprint(n);\nCALL gds.graph.exists('g');"
    names = config.allowed(load_bundle(), [text])
    assert {"apoc.hashing.fingerprint", "gds.graph.exists"} <= set(names)


@pytest.mark.parametrize(
    ("other", "same"),
    [(made(), True), (made(("gds.version", "apoc.version")), False), (made(port=20002), False)],
)
def test_the_signature_changes_with_the_configuration(other, same):
    assert (made().signature == other.signature) is same


def test_no_path_of_the_user_is_in_the_servers_file():
    assert (
        made().neo4j
        == config.configure(Path("/home/Gedächtnis"), 20001, SIZES, ("gds.version",)).neo4j
    )
    assert not [line for line in made().neo4j.splitlines() if "=/" in line]


def test_an_argument_file_keeps_blanks_and_quotes():
    arguments = ["-Dx=/home/me/a store", 'say "so"', "back\\slash"]
    lines = config.argument_file(arguments).splitlines()
    assert [shlex.split(line)[0] for line in lines] == arguments


def test_the_class_path_follows_the_order_of_the_lock():
    path = config.class_path(HOME, [("lib", "b.jar"), ("ext", "a.jar")])
    assert path == f"{HOME}/lib/b.jar:{HOME}/ext/a.jar"
