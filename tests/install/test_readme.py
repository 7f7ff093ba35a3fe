"""What README tells a fresh reader to do works as it stands there."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mkg.install import lines
from mkg.install.clients import CLIENTS
from tests.conftest import shared_cache
from tests.install.place import Machine
from tests.support.requirement import requirement

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
INSTALL = README.split("\n## Install\n")[1].split("\n## ")[0]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a-client-without-hooks", "version": "1"},
    },
}


@pytest.mark.skipif(sys.platform != "linux", reason="the snippet names the folder of Linux")
def test_the_snippet_for_clients_without_hooks_starts_the_server(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MKG_HOME")
    assert machine.mkg("install", "custom:desktop").exit_code == 0
    (snippet,) = re.findall(r"```json\n(.*?)```", INSTALL, re.DOTALL)
    server = json.loads(snippet)["mcpServers"]["mkg"]
    assert lines.server_of_ours(server)
    done = subprocess.run(
        [server["command"], *server["args"]],
        input=json.dumps(HELLO) + "\n",
        # What a client gives its servers when it gives next to nothing.
        env={"HOME": str(machine.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    answer = json.loads(done.stdout.splitlines()[0])
    assert answer["result"]["serverInfo"]["name"] == "meta-knowledge-graph"


def test_three_commands_are_told_and_each_is_there(machine: Machine):
    typed = re.findall(r"^\$ (.*)$", INSTALL, re.MULTILINE)
    assert typed == ["make setup", ".venv/bin/mkg db up", ".venv/bin/mkg install claude"]
    makefile = (Path(__file__).resolve().parents[2] / "Makefile").read_text("utf-8")
    assert re.search(r"^setup:", makefile, re.MULTILINE)
    for words in typed[1:]:
        assert machine.mkg(*words.split()[1:], "--help").exit_code == 0
    machine.write({".claude/settings.json": '{\n  "theme": "dark"\n}\n'})
    shown = machine.mkg("install", "claude", "--dry-run").output
    told = INSTALL.split("$ .venv/bin/mkg install claude\n")[1].split("...\n")[0]
    assert shown.startswith(told.replace("/home/ann", str(machine.home)))


def test_the_table_names_the_files_that_are_written(machine: Machine):
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", INSTALL, re.MULTILINE))
    assert list(rows) == list(CLIENTS)
    for name, row in CLIENTS.items():
        for scope, cell in zip(("user", "project"), rows[name].split(" | "), strict=False):
            for path in machine.files(name, scope):
                # Codex has the same files in both scopes.
                assert path.name in cell or (name, scope) == ("codex", "project")
        assert row.variable is None or row.variable in rows[name]


@pytest.mark.live
@requirement("B41")
def test_the_commands_work_as_they_are_printed(tmp_path: Path):
    """All but `make setup`, which made the program that is run here."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".venv" / "bin" / "mkg").exists():
        pytest.skip("this checkout was not set up by its Makefile")
    home = tmp_path / "a new home"
    (home / ".claude").mkdir(parents=True)
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "MKG_CACHE": str(shared_cache()),
        "LANG": "C.UTF-8",
    }

    def typed(command: str) -> str:
        # In a terminal, where a person answers what is asked.
        ours, theirs = pty.openpty()
        os.write(ours, b"y\n")
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=root,
            env=env,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=120,
        )
        os.close(ours)
        os.close(theirs)
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        for line in re.findall(r"^\$ (\.venv.*)$", INSTALL, re.MULTILINE):
            typed(line)
        found = json.loads(typed(".venv/bin/mkg doctor --json || true"))
        states = {link["link"]: link["state"] for link in found["links"]}
        assert "broken" not in states.values(), states
        assert "mcpServers" in json.loads((home / ".claude.json").read_text("utf-8"))
    finally:
        typed(".venv/bin/mkg db down")
