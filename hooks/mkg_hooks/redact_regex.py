"""Regular expressions that are compiled when they are first used.

A hook process imports all of them and needs a few: compiling them would cost it more than the
rest of its work.
"""

import re
from collections.abc import Callable, Iterator


class Regex:
    """A pattern with those methods of a compiled one that the redactor needs."""

    __slots__ = ("_compiled", "_flags", "_pattern")

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = pattern
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self._pattern, self._flags)
        return self._compiled

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        return self.compiled.match(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        return self.compiled.search(text, start, len(text) if end is None else end)

    def findall(self, text: str) -> list[str]:
        return [match.group() for match in self.compiled.finditer(text)]

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)

    def split(self, text: str) -> list[str]:
        return self.compiled.split(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(new, text)
