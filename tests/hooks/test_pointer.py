"""Which interpreter and socket the launcher follows, and whose word it does not take."""

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mkg_hooks import consent, launcher, notice, starting
from mkg_hooks.spool import Cursor, Spool
from tests.hooks.launching import (
    LAUNCH,
    ROOT,
    Home,
    make_home,
    prompt_event,
    start_event,
    write_pointer,
)
from tests.support.requirement import requirement

INSTALL = launcher.LINES["missing"]


@pytest.fixture
def offline(tmp_path: Path) -> Home:
    """A home in which no worker can be started."""
    made = make_home(tmp_path / "home")
    (made.folder / "python").write_text("#!/bin/sh\n")
    return made


def said(home: Home, event: str = "SessionStart", **environment: str) -> str | None:
    """What the launcher tells the user, having stored nothing unless it followed the pointer."""
    env = home.environment(**environment)
    done = home.hook("claude", event, start_event(), env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)["systemMessage"] if done.stdout else None


def stored(home: Home) -> int:
    return len(Spool(home.spool).read(Cursor(0), 100))


def test_without_a_pointer_a_start_says_how_to_install_and_other_events_say_nothing(offline: Home):
    (offline.folder / "pointer").unlink()
    assert said(offline) == INSTALL and "pip install" in INSTALL
    assert said(offline, "UserPromptSubmit") is None
    shutil.rmtree(offline.folder)
    assert said(offline) == INSTALL
    assert said(offline, MKG_HOME="relative/home") == INSTALL
    codex = offline.hook("codex", "SessionStart", start_event())
    assert json.loads(codex.stdout) == {"systemMessage": INSTALL}
    # Gemini takes an empty answer as a reason to read stderr.
    assert offline.hook("gemini", "SessionStart", start_event()).stdout == b"{}"


def spoil(home: Home, how: str) -> None:
    pointer = home.folder / "pointer"
    if how == "readable by others":
        pointer.chmod(0o644)
    elif how == "a symbolic link":
        pointer.rename(home.folder / "real")
        pointer.symlink_to(home.folder / "real")
    elif how == "a fifo":
        pointer.unlink()
        os.mkfifo(pointer, 0o600)
    elif how == "a folder":
        pointer.unlink()
        pointer.mkdir()
    elif how == "in a folder others can write":
        home.folder.chmod(0o777)
    elif how == "another user's":
        os.chown(pointer, 12345, 12345)
    elif how == "without a socket":
        write_pointer(home.folder, socket="")
    elif how == "with a relative interpreter":
        write_pointer(home.folder, python="bin/python")
    elif how == "empty":
        pointer.write_bytes(b"")
    else:
        pointer.write_bytes(os.urandom(70_000))


SPOILT = (
    "readable by others",
    "a symbolic link",
    "a fifo",
    "a folder",
    "in a folder others can write",
    "without a socket",
    "with a relative interpreter",
    "empty",
    "garbage",
)


# Only root gives files away.
@pytest.mark.parametrize("how", [*SPOILT, *([] if os.geteuid() else ["another user's"])])
def test_a_pointer_somebody_else_could_have_written_is_not_followed(offline: Home, how):
    assert said(offline) == notice.KEPT and stored(offline) == 1
    spoil(offline, how)
    assert said(offline) == launcher.LINES["refused"]
    assert said(offline, "UserPromptSubmit") is None
    assert stored(offline) == 1 and not offline.socket.exists()


@pytest.mark.parametrize("by", ["cwd", "variable", "link"])
def test_a_memory_home_inside_the_project_is_not_followed(tmp_path: Path, by):
    project = tmp_path / "project"
    project.mkdir()
    made = make_home(project / "hidden")
    (made.folder / "python").write_text("#!/bin/sh\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outside = Home(made.folder, elsewhere)
    assert said(outside) == notice.KEPT
    inside = Home(made.folder, project) if by == "cwd" else outside
    more = {"CLAUDE_PROJECT_DIR": str(project)} if by == "variable" else {}
    if by == "link":
        link = elsewhere / "link"
        link.symlink_to(made.folder)
        more = {"CLAUDE_PROJECT_DIR": str(project), "MKG_HOME": str(link)}
    assert said(inside, **more) == launcher.LINES["inside"]
    assert stored(made) == 1


def test_a_session_in_the_users_own_home_folder_keeps_its_memory(offline: Home, monkeypatch):
    monkeypatch.setattr(launcher, "user_home", lambda: str(offline.folder.parent).encode())
    env = {b"CLAUDE_PROJECT_DIR": str(offline.folder.parent).encode()}
    assert not launcher.chosen_by_project(str(offline.folder).encode(), env)
    monkeypatch.setattr(launcher, "user_home", lambda: b"/nowhere")
    assert launcher.chosen_by_project(str(offline.folder).encode(), env)


def test_the_memory_home_is_found_as_the_settings_find_it(tmp_path: Path, monkeypatch):
    from mkg.settings import load_settings

    for given in ({"MKG_HOME": str(tmp_path / "a")}, {"XDG_DATA_HOME": str(tmp_path / "b")}, {}):
        for name in ("MKG_HOME", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        env = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()}
        assert launcher.memory_home(env) == os.fsencode(load_settings().home)


def test_the_pointer_that_mkg_writes_is_one_the_launcher_follows(tmp_path: Path):
    from mkg.pointer import write_pointer
    from mkg.settings import load_settings

    settings = load_settings()
    write_pointer(settings)
    env = {b"MKG_HOME": os.fsencode(settings.home)}
    found = launcher.read_pointer(launcher.memory_home(env), env)
    assert found["python"] == os.fsencode(sys.executable)
    assert found["socket"] == os.fsencode(settings.paths.socket)
    assert found["spool"] == os.fsencode(settings.paths.spool_dir)
    assert found["hmac"] == os.fsencode(settings.paths.hmac_key)


def test_a_socket_of_somebody_else_is_not_spoken_to(offline: Home):
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    import socket

    server = socket.socket(socket.AF_UNIX)
    offline.socket.parent.mkdir()
    server.bind(str(offline.socket))
    server.listen(1)
    server.settimeout(0.2)
    os.chown(offline.socket, 12345, 12345)
    assert said(offline) == notice.KEPT
    with pytest.raises(TimeoutError):
        server.accept()
    server.close()
    assert stored(offline) == 1


def test_the_worker_gets_no_key_no_host_and_no_path_of_the_project(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project, own = tmp_path / "p", tmp_path / "own"
    (project / "cache").mkdir(parents=True)
    own.mkdir()
    env = {
        b"PATH": b"/usr/bin",
        b"LC_ALL": b"C",
        b"ANTHROPIC_API_KEY": b"k",
        b"NEO4J_URI": b"bolt://evil",
        b"PYTHONPATH": b"/p",
        b"LD_PRELOAD": b"/p/x.so",
        b"MKG_ENV_FILE": b"/p/.env",
        b"CLAUDE_PROJECT_DIR": os.fsencode(project),
        b"MKG_CACHE": os.fsencode(project / "cache"),
        b"MKG_CONFIG_DIR": os.fsencode(own),
        b"HOME": b"relative",
    }
    monkeypatch.chdir("/")
    monkeypatch.setattr(launcher, "user_home", lambda: b"/nowhere")
    monkeypatch.setattr(
        launcher, "project_folders", lambda env: {consent.identity(os.fsencode(project))}
    )
    child = starting.environment({}, b"/h", env, launcher.chosen_by_project)
    assert child == {
        b"MKG_HOME": b"/h",
        b"PATH": b"/usr/bin",
        b"LC_ALL": b"C",
        b"MKG_CONFIG_DIR": os.fsencode(own),
    }


def test_a_worker_that_dies_at_once_is_not_started_for_every_event(offline: Home):
    (offline.folder / "python").write_text(
        f"#!/bin/sh\necho x >> {shlex.quote(str(offline.folder / 'tries'))}\n"
    )
    for number in range(4):
        offline.hook("claude", "UserPromptSubmit", prompt_event("x", f"p{number}"))
    from tests.hooks.launching import wait_until

    wait_until((offline.folder / "tries").exists)
    assert (offline.folder / "tries").read_text() == "x\n"
    os.utime(offline.spool / "starting", (1, 1))
    offline.hook("claude", "UserPromptSubmit", prompt_event("x", "p9"))
    wait_until(lambda: (offline.folder / "tries").read_text() == "x\nx\n")


@requirement("B9")
def test_folders_with_spaces_and_apostrophes_change_nothing(tmp_path: Path):
    plugin = tmp_path / "My Plugin (x86)"
    shutil.copytree(ROOT / "hooks", plugin / "hooks", ignore=shutil.ignore_patterns("__pycache__"))
    home = make_home(tmp_path / "Ann's home folder")
    (home.folder / "python").write_text("#!/bin/sh\n")
    hooks = json.loads((ROOT / "plugin" / "claude" / "hooks.json").read_text())["hooks"]
    for event, payload in {
        "SessionStart": start_event(),
        "UserPromptSubmit": prompt_event("hi"),
    }.items():
        command = hooks[event][0]["hooks"][0]["command"]
        env = home.environment(
            CLAUDE_PLUGIN_ROOT=str(plugin), PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin"
        )
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(payload).encode(),
            capture_output=True,
            env=env,
            cwd=home.project,
            timeout=10,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert stored(home) == 2


@requirement("CL-05", "CL-11", "ENC-W61")
def test_what_runs_before_the_version_is_known_is_old_python():
    # The grammar of 3.6: no walrus, no match, no parenthesised with, no positional-only parameter.
    for name in (
        "launch.py",
        "mkg_hooks/__init__.py",
        "mkg_hooks/launcher.py",
        "mkg_hooks/starting.py",
        "mkg_hooks/mcp_entry.py",
        "mkg_hooks/not_ready.py",
    ):
        ast.parse((LAUNCH.parent / name).read_text(), feature_version=(3, 6))
    with pytest.raises(SyntaxError):
        ast.parse("if (a := 1): pass", feature_version=(3, 6))


@requirement("CL-11")
def test_an_interpreter_too_old_for_the_package_lets_the_installed_one_keep_the_event(
    tmp_path: Path,
):
    home = make_home(tmp_path / "home")
    # The pointer's interpreter: a real one for the deputy, nothing for a worker.
    (home.folder / "python").write_text(
        f'#!/bin/sh\n[ "$1" = -P ] || exec {shlex.quote(sys.executable)} "$@"\n'
    )
    program = (
        "import sys, posix; sys.version_info = (3, 8); sys.path.insert(0, sys.argv[1]);"
        "from mkg_hooks import launcher;"
        "launcher.main([sys.argv[1] + '/launch.py', 'claude', 'UserPromptSubmit'], posix.environ)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(LAUNCH.parent)],
        capture_output=True,
        input=json.dumps(prompt_event("kept by a deputy")).encode(),
        env=home.environment(),
        cwd=home.project,
        timeout=10,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == {"systemMessage": notice.KEPT}
    ((_, record),) = Spool(home.spool).read(Cursor(0), 10)
    assert record["prompt"] == "kept by a deputy"


OLD = sorted(Path.home().glob(".pyenv/versions/3.[678].*/bin/python"))


@pytest.mark.skipif(not OLD, reason="no old interpreter on this machine")
@pytest.mark.parametrize("flags", [("-I", "-S"), ()])
def test_a_real_old_interpreter_exits_0_and_keeps_the_event(tmp_path: Path, flags):
    home = make_home(tmp_path / "home")
    (home.folder / "python").write_text(
        f'#!/bin/sh\n[ "$1" = -P ] || exec {shlex.quote(sys.executable)} "$@"\n'
    )
    for number, old in enumerate(OLD):
        done = home.hook(
            "claude",
            "UserPromptSubmit",
            prompt_event("x", f"p{number}"),
            python=str(old),
            flags=flags,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    assert stored(home) == len(OLD)


def test_a_module_in_the_project_is_never_imported(offline: Home):
    for name in ("_socket", "select", "mkg_hooks", "json", "posix", "time"):
        (offline.project / f"{name}.py").write_text(
            "open('/dev/stderr', 'w').write('taken over')\nraise SystemExit(2)\n"
        )
    for flags in (("-I", "-S"), ()):
        done = offline.launch(
            "claude",
            "UserPromptSubmit",
            stdin=json.dumps(prompt_event("x")).encode(),
            flags=flags,
            env=offline.environment(PYTHONPATH="."),
        )
        # Python itself imports from PYTHONPATH before any script runs; only the flags stop that.
        assert (done.returncode, done.stderr) == (0, b"")
    assert stored(offline) == 2
