"""`mkg install` and `mkg uninstall`: what they write, what they keep, what they refuse."""

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from mkg.errors import ConfigError, Refused
from mkg.install import files, ledger
from mkg.install.clients import CLIENTS
from mkg.install.lines import hook_line, script_path
from tests.install.place import OWN, SETTINGS, TOML, Machine
from tests.support.requirement import requirement

NAMES = list(CLIENTS)
INSTALL, UNINSTALL = ("install", "--yes"), ("uninstall", "--yes")


def add(path: Path) -> None:
    """What a person adds to a file after the installation."""
    text = path.read_bytes().decode("utf-8")
    if path.suffix == ".toml":
        text += "\n[mine]\nlate = 1\n"
    elif "\n" not in text:
        text = text.removesuffix("}") + ', "late": [1]}'
    else:
        text = text.rstrip().removesuffix("}").rstrip() + ',\n  "late": [1]\n}'
    path.write_bytes(text.encode("utf-8"))


@requirement("SEC-66")
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("own", [False, True], ids=["nothing before", "files before"])
@pytest.mark.parametrize("client", NAMES)
def test_uninstalling_leaves_every_byte_and_mode_as_it_was(
    client: str, own: bool, scope: str, machine: Machine, tmp_path: Path
):
    if own:
        machine.write(OWN[client])
    there = Machine(tmp_path)
    kept = {k: v for k, v in there.tree().items() if not k.startswith("mkg")}
    done = machine.mkg(*INSTALL, client, "--scope", scope)
    assert done.exit_code == 0, done.output
    written = {k: v for k, v in there.tree().items() if not k.startswith("mkg")}
    assert written != kept
    again = machine.mkg(*INSTALL, client, "--scope", scope)
    assert "already" in again.output
    assert {k: v for k, v in there.tree().items() if not k.startswith("mkg")} == written

    assert machine.mkg(*UNINSTALL, client, "--scope", scope).exit_code == 0

    assert {k: v for k, v in there.tree().items() if not k.startswith("mkg")} == kept
    assert not (tmp_path / "mkg" / "installs").exists()
    assert not script_path(machine.settings()).exists()


@requirement("SEC-66")
@pytest.mark.parametrize("client", NAMES)
def test_what_a_person_added_in_between_stays_and_only_ours_goes(client: str, machine: Machine):
    machine.write(OWN[client])
    files_of_theirs = [path for path in machine.files(client) if path.exists()]
    before = machine.tree()
    for path in files_of_theirs:
        add(path)
    wanted = machine.tree()
    machine.write({n: c.decode("utf-8") for n, (_, c) in before.items() if c is not None})
    machine.mkg(*INSTALL, client)
    for path in files_of_theirs:
        add(path)
    machine.mkg(*UNINSTALL, client)
    assert machine.tree() == wanted


def test_an_odd_layout_comes_back_from_the_backup(machine: Machine):
    machine.write({".codex/hooks.json": '{ "hooks":{ } ,\n}', ".codex/config.toml": "a = 1"})
    before = machine.tree()
    machine.mkg(*INSTALL, "codex")
    machine.mkg(*UNINSTALL, "codex")
    assert machine.tree() == before


def test_an_empty_list_of_theirs_stays_when_ours_goes(machine: Machine):
    machine.write({".codex/hooks.json": '{"hooks": {"Stop": []}}'})
    path = machine.home / ".codex" / "hooks.json"
    machine.mkg(*INSTALL, "codex")
    add(path)
    machine.mkg(*UNINSTALL, "codex")
    assert json.loads(path.read_text("utf-8")) == {"hooks": {"Stop": []}, "late": [1]}


@pytest.mark.parametrize("text", ["a = 1", "a = 1 # no line end", ""])
def test_a_table_that_is_cut_from_a_changed_file_leaves_valid_lines(text: str, machine: Machine):
    machine.write({".codex/config.toml": text})
    path = machine.home / ".codex" / "config.toml"
    machine.mkg(*INSTALL, "codex")
    path.write_text(path.read_text("utf-8") + "[mine]\nb = 2\n", encoding="utf-8")
    machine.mkg(*UNINSTALL, "codex")
    left = path.read_text("utf-8")
    assert tomllib.loads(left) == {**tomllib.loads(text), "mine": {"b": 2}}
    assert left.startswith(text)


@pytest.mark.parametrize("client", NAMES)
def test_a_file_that_somebody_removed_ours_from_by_hand_is_left_alone(
    client: str, machine: Machine
):
    machine.mkg(*INSTALL, client)
    for path in machine.files(client):
        path.write_text("" if path.suffix == ".toml" else '{"mine": 1}', encoding="utf-8")
    left = machine.tree()
    assert machine.mkg(*UNINSTALL, client).exit_code == 0
    assert machine.tree() == left


@pytest.mark.parametrize("client", NAMES)
def test_every_event_and_the_server_are_registered_once(client: str, machine: Machine):
    machine.write(OWN[client])
    machine.mkg(*INSTALL, client)
    script, row = script_path(machine.settings()), CLIENTS[client]
    texts = [path.read_text("utf-8") for path in machine.files(client)]
    for event in row.events:
        line = json.dumps(hook_line(script, client, event))
        assert sum(text.count(line) for text in texts) == 1
    assert sum(text.count(json.dumps(str(script))) for text in texts) == 1


def test_codex_gets_a_table_whose_tools_need_no_approval_and_that_it_can_live_without(
    machine: Machine,
):
    machine.write(OWN["codex"])
    machine.mkg(*INSTALL, "codex")
    text = (machine.home / ".codex" / "config.toml").read_text("utf-8")
    assert text.startswith(TOML)
    servers = tomllib.loads(text)["mcp_servers"]
    assert servers["other"] == {"command": "y"}
    assert servers["mkg"]["default_tools_approval_mode"] == "approve"
    # A required server that cannot start would keep Codex from starting.
    assert "required" not in servers["mkg"]


@requirement("CL-36")
def test_the_hook_lines_are_these_in_every_version(machine: Machine):
    script = Path("/home/o'neil/.local/share/meta-knowledge-graph/hook")
    assert hook_line(script, "codex", "Stop") == (
        "[ -f '/home/o'\\''neil/.local/share/meta-knowledge-graph/hook' ] && /bin/sh "
        "'/home/o'\\''neil/.local/share/meta-knowledge-graph/hook' codex Stop || true"
    )
    shared = machine.home / ".local" / "share" / "meta-knowledge-graph" / "hook"
    assert hook_line(shared, "claude", "Stop", portable=True) == (
        '[ -f "$HOME/.local/share/meta-knowledge-graph/hook" ] && /bin/sh '
        '"$HOME/.local/share/meta-knowledge-graph/hook" claude Stop || true'
    )


@requirement("CL-36")
def test_a_program_that_moved_changes_the_script_and_no_client_file(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    machine.mkg(*INSTALL, "codex")
    registered, script = machine.tree(), script_path(machine.settings())
    script.write_text(script.read_text("utf-8").replace("launcher=/", "launcher=/old/"), "utf-8")
    machine.mkg("config")
    assert "/old/" not in script.read_text("utf-8")
    assert machine.tree() == registered


def test_a_line_of_an_earlier_home_is_replaced_and_what_a_person_added_to_the_server_stays(
    machine: Machine,
):
    machine.mkg(*INSTALL, "gemini")
    machine.mkg(*INSTALL, "codex")
    for client in ("gemini", "codex"):
        for path in machine.files(client):
            text = path.read_text("utf-8").replace(str(machine.settings().home), "/old/home")
            text = text.replace('"command": "/bin/sh"', '"command": "/bin/sh", "trust": true')
            path.write_text(text.replace("args = ", "cwd = '/'\nargs = "), "utf-8")
    for client in ("gemini", "codex"):
        assert machine.mkg(*INSTALL, client).exit_code == 0
        for path in machine.files(client):
            assert "/old/home" not in path.read_text("utf-8")
    gemini = json.loads(machine.files("gemini")[0].read_text("utf-8"))
    assert gemini["mcpServers"]["mkg"]["trust"] is True
    assert [len(members) for members in gemini["hooks"].values()] == [1] * len(gemini["hooks"])
    assert "cwd = '/'" in machine.files("codex")[1].read_text("utf-8")


def test_a_dry_run_shows_the_difference_and_changes_nothing(machine: Machine):
    machine.write(OWN["claude"])
    before = machine.tree()
    done = machine.mkg("install", "claude", "--dry-run")
    assert '+    "SessionStart": [' in done.output and "/dev/null" not in done.output
    assert machine.tree() == before and not (machine.settings().home / "installs").exists()


def test_without_a_yes_nothing_is_changed(machine: Machine):
    before = machine.tree()
    done = machine.mkg("install", "claude")
    assert isinstance(done.exception, Refused) and "--yes" in str(done.exception)
    assert machine.tree() == before


def test_a_secret_beside_our_lines_is_not_shown(machine: Machine):
    secret = "sk-ant-api03-" + "Zz9_" * 20 + "AA"
    machine.write({".claude/settings.json": f'{{\n  "env": {{"K": "{secret}"}}\n}}\n'})
    done = machine.mkg("install", "claude", "--dry-run", "--json")
    assert done.exit_code == 0 and secret not in done.output
    assert secret in (machine.home / ".claude" / "settings.json").read_text("utf-8")
    shown = json.loads(done.output)
    assert [row["action"] for row in shown["files"]] == ["change", "create"]
    assert shown["applied"] is False


BROKEN = {
    "half": '{"hooks": {',
    "a list": "[]",
    "hooks of another form": '{"hooks": []}',
    "an event of another form": '{"hooks": {"Stop": {}}}',
    "not text": "\udcff",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_and_nothing_is_changed(name: str, machine: Machine):
    path = machine.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(BROKEN[name].encode("utf-8", "surrogateescape"))
    before = machine.tree()
    for command in (INSTALL, UNINSTALL):
        done = machine.mkg(*command, "claude")
        assert isinstance(done.exception, ConfigError) and str(path) in str(done.exception)
    assert machine.tree() == before


def test_a_broken_toml_file_is_refused_before_its_neighbour_is_written(machine: Machine):
    machine.write({".codex/config.toml": "a = [1\n"})
    before = machine.tree()
    done = machine.mkg(*INSTALL, "codex")
    assert isinstance(done.exception, ConfigError) and "TOML" in str(done.exception)
    assert machine.tree() == before


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude", ".claude.json", '{"mcpServers": {"mkg": {"command": "theirs"}}}'),
        ("codex", ".codex/config.toml", '[mcp_servers.mkg]\ncommand = "theirs"\n'),
        ("codex", ".codex/config.toml", 'mcp_servers = { x = { command = "y" } }\n'),
    ],
)
def test_what_cannot_be_put_in_safely_is_refused_with_a_way_out(
    client: str, name: str, text: str, machine: Machine
):
    machine.write({name: text})
    before = machine.tree()
    done = machine.mkg(*INSTALL, client)
    assert isinstance(done.exception, Refused) and name in str(done.exception)
    assert machine.tree() == before


def test_a_file_that_changes_while_the_question_waits_is_not_overwritten(machine: Machine):
    path = machine.home / "x.json"
    path.write_text("2")
    with pytest.raises(Refused, match="meanwhile"):
        files.replace(path, b"1", b"3", private=True)
    files.replace(path, b"2", b"3", private=True)
    assert path.read_text() == "3"


def test_when_the_second_file_cannot_be_written_the_first_is_as_before(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    machine.write(OWN["codex"])
    before = machine.tree()
    replace, seen = files.replace, []

    def failing(path: Path, *args: object, **options: object) -> None:
        seen.append(path)
        if len(seen) == 2:
            raise ConfigError("disk full")
        replace(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "replace", failing)
    assert isinstance(machine.mkg(*INSTALL, "codex").exception, ConfigError)
    assert machine.tree() == before


def test_a_link_is_followed_and_stays_a_link(machine: Machine, tmp_path: Path):
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text(SETTINGS, encoding="utf-8")
    (machine.home / ".claude").mkdir()
    (machine.home / ".claude" / "settings.json").symlink_to(real)
    machine.mkg(*INSTALL, "claude")
    assert (machine.home / ".claude" / "settings.json").is_symlink()
    assert "SessionStart" in real.read_text("utf-8")
    machine.mkg(*UNINSTALL, "claude")
    assert real.read_text("utf-8") == SETTINGS


def test_new_files_backups_and_ledger_are_the_users_alone(machine: Machine):
    machine.write(OWN["claude"])
    os.umask(0o022)
    machine.mkg(*INSTALL, "claude")
    machine.mkg(*INSTALL, "copilot")
    home = machine.settings().home
    private = [home / "hook", home / "installs", *(home / "installs").iterdir()]
    private.append(machine.home / ".copilot" / "hooks" / "mkg.json")
    assert len(private) == 6
    assert [stat.S_IMODE(p.stat().st_mode) & 0o077 for p in private] == [0] * 6


@pytest.mark.parametrize(
    ("client", "variable"), [("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")]
)
def test_a_client_whose_folder_was_moved_is_found_there(
    client: str, variable: str, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(variable, str(tmp_path / "moved"))
    machine.mkg(*INSTALL, client)
    assert machine.tree() == {} and len(list((tmp_path / "moved").iterdir())) == 2
    # Without the variable the ledger still knows.
    monkeypatch.delenv(variable)
    machine.mkg(*UNINSTALL, client)
    assert not (tmp_path / "moved").exists()


@pytest.mark.parametrize("client", ["gemini", "copilot"])
def test_no_other_variable_moves_an_installation(
    client: str, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("GEMINI_CLI_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "moved"))
    machine.mkg(*INSTALL, client)
    assert machine.tree() and not (tmp_path / "moved").exists()


def test_a_lost_ledger_is_no_hindrance(machine: Machine):
    machine.write(OWN["claude"])
    machine.mkg(*INSTALL, "claude")
    for path in (machine.settings().home / "installs").iterdir():
        path.unlink()
    assert "already" in machine.mkg(*INSTALL, "claude").output
    machine.mkg(*UNINSTALL, "claude")
    left = json.loads(machine.files("claude")[1].read_text("utf-8"))
    assert "mkg" not in left.get("mcpServers", {}) and left["n"] == [1]


def test_a_damaged_ledger_is_named(machine: Machine):
    machine.mkg(*INSTALL, "claude")
    book = ledger.Ledger(machine.settings().home)
    book.path.write_text("{", encoding="utf-8")
    done = machine.mkg(*UNINSTALL, "claude")
    assert isinstance(done.exception, ConfigError) and "ledger.json" in str(done.exception)


@pytest.mark.parametrize("face", ["encounter", "both"])
def test_a_face_that_is_not_here_is_refused(face: str, machine: Machine):
    done = machine.mkg(*INSTALL, "claude", "--face", face)
    assert isinstance(done.exception, Refused) and "not here yet" in str(done.exception)
    assert machine.tree() == {}


@pytest.mark.parametrize("name", ["cursor", "custom:", "custom:A b", "custom:a/b"])
def test_an_unknown_client_is_refused(name: str, machine: Machine):
    assert isinstance(machine.mkg(*INSTALL, name).exception, Refused)


def test_a_program_of_ones_own_is_told_what_to_register(machine: Machine):
    done = machine.mkg("install", "custom:my-agent", "--json")
    shown = json.loads(done.output)
    assert shown["hook"] == hook_line(script_path(machine.settings()), "custom:my-agent", "EVENT")
    assert shown["server"]["mcpServers"]["mkg"]["command"] == "/bin/sh"
    assert script_path(machine.settings()).is_file() and machine.tree() == {}
