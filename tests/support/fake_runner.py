"""A runner for tests of Python outcomes: answers by query name, and records what was asked."""

from collections.abc import Callable, Mapping
from typing import Any

from mkg.bundle.header import QuerySpec

Answer = list[dict[str, Any]] | Callable[[Mapping[str, Any]], list[dict[str, Any]]] | Exception


class FakeRunner:
    """Keyed by query name; an unknown query is a test's mistake."""

    def __init__(self, answers: dict[str, Answer] | None = None):
        self.answers = answers or {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def fetch(self, query: QuerySpec, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        self.calls.append((query.name, dict(params)))
        answer = self.answers[query.name]
        if isinstance(answer, Exception):
            raise answer
        return answer(params) if callable(answer) else answer

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]
