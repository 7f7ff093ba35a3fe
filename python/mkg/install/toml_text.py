"""Adding one table to a TOML file, and taking it out again, without touching the rest.

A table is appended as text and cut out as text: what a person wrote keeps its bytes. The caller
compares what the result means with what was meant.
"""

import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[\[?([^\]\n]*)\]\]?[ \t]*(?:#[^\n]*)?$", re.MULTILINE)


def parse(text: str) -> dict[str, Any]:
    """What the text says.

    Raises:
        tomllib.TOMLDecodeError: it is not TOML; the message tells line and column.
    """
    return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))


def add(text: str, block: str) -> str:
    """Append a block of lines, a blank line before it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    body = text.removeprefix("\ufeff")
    between = "" if not body else newline if body.endswith("\n") else newline * 2
    return text + between + block.replace("\n", newline)


def cut(text: str, name: str, block: str) -> str:
    """Take out the table `name` and its own tables; `block` is how we wrote it."""
    newline = "\r\n" if "\r\n" in text else "\n"
    written = block.replace("\n", newline)
    if text.count(written) == 1:
        start, end = text.index(written), text.index(written) + len(written)
        following = next((line for line in text[end:].splitlines() if _says(line)), "[")
        if following.lstrip().startswith("[") and f"{name}." not in following:
            return _join(text, start, end, newline)
    # Somebody changed it: every section of that name goes, up to its last line that says anything.
    headers = list(_HEADER.finditer(text))
    for at in range(len(headers) - 1, -1, -1):
        found = headers[at][1].replace('"', "").replace("'", "").replace(" ", "")
        if found != name and not found.startswith(name + "."):
            continue
        end = headers[at + 1].start() if at + 1 < len(headers) else len(text)
        section = text[headers[at].start() : end]
        said = [line for line in section.splitlines(keepends=True) if _says(line)]
        last = section.rindex(said[-1]) + len(said[-1])
        text = _join(text, headers[at].start(), headers[at].start() + last, newline)
    return text


def renew(text: str, name: str, block: str) -> str:
    """Give the keys of `block` their values again in the table `name`, other keys untouched."""
    newline = "\r\n" if "\r\n" in text else "\n"
    header = next((h for h in _HEADER.finditer(text) if h[1].strip() == name), None)
    if header is None:
        return text
    following = _HEADER.search(text, header.end())
    end = following.start() if following else len(text)
    section = text[header.end() : end]
    for line in reversed(block.splitlines()[1:]):
        key = line.partition("=")[0].strip()
        found = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=[^\r\n]*", section, re.MULTILINE)
        if found:
            section = section[: found.start()] + line + section[found.end() :]
        else:
            section = newline + line + section
    return text[: header.end()] + section + text[end:]


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _join(text: str, start: int, end: int, newline: str) -> str:
    """The text without a span and without the blank line that stood before it."""
    before, after = text[:start], text[end:]
    if before.endswith(newline * 2):
        before = before[: -len(newline)]
    return before + after
