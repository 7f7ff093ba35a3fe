"""Whether a person sits at this terminal (SEC-24): what an agent could drive itself is refused.

Three looks: input and output are a terminal, no client's mark stands in the environment, and no
client is among the processes above this one. Whoever owns the machine's account can still get
round them, as round anything that runs under it; an agent's ordinary shell cannot.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mkg.errors import Refused
from mkg.settings import client_marks

_MOST = 64
# A client's program by its name, or by the package that a runtime such as node was told to run.
_CLIENT = re.compile(
    r"(?:^|/)(?:claude|codex|gemini|copilot)(?:\.exe|\.js|\.cmd)?$"
    r"|/(?:claude-code|gemini-cli)/|/@openai/codex|/@github/copilot"
)


def ancestors(pid: int | None = None) -> Iterator[list[str]]:
    """The command lines of the processes above this one, the nearest first."""
    above = os.getppid() if pid is None else pid
    for _ in range(_MOST):
        if above <= 1:
            return
        found = _process(above)
        if found is None:
            return
        above, command = found
        yield command


def client_above(commands: Iterator[list[str]]) -> str | None:
    """The first of these command lines that is a client's, by the word that tells so."""
    for command in commands:
        # What follows is the client's arguments or another program's: a file called `claude`.
        for word in command[:2]:
            if _CLIENT.search(word):
                return word
    return None


def demand(what: str) -> None:
    """Let a person go on.

    Raises:
        Refused: this is no terminal, or an agent client started it.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused(f"{what} needs a terminal: a person decides this, not a program")
    if marks := client_marks():
        raise Refused(
            f"{what} runs inside an agent client ({marks[0]}): use a terminal of your own"
        )
    if client := client_above(ancestors()):
        name = Path(client).name[:40]
        raise Refused(f"{what} was started by an agent client ({name}): use a terminal of your own")


def _process(pid: int) -> tuple[int, list[str]] | None:
    """A process's parent and words; None when it is gone or cannot be seen."""
    folder = Path("/proc") / str(pid)
    if folder.is_dir():
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            raw = (folder / "cmdline").read_bytes()
        except OSError:
            return None
        words = [w.decode("utf-8", "replace") for w in raw.split(b"\0") if w]
        return int(stat.rpartition(")")[2].split()[1]), words
    try:
        shown = subprocess.run(
            ["ps", "-o", "ppid=,command=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        ).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (int(shown[0]), shown[1:]) if shown and shown[0].isdigit() else None
