"""`mkg doctor`: each link breaks, is found with the command that repairs it, and is well again."""

import json
import os
import shutil
import socket
import stat
import sys
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mkg import doctor, embed
from mkg.doctor import Link, client_side, store_side
from mkg.install.clients import CLIENTS
from mkg.localdb import config
from mkg.settings import Settings
from mkg_hooks import spool_trim
from mkg_hooks.spool import Spool
from tests.conftest import Live
from tests.install.place import Machine
from tests.support.requirement import requirement

Usage = namedtuple("Usage", "total used free")
NAMES = ["settings", *(name for name, _ in (*client_side.LOOKS, *store_side.LOOKS))]


def look(name: str) -> Link:
    """One link, as the command tells it."""
    return next(link for link in doctor.examine() if link.link == name)


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """A machine where a command has run, and Claude Code is registered."""
    assert machine.mkg("install", "claude", "--yes").exit_code == 0
    return machine


def gone(machine: Machine) -> None:
    shutil.rmtree(machine.settings().home)


def open_home(machine: Machine) -> None:
    machine.settings().home.chmod(0o755)


def no_pointer(machine: Machine) -> None:
    machine.settings().paths.pointer.unlink()


def open_pointer(machine: Machine) -> None:
    machine.settings().paths.pointer.chmod(0o644)


def pointer_elsewhere(machine: Machine) -> None:
    path = machine.settings().paths.pointer
    text = path.read_text("utf-8")
    path.write_text(text.replace(f"python={sys.executable}", "python=/gone/python"), "utf-8")


def old_pointer(machine: Machine) -> None:
    path = machine.settings().paths.pointer
    path.write_text(path.read_text("utf-8").replace("root=", "root=/old"), "utf-8")


def no_script(machine: Machine) -> None:
    (machine.settings().home / "hook").unlink()


def old_script(machine: Machine) -> None:
    path = machine.settings().home / "hook"
    path.write_text(path.read_text("utf-8") + "# old\n", "utf-8")


def no_line(machine: Machine) -> None:
    path = machine.files("claude")[0]
    path.write_text(path.read_text("utf-8").replace(" claude Stop ", " claude Other "), "utf-8")


def no_lines(machine: Machine) -> None:
    machine.files("claude")[0].unlink()


def half_a_file(machine: Machine) -> None:
    machine.files("claude")[1].write_text("{", "utf-8")


def old_python(machine: Machine) -> None:
    fake = machine.home / "python"
    fake.write_text("#!/bin/sh\necho 3 6\n")
    fake.chmod(0o755)
    path = machine.settings().home / "hook"
    lines = path.read_text("utf-8").splitlines()
    told = [f"python={fake}" if line.startswith("python=") else line for line in lines]
    path.write_text("\n".join(told), "utf-8")


def dead_python(machine: Machine) -> None:
    old_python(machine)
    (machine.home / "python").write_text("#!/bin/sh\nexit 3\n")


def open_runtime(machine: Machine) -> None:
    folder = machine.settings().runtime_dir
    folder.mkdir()
    folder.chmod(0o755)


def runtime_is_a_file(machine: Machine) -> None:
    machine.settings().runtime_dir.write_text("")


def open_spool(machine: Machine) -> None:
    machine.settings().paths.spool_dir.mkdir(parents=True)
    machine.settings().paths.spool_dir.chmod(0o755)


def clock_behind(machine: Machine) -> None:
    later = time.time() + 3600
    os.utime(machine.settings().paths.pointer, (later, later))


def open_settings(machine: Machine) -> None:
    path = machine.settings().paths.config_file
    path.parent.mkdir(parents=True)
    path.write_text("MKG_INJECT=1\n")
    path.chmod(0o644)


def bad_settings(machine: Machine) -> None:
    open_settings(machine)
    path = machine.home / ".config" / "meta-knowledge-graph" / ".env"
    path.write_text("MKG_RECALL_LIMIT=many\n")
    path.chmod(0o600)


BROKEN: dict[Callable[[Machine], None], tuple[str, str, str]] = {
    gone: ("home", "broken", "mkg config"),
    open_home: ("home", "broken", "chmod 700"),
    no_pointer: ("pointer", "broken", "mkg config"),
    open_pointer: ("pointer", "broken", "rm -f"),
    pointer_elsewhere: ("pointer", "broken", "mkg config"),
    old_pointer: ("pointer", "warning", "mkg config"),
    no_script: ("script", "broken", "mkg install claude --scope user --yes"),
    old_script: ("script", "warning", "mkg config"),
    no_line: ("hooks", "broken", "mkg install claude --scope user --yes"),
    no_lines: ("hooks", "broken", "mkg install claude --scope user --yes"),
    old_python: ("interpreter", "warning", "mkg config"),
    dead_python: ("interpreter", "broken", "mkg config"),
    open_runtime: ("socket", "broken", "chmod 700"),
    open_spool: ("spool", "broken", "chmod 700"),
    open_settings: ("settings", "broken", "chmod 600"),
}


@requirement("MEM-W74", "SEC-65")
@pytest.mark.parametrize("breaks", BROKEN, ids=lambda f: f.__name__)
def test_a_broken_link_is_found_and_its_command_repairs_it(
    breaks: Callable[[Machine], None], ready: Machine
):
    name, state, command = BROKEN[breaks]
    assert look(name).state == "ok"
    breaks(ready)
    found = look(name)
    assert (found.state, found.repair[: len(command)]) == (state, command), found.says
    # The command as it is told, in a shell, with `mkg` on the PATH.
    for part in found.repair.split(" && "):
        if part.startswith("mkg "):
            assert ready.mkg(*part.split()[1:]).exit_code == 0
        else:
            assert os.system(part) == 0
    assert look(name).state == "ok"


NO_COMMAND = {
    half_a_file: ("hooks", "broken"),
    runtime_is_a_file: ("socket", "broken"),
    clock_behind: ("clock", "broken"),
    bad_settings: ("settings", "broken"),
}


@pytest.mark.parametrize("breaks", NO_COMMAND, ids=lambda f: f.__name__)
def test_what_a_person_must_settle_is_found_too(breaks: Callable[[Machine], None], ready: Machine):
    name, state = NO_COMMAND[breaks]
    assert look(name).state == "ok"
    breaks(ready)
    found = look(name)
    assert found.state == state and found.repair


def test_events_that_wait_are_told_until_they_are_gone(ready: Machine):
    folder = ready.settings().paths.spool_dir
    folder.mkdir(parents=True, mode=0o700)
    assert look("spool").says == "nothing waits"
    kept = Spool(folder)
    kept.append({"event_id": "x", "prompt": "not to be told"})
    found = look("spool")
    assert (found.state, found.repair) == ("warning", "mkg worker drain")
    assert "1 event" in found.says and "not to be told" not in found.says
    shutil.rmtree(folder)
    assert look("spool").state == "ok"


def test_what_a_full_spool_gave_up_or_lost_is_told(ready: Machine):
    folder = ready.settings().paths.spool_dir
    kept = Spool(folder, cap_bytes=20_000)
    for number in range(40):
        kept.append({"event_key": f"{number}", "tool_name": "Bash", "tool_output": "o" * 500})
    found = look("spool")
    assert (found.state, found.repair) == ("warning", "mkg worker drain")
    count = kept.counters()["shortened"]
    assert count and f"{count} old tool call(s) lost" in found.says and "MKG_SPOOL_MB" in found.says
    shown = json.loads(ready.mkg("worker", "status", "--json").stdout)
    assert shown["spool"]["shortened"] == count and shown["spool_bytes"][1] == 2048 * 2**20
    spool_trim.count_loss(str(folder))
    assert "1 were lost" in look("spool").says and "worker status" in look("spool").repair


def test_a_worker_that_holds_its_lock_and_does_not_answer_is_found(ready: Machine):
    import fcntl

    lock = ready.settings().paths.worker_lock
    lock.parent.mkdir(mode=0o700)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert look("worker").state == "broken" and "stop" in look("worker").repair
    assert look("worker").state == "ok"


def test_a_worker_that_found_an_installation_which_does_not_start_is_named(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
):
    status: dict[str, object] = {"pid": 7, "graph": "up", "code": "current", "version": "1.0"}
    monkeypatch.setattr(store_side.client, "ask", lambda *words, **options: status)
    assert look("worker").state == "ok"
    status["code"] = "unusable"
    found = look("worker")
    assert (found.state, "1.0" in found.says) == ("warning", True)
    assert found.repair.startswith("pip install")


def test_a_full_disk_is_found(ready: Machine, monkeypatch: pytest.MonkeyPatch):
    seen = {}
    for free in (10**7, 10**9, 10**12):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: Usage(0, 0, free))
        seen[free] = look("disk").state
    assert seen == {10**7: "broken", 10**9: "warning", 10**12: "ok"}


@requirement("SEC-91")
def test_store_files_that_others_can_read_are_found_and_closed(ready: Machine):
    folder = ready.settings().paths.store_dir
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    assert "open to others" not in look("database").says
    folder.chmod(0o755)
    found = look("database")
    assert (found.state, found.repair) == ("broken", f"chmod 700 {folder}")
    assert "open to others" in found.says


@requirement("SEC-91")
def test_local_only_mode_is_told(ready: Machine, monkeypatch: pytest.MonkeyPatch):
    assert "LOCAL_ONLY" not in look("model access").says
    monkeypatch.setenv("MKG_LOCAL_ONLY", "on")
    assert "MKG_LOCAL_ONLY is on" in look("model access").says


def test_model_access_tells_what_would_be_asked_or_why_nothing(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
):
    found = look("model access")
    assert found.state == "ok" and "no language model is asked" in found.says
    path = ready.home / ".config" / "meta-knowledge-graph" / ".env"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    before = path.read_text("utf-8")
    path.write_text(f"{before}LLM_MODEL=openai/x\n", "utf-8")
    found = look("model access")
    assert (found.state, found.repair) == ("warning", "mkg setup")
    assert "OPENAI_API_KEY" in found.says
    path.write_text(f"{before}LLM_MODEL=openai/x\nOPENAI_API_KEY=sk-hidden\n", "utf-8")
    found = look("model access")
    assert found.state == "ok" and "openai/x" in found.says and "500000 tokens" in found.says
    assert "sk-hidden" not in found.says


def test_an_embedder_that_is_not_there_is_found(ready: Machine, monkeypatch: pytest.MonkeyPatch):
    assert look("embedder").state == "ok"
    with monkeypatch.context() as patch:
        patch.setattr(embed, "_package", lambda name: None)
        found = look("embedder")
        assert found.state == "warning" and found.repair.startswith("pip install")
    monkeypatch.setenv("EMBEDDING_MODEL", "no-such-model")
    assert look("embedder").state == "broken"
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    assert look("embedder").state == "ok"


@requirement("CL-36")
def test_hooks_that_codex_was_not_told_to_trust_are_named(ready: Machine):
    assert look("trust").state == "ok"
    ready.mkg("install", "codex", "--yes")
    found = look("trust")
    assert found.state == "warning" and "SessionStart" in found.says and "/hooks" in found.repair
    file, config = ready.files("codex")
    names = ("session_start", "user_prompt_submit", "pre_tool_use", "permission_request")
    names += ("post_tool_use", "pre_compact", "post_compact", "subagent_start", "subagent_stop")
    rows = [f'[hooks.state."{file}:{n}:0:0"]\ntrusted_hash = "x"\n' for n in (*names, "stop")]
    config.write_text(config.read_text("utf-8") + "\n" + "".join(rows), "utf-8")
    assert look("trust").says.endswith("1 hook(s): SessionEnd")
    rows = [f'[hooks.state."{file}:session_end:0:0"]\ntrusted_hash = "x"\n']
    config.write_text(config.read_text("utf-8") + "".join(rows), "utf-8")
    assert look("trust").state == "ok"


def test_a_client_without_hooks_is_a_warning_unless_a_plugin_has_them(machine: Machine):
    machine.mkg("config")
    assert look("hooks").state == "warning" and look("hooks").repair == "mkg install claude"
    enabled = {"enabledPlugins": {"mkg@meta-knowledge-graph": True}}
    machine.write({".claude/settings.json": json.dumps(enabled)})
    assert look("hooks").state == "ok"
    machine.mkg("install", "claude", "--yes")
    assert look("hooks").state == "warning"
    assert look("hooks").repair == "mkg uninstall claude --yes"


@requirement("SEC-48")
def test_what_a_server_should_shut_is_compared_with_what_it_runs_with(
    ready: Machine, live: Live, monkeypatch: pytest.MonkeyPatch
):
    assert look("closings").state == "unknown"
    live.server.write_user_file(ready.home)
    assert look("closings").state == "ok"
    wanted = {"db.logs.query.enabled": "INFO", "dbms.security.auth_enabled": "TRUE", "no.such": "x"}
    monkeypatch.setattr(config, "CLOSING", wanted)
    found = look("closings")
    # The server is somebody else's here: what it leaves open is theirs to shut.
    assert (found.state, found.repair) == ("warning", "neo4j.conf of that server")
    assert found.says == (
        "db.logs.query.enabled=OFF instead of INFO; no.such=(unknown) instead of x"
    )


def test_the_store_is_found_away_and_there(
    ready: Machine, live: Live, monkeypatch: pytest.MonkeyPatch
):
    assert look("database").repair == "mkg db up"
    assert look("schema").state == "unknown"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = replace(live.server, uri=f"bolt://127.0.0.1:{taken.getsockname()[1]}")
        away.write_user_file(ready.home)
        found = look("database")
        assert (found.state, found.repair) == ("broken", "mkg setup")
        assert live.server.password not in str(doctor.examine())
    live.server.write_user_file(ready.home)
    assert look("database").state == look("schema").state == "ok"
    whole = store_side._status(ready.settings())
    short = replace(whole, pending=["V9999__later"])
    monkeypatch.setattr(store_side, "_status", lambda settings: short)
    assert look("schema").state == "broken" and look("schema").repair == "mkg migrate apply"


def test_with_everything_broken_each_link_is_told_and_nothing_is_written(machine: Machine):
    bad_settings(machine)
    done = machine.mkg("doctor", "--json")
    told = json.loads(done.output)
    assert [row["link"] for row in told["links"]] == NAMES
    assert {row["state"] for row in told["links"]} == {"broken", "unknown"}
    assert all(row["repair"] for row in told["links"]) and not told["ok"]
    assert done.exit_code == 6
    assert not Path(os.environ["MKG_HOME"]).exists()


def test_looking_repairs_nothing(ready: Machine):
    no_pointer(ready)
    old_script(ready)
    before = Machine(ready.settings().home).tree()
    assert ready.mkg("doctor").exit_code == 6
    assert Machine(ready.settings().home).tree() == before


def test_a_link_that_does_not_answer_is_left_behind(ready: Machine):
    started = time.monotonic()

    def slow(settings: Settings) -> Link:
        time.sleep(2)
        return Link("slow", "ok", "")

    found = doctor.bounded("slow", slow, ready.settings(), 0.1)
    assert found.state == "unknown" and time.monotonic() - started < 1.5


def test_the_exit_code_tells_the_worst():
    def code(*states: doctor.State) -> int:
        return doctor.exit_code([Link("x", state, "") for state in states])

    assert (code("ok"), code("ok", "warning"), code("warning", "broken")) == (0, 1, 6)
    assert code("unknown", "ok") == 6


def test_every_client_in_the_table_can_be_looked_at(machine: Machine):
    for name in CLIENTS:
        machine.mkg("install", name, "--yes")
        assert stat.S_ISREG(machine.files(name)[0].stat().st_mode)
    assert look("hooks").says == ", ".join(f"{name} (user)" for name in CLIENTS)
