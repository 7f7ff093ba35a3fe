"""Asking: choose, reserve, send, try again, fall over, read, repair once, settle.

Nothing is asked while nobody calls `ask`, and nothing once the allowance of the day is used up.
"""

import contextlib
import random
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mkg.bundle import Runner
from mkg.errors import GraphError
from mkg.llm import Failed, Replied, Reply, Skipped
from mkg.llm import prompt as prompts
from mkg.llm import reply as replies
from mkg.llm.choice import CLI, NotReady, Ready, ready
from mkg.llm.meter import UNKNOWN_PRICE, Call, GraphMeter, Meter, Spent, today
from mkg.llm.sending import ClaudeCli, Fault, LiteLLM, Message, Route, Text
from mkg.settings import Settings

MOST_OUTPUT = 2_000
LONGEST_WAIT = 20.0
REST_FIRST, REST_MOST = 30.0, 600.0
CAP = "the day's allowance for models is used up (MKG_LLM_DAILY_TOKENS, MKG_LLM_DAILY_USD)"


@dataclass(frozen=True, slots=True)
class _Capped:
    """There is no room for this call today."""


@dataclass(frozen=True, slots=True)
class _Unusable:
    """A model answered, but not in the form; `cut` when its answer did not end."""

    problem: str
    cut: bool


class Asking:
    """The model of a worker or a command; safe for several threads."""

    def __init__(
        self,
        settings: Settings,
        meter: Meter,
        *,
        routes: Mapping[str, Route] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._meter = meter
        self._routes: Mapping[str, Route] = routes or {
            "litellm": LiteLLM(local_only=settings.local_only),
            CLI: ClaudeCli(),
        }
        self._sleep = sleep
        self._rest = 0.0
        self._resting_until = 0.0

    def ask(
        self,
        task: str,
        data: Mapping[str, object],
        reply: type[Reply],
        *,
        client: str | None = None,
    ) -> Replied[Reply] | Skipped | Failed:
        """A reply in its form; `client` names whose events the data come from, if anybody's."""
        found = ready(self._settings, task, client)
        if isinstance(found, NotReady):
            return Skipped(found.reason)
        if time.monotonic() < self._resting_until:
            return Failed("no model answered a moment ago; it is asked again later", reached=False)
        prompt = prompts.fill(prompts.load(task), data, reply.model_json_schema())
        messages: list[Message] = [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ]
        reasons: list[str] = []
        reached = cut = False
        for model in found:
            match self._from(model, task, messages, reply):
                case _Capped():
                    return Skipped(CAP)
                case Fault(kind=kind, reason=reason):
                    reached, cut = reached or kind == "long", cut or kind == "long"
                    reasons.append(reason)
                case _Unusable(problem=problem, cut=ended):
                    reached, cut = True, cut or ended
                    reasons.append(f"{model.model or CLI}: {problem}")
                case value:
                    self._rest = self._resting_until = 0.0
                    return Replied(value, model.model or CLI, prompt.label)
        if not reached:
            self._pause()
        return Failed("; ".join(reasons), reached=reached, cut=cut)

    def available(self, task: str, *, client: str | None = None) -> str | None:
        """Why no model would be asked for a task, or None."""
        found = ready(self._settings, task, client)
        return found.reason if isinstance(found, NotReady) else None

    def close(self) -> None:
        """End what was started."""
        for route in self._routes.values():
            route.close()

    def _pause(self) -> None:
        self._rest = min(self._rest * 2, REST_MOST) if self._rest else REST_FIRST
        self._resting_until = time.monotonic() + self._rest

    def _from(
        self, model: Ready, task: str, messages: list[Message], form: type[Reply]
    ) -> Reply | _Capped | Fault | _Unusable:
        """One model's reply in its form, or why there is none."""
        first = self._tried(model, task, messages)
        if not isinstance(first, Text):
            return first
        value = replies.read(first.text, form)
        if not isinstance(value, str):
            return value
        # One more chance, with what was wrong; a model that fails twice is not asked a third time.
        again = [
            *messages,
            {"role": "assistant", "content": first.text[:4_000] or "(nothing)"},
            {"role": "user", "content": _mend(value, first.cut)},
        ]
        said = self._tried(model, task, again)
        if not isinstance(said, Text):
            return said
        value = replies.read(said.text, form)
        return _Unusable(value, first.cut or said.cut) if isinstance(value, str) else value

    def _tried(self, model: Ready, task: str, messages: list[Message]) -> Text | _Capped | Fault:
        """A text, after as many tries as may help."""
        fault = Fault("broken", "not tried")
        for attempt in range(self._settings.llm.retries + 1):
            if attempt:
                wait = fault.after if fault.after is not None else 2.0 ** (attempt - 1)
                self._sleep(min(wait, LONGEST_WAIT) * random.uniform(0.9, 1.1))
            answer = self._once(model, task, messages)
            if not isinstance(answer, Fault):
                return answer
            fault = answer
            if fault.kind in {"refused", "long"}:
                break
        return fault

    def _once(self, model: Ready, task: str, messages: list[Message]) -> Text | Fault | _Capped:
        """One metered request."""
        route, llm = self._routes[model.route], self._settings.llm
        prices = (0.0, 0.0) if model.local else route.price(model) or UNKNOWN_PRICE
        guess = sum(tokens(m["content"]) for m in messages)
        call = Call(
            uuid.uuid4().hex, today(), guess + MOST_OUTPUT, _usd(prices, guess, MOST_OUTPUT)
        )
        name = model.model or CLI
        try:
            if not self._meter.reserve(call):
                return _Capped()
        except GraphError as error:
            return Fault("refused", f"nothing can be metered: {type(error).__name__}")
        timeout = llm.claude_cli_timeout_s if model.route == CLI else llm.timeout_s
        answer = route.send(model, messages, most=MOST_OUTPUT, timeout=timeout)
        if isinstance(answer, Text):
            usd = answer.usd
            if usd is None:
                usd = _usd(prices, answer.input_tokens, answer.output_tokens)
            spent = Spent(answer.input_tokens, answer.output_tokens, usd)
        elif answer.kind in {"timeout", "broken"}:
            # It was read over there, whatever became of the reply.
            spent = Spent(guess, 0, _usd(prices, guess, 0))
        else:
            spent = Spent(0, 0, 0.0)
        # Where that fails the reservation stays: the cap holds, and the reply is none the worse.
        with contextlib.suppress(GraphError):
            self._meter.settle(call, task, name, spent, failed=isinstance(answer, Fault))
        return answer


def load(settings: Settings, run: Callable[[], Runner]) -> Asking:
    """The model that the settings name, metered in the graph that `run` hands out."""
    meter = GraphMeter(run, settings.llm.daily_tokens, settings.llm.daily_usd)
    return Asking(settings, meter)


def tokens(text: str) -> int:
    """An upper estimate: three ASCII characters a token, one token for any other character."""
    plain = sum(1 for c in text if c.isascii())
    return (plain + 2) // 3 + (len(text) - plain)


def _usd(prices: tuple[float, float], given: int, said: int) -> float:
    return (prices[0] * given + prices[1] * said) / 1_000_000


def _mend(problem: str, cut: bool) -> str:
    shorter = " It was too long: be brief." if cut else ""
    return (
        f"That reply cannot be used: {problem}.{shorter} Reply again with nothing but one JSON"
        " object in the form described above."
    )
