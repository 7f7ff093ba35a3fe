"""All settings, from one place and in one order.

Order: argument, environment, the user's file, a trusted folder's `.mkg.toml`, default (style 4.14).
A process that an agent client started (`origin="client"`) does not take hosts, keys or paths of a
store from its environment: a repository's own settings can reach that environment (D17).
Only this module reads the environment; `hooks/launch.py` has its written exceptions.
"""

import hashlib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from mkg import model_settings
from mkg.env_file import read_env_file
from mkg.errors import ConfigError
from mkg.json_shape import as_object
from mkg.model_settings import ModelSettings
from mkg.reach import check_password, check_store

APP = "meta-knowledge-graph"
MODULES = ("review", "query_errors", "diffbot_ingest", "prompt_versions", "enrichment")
Origin = Literal["shell", "client"]
RETAIN = r"^((events|outputs|episodes|deliveries|unused)=\d{1,5}(,|$))+$"

# What a project's file may say without being trusted: nothing that names a host, a key, a command
# or a path we act on.
PROJECT_KEYS = frozenset({"name", "worktrees", "capture"})
TRUSTED_KEYS = frozenset({"neo4j_uri", "neo4j_database"})
# What a client's environment may not choose.
_STORE_VARIABLES = (
    *("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD", "NEO4J_DATABASE", "MKG_ALLOW_INSECURE"),
    "MKG_RETAIN",  # a repository must not make a memory short
)
# What it may choose in one direction only: a repository may close what these open.
_CLOSING = {"MKG_READ_CYPHER": "off", "MKG_LOCAL_ONLY": "on", "MKG_REVIEW_CHANNEL": "person"}


class StoreSettings(BaseModel):
    """Which database holds the memory; `uri=None` is the managed local server."""

    model_config = ConfigDict(frozen=True)

    uri: str | None = None
    username: str = "neo4j"
    password: SecretStr | None = None
    database: str = "neo4j"


@dataclass(frozen=True, slots=True)
class Paths:
    """Where state lives; everything below `home` but the cache and the user's file."""

    home: Path
    cache: Path
    config_file: Path
    store_dir: Path
    spool_dir: Path
    log_dir: Path
    runtime_dir: Path
    socket: Path
    worker_lock: Path
    pointer: Path
    hmac_key: Path
    trust: Path
    projects: Path


class Settings(BaseModel):
    """Effective settings of one process, and where each value came from (`sources`)."""

    model_config = ConfigDict(frozen=True)

    home: Path
    cache: Path
    config_dir: Path
    runtime_dir: Path
    store: StoreSettings = StoreSettings()
    modules: tuple[str, ...] = ("review", "query_errors", "diffbot_ingest")
    user_id: str | None = None
    embedding_model: str = "minilm-l6-int8"
    capture: Literal["on", "metadata", "off"] = "on"
    inject: bool = True
    recall_limit: int = 5
    consistency_gate: bool = True
    consistency_topk: int = Field(default=15, ge=1, le=50)
    consistency_sweep_limit: int = Field(default=8, ge=0, le=200)
    worker_idle_s: int = 1800
    retain: str = Field(default="unused=365", pattern=RETAIN)
    spool_mb: int = Field(default=2048, ge=16)
    log_level: str = "info"
    read_cypher: Literal["auto", "on", "off"] = "auto"
    review_channel: Literal["person", "agent"] = "person"
    allow_insecure: tuple[str, ...] = ()
    local_only: bool = False
    java: str | None = None
    heap: str | None = None
    llm: ModelSettings = ModelSettings()
    sources: dict[str, str] = {}

    @property
    def store_id(self) -> str:
        """12 hex characters that name the effective store: sockets and spools are per store."""
        uri = self.store.uri or f"managed:{self.home / 'stores' / 'default'}"
        text = "\n".join((uri, self.store.username, self.store.database))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def paths(self) -> Paths:
        """Every path of this home and store."""
        return Paths(
            home=self.home,
            cache=self.cache,
            config_file=self.config_dir / ".env",
            store_dir=self.home / "stores" / "default",
            spool_dir=self.home / "spool" / self.store_id,
            log_dir=self.home / "logs",
            runtime_dir=self.runtime_dir,
            socket=self.runtime_dir / f"w-{self.store_id}.sock",
            worker_lock=self.runtime_dir / f"w-{self.store_id}.lock",
            pointer=self.home / "pointer",
            hmac_key=self.home / "hmac.key",
            trust=self.home / "trust.json",
            projects=self.home / "projects.json",
        )


# setting field -> environment variable (also the key in the user's file)
VARIABLES = {
    "store.uri": "NEO4J_URI",
    "store.username": "NEO4J_USERNAME",
    "store.password": "NEO4J_PASSWORD",
    "store.database": "NEO4J_DATABASE",
    "modules": "MKG_MODULES",
    "user_id": "MKG_USER_ID",
    "embedding_model": "EMBEDDING_MODEL",
    "capture": "MKG_CAPTURE",
    "inject": "MKG_INJECT",
    "recall_limit": "MKG_RECALL_LIMIT",
    "consistency_gate": "MKG_CONSISTENCY_GATE",
    "consistency_topk": "MKG_CONSISTENCY_TOPK",
    "consistency_sweep_limit": "MKG_CONSISTENCY_SWEEP_LIMIT",
    "worker_idle_s": "MKG_WORKER_IDLE_S",
    "retain": "MKG_RETAIN",
    "spool_mb": "MKG_SPOOL_MB",
    "log_level": "MKG_LOG_LEVEL",
    "read_cypher": "MKG_READ_CYPHER",
    "review_channel": "MKG_REVIEW_CHANNEL",
    "allow_insecure": "MKG_ALLOW_INSECURE",
    "local_only": "MKG_LOCAL_ONLY",
    "java": "MKG_JAVA",
    "heap": "MKG_HEAP",
    **model_settings.VARIABLES,
}
SECRETS = frozenset({"NEO4J_PASSWORD", *model_settings.SECRETS})
FOLDER_VARIABLES = {"home": "MKG_HOME", "cache": "MKG_CACHE", "config_dir": "MKG_CONFIG_DIR"}
_EXECUTABLE = frozenset({"MKG_JAVA"})
_CLIENT_MARKS = ("CLAUDECODE", "AI_AGENT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI")


def load_settings(*, origin: Origin = "shell", folder: Path | None = None) -> Settings:
    """Read the settings of this process.

    Args:
        origin: "client" when an agent client started the process.
        folder: where the work happens; its `.mkg.toml` counts for stores only when trusted.

    Raises:
        ConfigError: a value is malformed, a file is readable by others, or two values clash.
    """
    env = dict(os.environ)
    if origin == "client":
        env = _without_project_folders(env)
    home = Path(env.get("MKG_HOME") or platformdirs.user_data_path(APP)).expanduser().absolute()
    cache = Path(env.get("MKG_CACHE") or platformdirs.user_cache_path(APP)).expanduser().absolute()
    config_dir = _config_dir(env)
    sources: dict[str, str] = {
        "home": "environment" if env.get("MKG_HOME") else "default",
        "cache": "environment" if env.get("MKG_CACHE") else "default",
        "config_dir": "environment" if env.get("MKG_CONFIG_DIR") else "default",
    }
    values: dict[str, str] = {}
    layers = [("user file", read_env_file(config_dir / ".env")), ("environment", env)]
    trusted = _trusted_values(home, folder)
    if trusted:
        layers.insert(0, ("trusted project file", trusted))
    for label, layer in layers:
        for field, variable in VARIABLES.items():
            blocked = origin == "client" and label == "environment"
            if blocked and (variable in _STORE_VARIABLES or variable in _EXECUTABLE):
                continue
            if blocked and field.startswith("llm."):
                # A repository could send every text, and the user's key, to a host of its own.
                continue
            if blocked and layer.get(variable) != _CLOSING.get(variable, layer.get(variable)):
                continue
            if layer.get(variable):
                values[field] = layer[variable]
                sources[field] = label
    return _build(home, cache, config_dir, runtime_dir_for(env, home), values, sources)


def config_file() -> Path:
    """The user's own settings file."""
    return _config_dir(dict(os.environ)) / ".env"


def settings_with(values: Mapping[str, str]) -> Settings:
    """The settings that a user's file with these values alone would give.

    Raises:
        ConfigError: a value does not fit.
    """
    now = {name: os.environ.get(name, "") for name in FOLDER_VARIABLES.values()}
    home = Path(now["MKG_HOME"] or platformdirs.user_data_path(APP)).expanduser().absolute()
    cache = Path(now["MKG_CACHE"] or platformdirs.user_cache_path(APP)).expanduser().absolute()
    fields = {f: values[name] for f, name in VARIABLES.items() if values.get(name)}
    env = dict(os.environ)
    return _build(home, cache, _config_dir(env), runtime_dir_for(env, home), fields, {})


def _without_project_folders(env: dict[str, str]) -> dict[str, str]:
    """Drop folder variables that point into the project: its own settings may have set them (D17).

    A session in the user's home folder, or above it, has everything inside: there they stay.
    """
    project = client_folder()
    if project is None:
        return env
    inside, own = project.resolve(), Path("~").expanduser().resolve()
    if inside == own or inside in own.parents:
        return env
    names = (*FOLDER_VARIABLES.values(), "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")

    def chosen(name: str) -> bool:
        text = env.get(name)
        path = Path(text).expanduser().resolve() if text else None
        return path is not None and inside in (path, *path.parents)

    return {name: value for name, value in env.items() if name not in names or not chosen(name)}


def _build(
    home: Path,
    cache: Path,
    config_dir: Path,
    runtime_dir: Path,
    values: dict[str, str],
    sources: dict[str, str],
) -> Settings:
    store = {k.split(".")[1]: v for k, v in values.items() if k.startswith("store.")}
    llm = {k.split(".")[1]: v for k, v in values.items() if k.startswith("llm.")}
    plain: dict[str, object] = {k: v for k, v in values.items() if "." not in k}
    if "modules" in plain:
        plain["modules"] = _modules(str(plain["modules"]))
    if "allow_insecure" in plain:
        plain["allow_insecure"] = tuple(str(plain["allow_insecure"]).replace(",", " ").split())
    try:
        settings = Settings.model_validate(
            {
                "home": home,
                "cache": cache,
                "config_dir": config_dir,
                "runtime_dir": runtime_dir,
                "store": StoreSettings.model_validate(store),
                "llm": llm,
                "sources": sources,
                **plain,
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        variable = VARIABLES.get(name, name)
        raise ConfigError(f"{variable} has a value that does not fit: {first['msg']}") from None
    _check_store(settings)
    return settings


def _check_store(settings: Settings) -> None:
    store = settings.store
    if store.uri is None:
        return
    check_store(store.uri, insecure=settings.allow_insecure, local_only=settings.local_only)
    check_password(store.password.get_secret_value() if store.password else "")


def _modules(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        raise ConfigError(
            f"MKG_MODULES names unknown modules {unknown}; known are {', '.join(MODULES)}"
        )
    return names


def _config_dir(env: dict[str, str]) -> Path:
    if env.get("MKG_CONFIG_DIR"):
        return Path(env["MKG_CONFIG_DIR"]).expanduser().absolute()
    base = env.get("XDG_CONFIG_HOME") or "~/.config"
    return (Path(base).expanduser() / APP).absolute()


def runtime_dir_for(env: dict[str, str], home: Path) -> Path:
    """A 0700 folder with a short path: a socket path may not pass about 100 bytes."""
    # The home first: a terminal and a client may differ in everything else.
    inside = home / "run"
    if len(str(inside).encode()) < 75:
        return inside
    base = env.get("XDG_RUNTIME_DIR")
    tag = hashlib.sha256(str(home).encode()).hexdigest()[:8]
    if base and len(base) < 60 and Path(base).is_dir():
        return Path(base) / f"mkg-{tag}"
    return Path("/tmp") / f"mkg-{os.getuid()}-{tag}"


def project_file(folder: Path) -> Path | None:
    """The nearest `.mkg.toml` at or above `folder`, not beyond the user's home or the root."""
    for candidate in (folder, *folder.parents):
        path = candidate / ".mkg.toml"
        if path.is_file() and not path.is_symlink():
            return path
        if candidate == Path.home():
            return None
    return None


def read_project_file(path: Path) -> dict[str, object]:
    """Values of a project's file.

    Raises:
        ConfigError: it is not TOML, or it names a key that only a trusted folder may name.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} is not readable TOML: {error}") from None
    unknown = sorted(set(data) - PROJECT_KEYS - TRUSTED_KEYS)
    if unknown:
        raise ConfigError(f"{path} has unknown keys {unknown}; known are {sorted(PROJECT_KEYS)}")
    return data


def content_hash(path: Path) -> str:
    """sha256 of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _trusted_values(home: Path, folder: Path | None) -> dict[str, str]:
    """Store settings of a folder the user has trusted; {} for every other folder."""
    if folder is None:
        return {}
    path = project_file(folder)
    if path is None or trusted_hash(home, path) != content_hash(path):
        return {}
    data = read_project_file(path)
    names = {"neo4j_uri": "NEO4J_URI", "neo4j_database": "NEO4J_DATABASE"}
    return {names[key]: str(data[key]) for key in names if key in data}


def trusted_hash(home: Path, path: Path) -> str | None:
    """The content hash under which the user trusted this file, or None."""
    import json

    try:
        ledger = as_object(json.loads((home / "trust.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    entry = ledger.get(str(path.resolve()))
    return entry if isinstance(entry, str) else None


def subprocess_env() -> dict[str, str]:
    """The environment for a child of ours, as it is."""
    return dict(os.environ)


def client_marks() -> list[str]:
    """Variables by which an agent client marks the programs that it starts."""
    return [name for name in _CLIENT_MARKS if os.environ.get(name)]


def client_folder() -> Path | None:
    """The folder an agent client works in: its own variable, else the working directory."""
    for text in (os.environ.get("CLAUDE_PROJECT_DIR"), os.environ.get("PWD")):
        if text and Path(text).is_absolute() and Path(text).is_dir():
            return Path(text)
    try:
        return Path.cwd()
    except OSError:
        return None
