"""Settings: one order, private files, and a repository that may not choose the store (D17)."""

import os
import stat
from pathlib import Path

import pytest

from mkg.errors import ConfigError, Refused
from mkg.pointer import write_pointer
from mkg.private import private_dir, write_private
from mkg.settings import load_settings
from tests.support.requirement import requirement

SECRET = "long-enough-secret"


def user_file(home: Path, text: str, mode: int = 0o600) -> Path:
    path = home / ".config" / "meta-knowledge-graph" / ".env"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


@requirement("MEM-W63", "MEM-T110")
def test_the_environment_of_a_shell_wins_over_the_user_file(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file(own_home, f"NEO4J_URI=bolt+s://file:1\nNEO4J_PASSWORD={SECRET}\nMKG_RECALL_LIMIT=3\n")
    found = load_settings().store
    assert found.uri == "bolt+s://file:1"
    assert found.password is not None and found.password.get_secret_value() == SECRET
    monkeypatch.setenv("NEO4J_URI", "bolt+s://shell:2")
    settings = load_settings()
    assert settings.store.uri == "bolt+s://shell:2"
    assert settings.recall_limit == 3
    assert settings.sources["store.uri"] == "environment"
    assert settings.sources["recall_limit"] == "user file"


@requirement("SEC-06", "SEC-57")
def test_the_environment_of_a_client_chooses_no_store_and_no_program(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file(own_home, f"NEO4J_URI=bolt+s://file:1\nNEO4J_PASSWORD={SECRET}\n")
    for name, value in {
        "NEO4J_URI": "bolt+s://evil:2",
        "NEO4J_PASSWORD": "stolen-stolen",
        "MKG_JAVA": "/tmp/evil/java",
        "MKG_USER_ID": "ann",
    }.items():
        monkeypatch.setenv(name, value)
    settings = load_settings(origin="client")
    assert settings.store.uri == "bolt+s://file:1"
    assert settings.java is None
    assert settings.user_id == "ann"
    assert load_settings().store.uri == "bolt+s://evil:2"


@requirement("SEC-57")
def test_a_folder_variable_that_points_into_the_project_counts_for_a_shell_only(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    planted = project / ".config"
    planted.mkdir(parents=True)
    (planted / ".env").touch(mode=0o600)
    (planted / ".env").write_text(f"NEO4J_URI=bolt+s://evil:2\nNEO4J_PASSWORD={SECRET}\n")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    monkeypatch.setenv("MKG_CONFIG_DIR", str(planted))
    assert load_settings(origin="client").store.uri is None
    assert load_settings(origin="shell").store.uri == "bolt+s://evil:2"
    monkeypatch.setenv("MKG_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert load_settings(origin="client").config_dir == tmp_path / "elsewhere"


@requirement("SEC-06", "SEC-57")
def test_a_folders_file_chooses_the_store_only_while_it_is_trusted_as_it_stands(
    own_home: Path, tmp_path: Path
) -> None:
    from mkg.cli.basics import trust

    user_file(own_home, f"NEO4J_PASSWORD={SECRET}\n")
    project = tmp_path / "project"
    project.mkdir()
    file = project / ".mkg.toml"
    file.write_text('name = "x"\nneo4j_uri = "bolt+s://theirs:7"\n', encoding="utf-8")
    assert load_settings(folder=project).store.uri is None
    trust(project, yes=True)
    assert load_settings(folder=project).store.uri == "bolt+s://theirs:7"
    file.write_text('name = "x"\nneo4j_uri = "bolt+s://evil:7"\n', encoding="utf-8")
    assert load_settings(folder=project).store.uri is None
    trust(project, yes=True)
    trust(project, remove=True)
    assert load_settings(folder=project).store.uri is None


def test_trust_is_for_files_that_choose_something(own_home: Path, tmp_path: Path) -> None:
    from mkg.cli.basics import trust

    with pytest.raises(Refused, match=r"no \.mkg\.toml"):
        trust(tmp_path, yes=True)
    (tmp_path / ".mkg.toml").write_text('name = "x"\n', encoding="utf-8")
    with pytest.raises(Refused, match="needs trust"):
        trust(tmp_path, yes=True)
    (tmp_path / ".mkg.toml").write_text('api_key = "x"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="unknown keys"):
        trust(tmp_path, yes=True)


@requirement("SEC-58")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_user_file_that_others_may_read_is_refused_with_the_command_to_run(
    own_home: Path, mode: int
) -> None:
    path = user_file(own_home, "MKG_RECALL_LIMIT=3\n", mode)
    with pytest.raises(ConfigError, match="chmod 600"):
        load_settings()
    path.chmod(0o600)
    assert load_settings().recall_limit == 3


@requirement("SEC-58", "SEC-59")
def test_a_link_or_a_pipe_in_place_of_the_user_file_is_refused(own_home: Path) -> None:
    path = user_file(own_home, "")
    elsewhere = own_home / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="safely"):
        load_settings()
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(ConfigError, match="regular file"):
        load_settings()


@requirement("SEC-63")
@pytest.mark.parametrize("password", ["", "neo4j", "password"])
def test_a_store_with_a_well_known_password_is_refused(own_home: Path, password: str) -> None:
    user_file(own_home, f"NEO4J_URI=bolt://127.0.0.1:7687\nNEO4J_PASSWORD={password}\n")
    with pytest.raises(ConfigError, match="well-known default"):
        load_settings()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MKG_MODULES=review,nonsense", "unknown modules"),
        ("MKG_RECALL_LIMIT=many", "MKG_RECALL_LIMIT"),
        ("MKG_SPOOL_MB=15", "MKG_SPOOL_MB"),
        (f"NEO4J_URI=http://127.0.0.1:7474\nNEO4J_PASSWORD={SECRET}", "bolt:// or neo4j://"),
    ],
)
def test_a_value_that_does_not_fit_is_named(own_home: Path, line: str, message: str) -> None:
    user_file(own_home, line + "\n")
    with pytest.raises(ConfigError, match=message):
        load_settings()


def test_no_settings_text_shows_a_password(own_home: Path) -> None:
    user_file(own_home, f"NEO4J_URI=bolt://127.0.0.1:7687\nNEO4J_PASSWORD={SECRET}\n")
    assert SECRET not in repr(load_settings())


def test_loading_settings_leaves_nothing_on_disk(own_home: Path, tmp_path: Path) -> None:
    load_settings()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home"]
    assert list(own_home.iterdir()) == []


def test_two_stores_have_two_sockets_and_two_spools(own_home: Path) -> None:
    one = load_settings()
    user_file(own_home, f"NEO4J_URI=bolt://127.0.0.1:7687\nNEO4J_PASSWORD={SECRET}\n")
    other = load_settings()
    assert one.paths.socket != other.paths.socket
    assert one.paths.spool_dir != other.paths.spool_dir


def test_a_socket_path_stays_short_below_a_long_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MKG_HOME", str(tmp_path / ("x" * 90)))
    assert len(str(load_settings().paths.socket)) < 100


@requirement("SEC-59")
def test_private_files_are_private_from_the_start_and_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_private(path, "one")
    write_private(path, "two")
    assert path.read_text() == "two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_a_private_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match="folder of your own"):
        private_dir(tmp_path / "link")
    assert private_dir(tmp_path / "real").is_dir()


def test_the_pointer_names_interpreter_socket_and_spool(own_home: Path) -> None:
    settings = load_settings()
    path = write_pointer(settings)
    values = dict(line.split("=", 1) for line in path.read_text().splitlines())
    assert values["socket"] == str(settings.paths.socket)
    assert values["spool"] == str(settings.paths.spool_dir)
    assert Path(values["python"]).exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@requirement("SEC-06", "SEC-57")
def test_the_environment_of_a_client_chooses_nothing_about_models(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file(own_home, "LLM_MODEL=openai/mine\nOPENAI_API_KEY=sk-mine\n")
    for name, value in {
        "LLM_MODEL": "openai/theirs",
        "MKG_LLM_BASE_URL": "https://evil.test/v1",
        "ANTHROPIC_BASE_URL": "https://evil.test",
        "MKG_LLM_DAILY_USD": "1000",
        "GEMINI_API_KEY": "theirs",
    }.items():
        monkeypatch.setenv(name, value)
    llm = load_settings(origin="client").llm
    assert (llm.model, llm.base_url, llm.anthropic_url) == ("openai/mine", None, None)
    assert (llm.daily_usd, llm.gemini_key) == (1.0, None)
    assert load_settings().llm.base_url == "https://evil.test/v1"
    assert "sk-mine" not in repr(llm)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MKG_LLM_BACKEND", "gpt"),
        ("MKG_LLM_TASKS", "extract"),
        ("MKG_LLM_NUM_RETRIES", "-1"),
        ("MKG_LLM_TIMEOUT", "0"),
        ("MKG_LLM_DAILY_TOKENS", "many"),
        ("MKG_LLM_DAILY_USD", "inf"),
        ("MKG_CLAUDE_CLI_TIMEOUT", "1000"),
    ],
)
def test_a_value_for_models_that_does_not_fit_is_named(
    own_home: Path, name: str, value: str
) -> None:
    user_file(own_home, f"{name}={value}\n")
    with pytest.raises(ConfigError, match=name):
        load_settings()


def test_model_access_has_defaults_that_ask_nobody_and_a_cap() -> None:
    llm = load_settings().llm
    assert (llm.model, llm.backend, llm.base_url, llm.retries) == (None, "auto", None, 3)
    assert (llm.daily_tokens, llm.daily_usd, llm.timeout_s) == (500_000, 1.0, 60.0)
    assert llm.claude_cli_timeout_s == 60.0
