"""What the user settled about language models: which one, how often, and how much a day.

None of it comes from the environment that an agent client hands over: a repository's own settings
can reach that one, and a host or a model named there would get every text and the user's key.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

# setting field -> environment variable (also the key in the user's file)
VARIABLES = {
    "llm.model": "LLM_MODEL",
    "llm.default_model": "MKG_DEFAULT_LLM_MODEL",
    "llm.backend": "MKG_LLM_BACKEND",
    "llm.tasks": "MKG_LLM_TASKS",
    "llm.failover": "MKG_LLM_FAILOVER",
    "llm.base_url": "MKG_LLM_BASE_URL",
    "llm.retries": "MKG_LLM_NUM_RETRIES",
    "llm.timeout_s": "MKG_LLM_TIMEOUT",
    "llm.daily_tokens": "MKG_LLM_DAILY_TOKENS",
    "llm.daily_usd": "MKG_LLM_DAILY_USD",
    "llm.claude_cli_model": "MKG_CLAUDE_CLI_MODEL",
    "llm.claude_cli_timeout_s": "MKG_CLAUDE_CLI_TIMEOUT",
    "llm.api_key": "MKG_LLM_API_KEY",
    "llm.openai_key": "OPENAI_API_KEY",
    "llm.anthropic_key": "ANTHROPIC_API_KEY",
    "llm.anthropic_token": "ANTHROPIC_AUTH_TOKEN",
    "llm.anthropic_url": "ANTHROPIC_BASE_URL",
    "llm.gemini_key": "GEMINI_API_KEY",
    "llm.openrouter_key": "OPENROUTER_API_KEY",
}
SECRETS = frozenset(
    {
        "MKG_LLM_API_KEY",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
        "OPENROUTER_API_KEY",
    }
)


class ModelSettings(BaseModel):
    """Model access; without a model and a key nothing is ever asked."""

    # A message of pydantic's repeats what it was given, which may be a key.
    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    model: str | None = None
    default_model: str | None = None
    backend: Literal["auto", "litellm", "claude_cli", "off"] = "auto"
    tasks: dict[str, str] = {}
    failover: tuple[str, ...] = ()
    base_url: str | None = None
    retries: int = Field(default=3, ge=0, le=10)
    timeout_s: float = Field(default=60.0, gt=0, le=600)
    daily_tokens: int = Field(default=500_000, ge=0)
    daily_usd: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    claude_cli_model: str | None = None
    claude_cli_timeout_s: float = Field(default=60.0, gt=0, le=600)
    api_key: SecretStr | None = None
    openai_key: SecretStr | None = None
    anthropic_key: SecretStr | None = None
    anthropic_token: SecretStr | None = None
    anthropic_url: str | None = None
    gemini_key: SecretStr | None = None
    openrouter_key: SecretStr | None = None

    @field_validator("tasks", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        """`extract=openai/a, judge=openai/b` as a mapping."""
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.replace(",", " ").split()]
        if any(not (task and model) for task, _, model in pairs):
            raise ValueError("write task=model, separated by commas")
        return {task: model for task, _, model in pairs}

    @field_validator("failover", mode="before")
    @classmethod
    def _list(cls, value: Any) -> Any:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value
