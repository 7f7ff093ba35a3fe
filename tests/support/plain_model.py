"""A model asked by plain HTTP, for faults that are about when it is asked and when it answers."""

import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from mkg.llm import Failed, Replied, Skipped

Reply = TypeVar("Reply", bound=BaseModel)
# By these words the scripts of tests/support/windows.py know a task.
WORDS = {
    "extract": "worth noting",
    "episodes": "record what happened",
    "screen": "guard the memory",
    "judge": "compare new statements",
}


@dataclass(frozen=True, slots=True)
class Plain:
    """Asks a scripted server; a reply is checked as the product's own access checks it."""

    base: str
    timeout: float = 60.0

    def ask(
        self,
        task: str,
        data: Mapping[str, object],
        reply: type[Reply],
        *,
        client: str | None = None,
    ) -> Replied[Reply] | Skipped | Failed:
        body = {
            "model": "x",
            "messages": [
                {"role": "system", "content": WORDS[task]},
                {"role": "user", "content": json.dumps(data, default=str)},
            ],
        }
        asked = urllib.request.Request(
            f"{self.base}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(asked, timeout=self.timeout) as response:
                text = json.load(response)["choices"][0]["message"]["content"]
            return Replied(reply.model_validate_json(text), "plain", f"{task}@1")
        except (OSError, ValueError, KeyError, ValidationError) as error:
            return Failed(type(error).__name__)

    def available(self, task: str, *, client: str | None = None) -> str | None:
        return None
