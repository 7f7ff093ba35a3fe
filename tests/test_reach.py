"""Which machines are spoken to: a store elsewhere needs a checked way; local-only has none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mkg.errors import ConfigError
from mkg.reach import here
from mkg.settings import load_settings
from tests.support.requirement import requirement
from tests.test_settings import SECRET, user_file

# Tells every attempt to reach a machine, and whether the command ended well.
WATCHED = """
import sys
tried = []
def watch(event, args):
    if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(args[1], tuple)):
        tried.append(event)
sys.addaudithook(watch)
from mkg.cli import app
try:
    app(sys.argv[1:], standalone_mode=False)
    ended = "well"
except SystemExit as error:
    ended = f"exit {error.code}"
except Exception as error:
    ended = str(error)
print("TRIED", len(tried), ended)
"""


@requirement("SEC-91")
@pytest.mark.parametrize(
    "uri",
    [
        "bolt://127.0.0.1:7687",
        "neo4j://localhost",
        "bolt://[::1]:7687",
        "bolt://127.3.2.1",
        "bolt+s://db.example.test:7687",
        "neo4j+s://abc.databases.neo4j.io",
    ],
)
def test_this_machine_and_a_checked_certificate_are_admitted(own_home: Path, uri: str) -> None:
    user_file(own_home, f"NEO4J_URI={uri}\nNEO4J_PASSWORD={SECRET}\n")
    assert load_settings().store.uri == uri


@requirement("SEC-91")
@pytest.mark.parametrize(
    "uri",
    [
        "bolt://db.example.test:7687",
        "neo4j://10.0.0.7",
        "bolt+ssc://db.example.test",
        "neo4j+ssc://db.example.test",
        "bolt://localhost.example.test",
        "bolt://127.0.0.1@db.example.test",
        "bolt://0.0.0.0:7687",
        "bolt://[fe80::1]",
    ],
)
def test_another_machine_without_a_checked_certificate_is_refused_unless_it_is_named(
    own_home: Path, uri: str
) -> None:
    text = f"NEO4J_URI={uri}\nNEO4J_PASSWORD={SECRET}\n"
    user_file(own_home, text)
    with pytest.raises(ConfigError, match="MKG_ALLOW_INSECURE"):
        load_settings()
    user_file(own_home, text + "MKG_ALLOW_INSECURE=elsewhere.test\n")
    with pytest.raises(ConfigError, match="MKG_ALLOW_INSECURE"):
        load_settings()
    names = "DB.example.test, 10.0.0.7,localhost.example.test,0.0.0.0 fe80::1"
    user_file(own_home, text + f"MKG_ALLOW_INSECURE={names}\n")
    assert load_settings().store.uri == uri


@requirement("SEC-91")
def test_local_only_refuses_any_other_machine_however_safe_the_way(own_home: Path) -> None:
    text = f"NEO4J_PASSWORD={SECRET}\nMKG_LOCAL_ONLY=on\nMKG_ALLOW_INSECURE=db.example.test\n"
    for uri in ("bolt+s://db.example.test", "bolt://db.example.test"):
        user_file(own_home, f"NEO4J_URI={uri}\n{text}")
        with pytest.raises(ConfigError, match="MKG_LOCAL_ONLY"):
            load_settings()
    user_file(own_home, f"NEO4J_URI=bolt://localhost:1\n{text}")
    assert load_settings().local_only


@requirement("SEC-91", "SEC-57")
def test_the_environment_of_a_client_can_close_the_machine_and_never_open_it(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file(own_home, "MKG_LOCAL_ONLY=on\nMKG_ALLOW_INSECURE=mine.test\n")
    for value in ("off", "0", "false"):
        monkeypatch.setenv("MKG_LOCAL_ONLY", value)
        assert load_settings(origin="client").local_only
        assert not load_settings().local_only
    monkeypatch.setenv("MKG_ALLOW_INSECURE", "evil.test")
    assert load_settings(origin="client").allow_insecure == ("mine.test",)
    user_file(own_home, "MKG_LOG_LEVEL=info\n")
    monkeypatch.setenv("MKG_LOCAL_ONLY", "on")
    assert load_settings(origin="client").local_only


@requirement("SEC-91")
def test_in_local_only_mode_starting_the_store_reaches_no_machine(own_home: Path) -> None:
    """An empty cache would be filled from the repository; here nothing is even looked up."""
    env = {
        **os.environ,
        "MKG_CACHE": str(own_home / "empty"),
        # Without the guard the attempt goes to a closed port of this machine.
        "HTTPS_PROXY": "http://127.0.0.1:1",
    }

    def run(local_only: str, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, *words],
            env={**env, "MKG_LOCAL_ONLY": local_only},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout.rpartition("TRIED ")[2] + done.stderr

    told = run("on", "db", "up")
    assert told.startswith("0 "), told
    assert "MKG_LOCAL_ONLY" in told


def test_a_name_is_this_machine_only_where_no_resolver_can_say_otherwise() -> None:
    assert [here(name) for name in ("localhost", "a.localhost", "127.0.0.9", "::1")] == [True] * 4
    assert [here(name) for name in ("", "myhost", "localhost.test", "::", "1.2.3.4")] == [False] * 5
