"""Which model answers a task, and whether it could: decided from the settings alone.

No login token of another program is looked for anywhere: a model is ready when the user's own
settings hold its key, or an address that needs none (MEM-W24). A reason names variables, no value.
"""

import importlib.util
import shutil
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic import SecretStr

from mkg.model_settings import ModelSettings
from mkg.reach import here
from mkg.settings import Settings, subprocess_env

CLAUDE_MODEL = "anthropic/claude-haiku-4-5"
OTHER_MODEL = "gpt-5.4-mini"
CLAUDE_CLIENTS = frozenset({"claude", "claude_code", "claude_desktop"})
CLI = "claude_cli"
# Servers that run on the user's machine unless an address says otherwise, and need no key.
LOCAL_SERVERS = {
    "ollama": "http://127.0.0.1:11434",
    "ollama_chat": "http://127.0.0.1:11434",
    "llamafile": "http://127.0.0.1:8080/v1",
    "lm_studio": "http://127.0.0.1:1234/v1",
}
_OPENAI_LIKE = frozenset({"openai", "hosted_vllm", "openai_like", *LOCAL_SERVERS})
_KEYS = {
    "openai": ("openai_key", "OPENAI_API_KEY"),
    "anthropic": ("anthropic_key", "ANTHROPIC_API_KEY"),
    "gemini": ("gemini_key", "GEMINI_API_KEY"),
    "openrouter": ("openrouter_key", "OPENROUTER_API_KEY"),
}


@dataclass(frozen=True, slots=True)
class Ready:
    """One model that can be asked: `base` is None for the provider's own address."""

    model: str
    route: str
    base: str | None = None
    key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def local(self) -> bool:
        """Whether it runs on this machine, where a call costs nothing."""
        return self.base is not None and here(urlsplit(self.base).hostname or "")


@dataclass(frozen=True, slots=True)
class NotReady:
    """Why a model cannot be asked."""

    reason: str


def default_model(settings: ModelSettings, client: str | None) -> str:
    """The model for a client when the task names none."""
    if settings.model:
        return settings.model
    if settings.default_model:
        return settings.default_model
    return CLAUDE_MODEL if client in CLAUDE_CLIENTS else OTHER_MODEL


def wanted(settings: ModelSettings, task: str, client: str | None) -> list[str]:
    """Models to try for a task, in order; the same list of fall-backs for every task (MEM-W53)."""
    if settings.backend == CLI:
        return [CLI]
    first, own = settings.tasks.get(task), settings.model or settings.default_model
    names = [first, own, settings.model, *settings.failover]
    if not settings.base_url:
        # A server of the user's own has the models that the user names, and no others.
        names = [first or default_model(settings, client), *names, OTHER_MODEL]
    return list(dict.fromkeys(name for name in names if name))


def ready(settings: Settings, task: str, client: str | None) -> list[Ready] | NotReady:
    """The models that can be asked for a task, or why none can."""
    if settings.llm.backend == "off":
        return NotReady("MKG_LLM_BACKEND is off")
    reasons: list[str] = []
    found: list[Ready] = []
    for name in wanted(settings.llm, task, client):
        match _looked_at(settings, name):
            case Ready() as one:
                found.append(one)
            case NotReady(reason=reason):
                reasons.append(reason)
    if not found:
        told = "; ".join(dict.fromkeys(reasons))
        return NotReady(told or "MKG_LLM_BASE_URL is set: name a model of that server in LLM_MODEL")
    if settings.llm.backend != CLI and importlib.util.find_spec("litellm") is None:
        return NotReady("litellm is not installed; run: pip install 'meta-knowledge-graph[llm]'")
    return found


def _looked_at(settings: Settings, name: str) -> Ready | NotReady:
    if name == CLI:
        if settings.local_only:
            return NotReady("MKG_LOCAL_ONLY is on and claude asks another machine")
        if shutil.which("claude", path=subprocess_env().get("PATH")) is None:
            return NotReady("MKG_LLM_BACKEND is claude_cli and there is no `claude` to run")
        return Ready(settings.llm.claude_cli_model or "", CLI)
    provider, _, rest = name.partition("/")
    if not rest:
        provider = "anthropic" if name.startswith("claude") else "openai"
    model = name if rest else f"{provider}/{name}"
    base = _base(settings.llm, provider)
    if (problem := _unreachable(settings, model, base)) is not None:
        return NotReady(problem)
    field_name, variable = _KEYS.get(provider, ("api_key", "MKG_LLM_API_KEY"))
    secret: SecretStr | None = getattr(settings.llm, field_name) or settings.llm.api_key
    token = settings.llm.anthropic_token if provider == "anthropic" else None
    if secret is None and token is None and base is None:
        also = " or ANTHROPIC_AUTH_TOKEN" if provider == "anthropic" else ""
        return NotReady(f"{model} needs {variable}{also}")
    return Ready(
        model,
        "litellm",
        base,
        secret.get_secret_value() if secret else None,
        token.get_secret_value() if token and not secret else None,
    )


def _base(settings: ModelSettings, provider: str) -> str | None:
    if provider == "anthropic":
        return settings.anthropic_url
    if provider in _OPENAI_LIKE:
        return settings.base_url or LOCAL_SERVERS.get(provider)
    return None


def _unreachable(settings: Settings, model: str, base: str | None) -> str | None:
    """Why this address must not be spoken to, or None."""
    parts = urlsplit(base or "https://elsewhere.invalid")
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not host:
        return f"the address for {model} must start with http:// or https://"
    if here(host):
        return None
    if settings.local_only:
        return f"MKG_LOCAL_ONLY is on and {model} is on another machine"
    if parts.scheme != "https" and host not in [n.lower() for n in settings.allow_insecure]:
        return (
            f"{model} is on another machine without https://; name its host in MKG_ALLOW_INSECURE"
        )
    return None
