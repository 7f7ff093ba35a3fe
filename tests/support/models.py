"""What tests of model access share: settings for a scripted model, and an account in memory."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mkg.llm.asking import Asking
from mkg.llm.choice import CLI
from mkg.llm.meter import Call, Spent
from mkg.llm.sending import ClaudeCli, LiteLLM
from mkg.model_settings import ModelSettings
from mkg.settings import Settings


@dataclass(slots=True)
class Account:
    """Keeps the account as the graph does, without one."""

    most: int = 10**9
    reserved: list[Call] = field(default_factory=list[Call])
    settled: list[tuple[str, str, Spent, bool]] = field(
        default_factory=list[tuple[str, str, Spent, bool]]
    )

    def reserve(self, call: Call) -> bool:
        if len(self.reserved) >= self.most:
            return False
        self.reserved.append(call)
        return True

    def settle(self, call: Call, task: str, model: str, spent: Spent, *, failed: bool) -> None:
        self.settled.append((task, model, spent, failed))


def model_settings(home: Path, *, local_only: bool = False, **llm: Any) -> Settings:
    """Settings with these values for models and nothing else of interest."""
    return Settings(
        home=home,
        cache=home,
        config_dir=home,
        runtime_dir=home,
        local_only=local_only,
        llm=ModelSettings.model_validate(llm),
    )


# One process with litellm serves all tests of a run: it takes seconds to start.
_ROUTE = LiteLLM()


def asking(settings: Settings, account: Any, waits: list[float] | None = None) -> Asking:
    """A real `Asking` whose pauses are only written down."""
    noted: list[float] = [] if waits is None else waits
    routes = {"litellm": _ROUTE, CLI: ClaudeCli()}
    return Asking(settings, account, routes=routes, sleep=noted.append)
