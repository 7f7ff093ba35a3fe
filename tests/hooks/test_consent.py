"""Switched off: by a pause, by a project's file, for one session. Nothing may be left behind."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mkg_hooks import consent, wire
from tests.hooks.launching import SESSION, Home, prompt_event, start_event, tool_event
from tests.hooks.taking import accept, took
from tests.support.requirement import requirement

EVENTS = {
    "SessionStart": start_event(),
    "UserPromptSubmit": prompt_event("remember that we deploy with make ship"),
    "PostToolUse": tool_event("PostToolUse", "Bash", {"command": "ls"}, tool_response="x"),
    "Stop": {"session_id": SESSION, "stop_hook_active": False, "last_assistant_message": "done"},
    "SessionEnd": {"session_id": SESSION, "reason": "other"},
}


def files(home: Home) -> set[str]:
    return {str(path.relative_to(home.folder)) for path in home.folder.rglob("*")}


def fire(home: Home, **env: str) -> dict[str, bytes]:
    """Every hook of an ordinary session; what each printed."""
    said: dict[str, bytes] = {}
    for event, payload in EVENTS.items():
        done = home.hook("claude", event, payload, env=home.environment(**env))
        assert (done.returncode, done.stderr) == (0, b"")
        said[event] = done.stdout
    return said


def switched_off(home: Home, how: str) -> dict[str, str]:
    """Switch the memory off; returns what the session's environment has for it."""
    if how == "everywhere":
        (home.folder / "paused").write_text("all\n")
    elif how == "this project":
        (home.folder / "paused").write_text(f"project {home.project}\n")
    elif how == "a folder above":
        (home.project.parent / ".mkg.toml").write_text('name = "x"\ncapture = false # private\n')
        (home.project / ".mkg.toml").write_text("capture = true\n")
    elif how == "a local file":
        (home.project / ".mkg.local.toml").write_text('"capture" = "off"\n')
    elif how == "a word nobody knows":
        (home.project / ".mkg.toml").write_text("capture = maybe\n")
    elif how == "the user's settings":
        pointer = home.folder / "pointer"
        pointer.write_text(pointer.read_text() + "capture=off\n")
    return {"MKG_CAPTURE": "off"} if how == "this session" else {}


SILENT = ("this session", "the user's settings")
WAYS = ("everywhere", "this project", "a folder above", "a local file", "a word nobody knows")


@requirement("B91", "SEC-80", "MEM-W63")
@pytest.mark.parametrize("how", [*WAYS, *SILENT])
def test_switched_off_leaves_no_record_no_file_and_starts_no_worker(home: Home, how: str):
    env = switched_off(home, how)
    before = files(home)
    said = fire(home, **env)
    assert files(home) == before
    assert home.records() == [] and not home.ask("ping")
    line = said.pop("SessionStart")
    assert set(said.values()) == {b""}
    assert bool(line) is (how not in SILENT)
    if line:
        assert list(json.loads(line)) == ["systemMessage"]


@requirement("B91", "SEC-80")
@pytest.mark.parametrize("other", ["another project", "a section of the file", "allowed"])
def test_what_is_not_switched_off_is_recorded(offline: Home, tmp_path: Path, other: str):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if other == "another project":
        (offline.folder / "paused").write_text(f"project {elsewhere}\n")
        (elsewhere / ".mkg.toml").write_text("capture = false\n")
    elif other == "a section of the file":
        (offline.project / ".mkg.toml").write_text('name = "x"\n[other]\ncapture = false\n')
    else:
        (offline.project / ".mkg.toml").write_text("capture = true\n")
    fire(offline)
    assert [r["name"] for r in offline.records()] == list(EVENTS)


@requirement("SEC-80")
def test_a_file_in_the_folder_of_the_session_counts_wherever_the_hook_runs(tmp_path: Path):
    event = prompt_event("what is said here", cwd=str(tmp_path / "deep"))
    assert took("UserPromptSubmit", event).prompt == "what is said here"
    (tmp_path / ".mkg.toml").write_text("capture = false\n")
    assert accept("UserPromptSubmit", event) is None


@requirement("SEC-80")
def test_metadata_keeps_names_and_sizes_and_no_text(tmp_path: Path):
    (tmp_path / ".mkg.toml").write_text('capture = "metadata"\n')
    told = tool_event(
        "PostToolUse", "Bash", {"command": "ls plum"}, tool_response="plum", cwd=str(tmp_path)
    )
    event = took("PostToolUse", told)
    assert (event.tool_name, event.tool_output_bytes) == ("Bash", 4)
    assert "plum" not in repr(event)
    assert took("UserPromptSubmit", prompt_event("plum", cwd=str(tmp_path))).prompt is None
    assert "plum" in repr(took("UserPromptSubmit", prompt_event("plum")))
    # The launcher's word, from the environment or the settings, counts the same.
    said = took("UserPromptSubmit", prompt_event("plum"), **{"mkg.capture": "metadata"})
    assert said.prompt is None


@requirement("SEC-80")
def test_the_worker_itself_takes_nothing_while_everything_is_paused(home: Home):
    home.start_worker()

    def offered() -> int:
        raw = json.dumps(prompt_event("x")).encode()
        head = f"MKG1 hook claude UserPromptSubmit {len(raw)} 0\n".encode()
        import socket

        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(5)
            link.connect(str(home.socket))
            link.sendall(head + raw)
            assert link.recv(4) == wire.ACK
        return len(home.records()) + len(home.applied())

    (home.folder / "paused").write_text("all\n")
    assert offered() == 0
    (home.folder / "paused").unlink()
    assert offered() > 0


@requirement("SEC-80")
def test_private_spans_reach_no_file_and_the_rest_of_the_prompt_is_kept(offline: Home):
    canary = "plum-canary-7"
    prompts = {
        f"a <private>{canary}</private> b": "a [PRIVATE] b",
        f"a <PRI\u200bVATE>{canary} </pri\u200bvate > b": "a [PRIVATE] b",
        f"a <private>x <private>{canary}</private> {canary}</private> b": "a [PRIVATE] b",
        f"a <private>{canary}": "a [PRIVATE]",
        f"a &#60;private&#62;{canary}</private> b": "a [PRIVATE] b",
    }
    for prompt in prompts:
        offline.hook("claude", "UserPromptSubmit", prompt_event(prompt))
    assert [r["prompt"] for r in offline.records()] == list(prompts.values())
    kept = b"".join(p.read_bytes() for p in offline.folder.rglob("*") if p.is_file())
    assert canary.encode() not in kept and b"[PRIVATE]" in kept


@requirement("B91", "SEC-80")
def test_pause_and_resume_write_the_state_that_the_launcher_reads(tmp_path: Path, monkeypatch):
    from mkg.cli import app

    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    for name in ("MKG_HOME", "MKG_CACHE", "MKG_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    home = bytes(tmp_path / "MKG_HOME")
    run = CliRunner().invoke

    def now(folder: Path) -> str:
        return consent.paused(home, [bytes(folder)])

    assert run(app, ["pause", "--project", str(project / "deep")]).stdout == f"paused: {project}\n"
    assert (now(project / "deep"), now(tmp_path)) == ("project", "")
    assert json.loads(run(app, ["pause", "--json"]).stdout)["all"] is True
    assert (now(project), now(tmp_path)) == ("paused", "paused")
    assert json.loads(run(app, ["worker", "status", "--json"]).stdout)["paused"] == {
        "all": True,
        "projects": [str(project)],
    }
    assert "everywhere" in run(app, ["config"]).stdout
    run(app, ["resume"])
    assert (now(project), now(tmp_path)) == ("project", "")
    run(app, ["resume", "--project", str(project / "deep")])
    assert now(project) == "" and not (tmp_path / "MKG_HOME" / "paused").exists()
    assert "no pause" in str(run(app, ["resume", "--project", str(project)]).exception)
    assert (tmp_path / "MKG_HOME").stat().st_mode & 0o77 == 0
