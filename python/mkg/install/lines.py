"""What is registered with a client: one hook line an event, one server entry, one small script.

The lines name a script in MKG_HOME and never change between versions, because Codex forgets its
trust in a hook with any edit of its line. What does change (interpreter, place of the program) is
in the script, which every `mkg` command keeps up to date.

A line runs in the user's own shell (Codex) or in `sh` (the others): `[ -f ]`, `&&`, `||` and plain
quotes mean the same in all of them. It ends in 0 whatever is missing: 2 would erase the prompt, or
keep Codex's Stop going without end.
"""

import os
import re
import shlex
import sys
from pathlib import Path

from mkg.bundle.files import root
from mkg.private import write_private
from mkg.settings import Settings

SCRIPT = "hook"
FACE = "memory"
_LINE = re.compile(
    r"\[ -f (?P<path>\S.*/hook['\"]?) \] && /bin/sh (?P=path) (?P<client>[\w:.-]+) (?P<event>\w+)"
    r" \|\| true"
)
_SERVER = re.compile(r"(?:^exec /bin/sh .*|)/hook['\"]?(?: mcp [a-z]+)?$")

# Only what `sh` of any system knows. The folders are given to the program, because a client may
# start it with next to no environment.
_SCRIPT = """\
#!/bin/sh
# Written by mkg. The hook lines and server entries of the clients call this file.
MKG_HOME={home}
MKG_CONFIG_DIR={config}
MKG_CACHE={cache}
export MKG_HOME MKG_CONFIG_DIR MKG_CACHE
launcher={launcher}
python={python}
[ -x "$python" ] || python=python3
if [ -f "$launcher" ] && command -v "$python" >/dev/null 2>&1; then
  [ "$1" != mcp ] || exec "$python" -I -S "$launcher" "$1" "$2"
  exec "$python" -I -S "$launcher" "$1" "$2" 2>/dev/null
fi
case "$1 $2" in
  "claude SessionStart" | "codex SessionStart")
    echo '{{"systemMessage": "mkg (memory) is off: its program was moved or removed.' \\
      'Install it again and run `mkg doctor`; the session goes on without memory."}}' ;;
esac
exit 0
"""


def script_path(settings: Settings) -> Path:
    """The script that every registered line calls."""
    return settings.home / SCRIPT


def script_text(settings: Settings) -> str:
    """What the script holds now."""
    quote = shlex.quote
    return _SCRIPT.format(
        home=quote(str(settings.home)),
        config=quote(str(settings.config_dir)),
        cache=quote(str(settings.cache)),
        launcher=quote(str(root("hooks") / "launch.py")),
        python=quote(os.path.realpath(sys.executable)),
    )


def write_script(settings: Settings) -> Path:
    """Write the script if it does not say what it should."""
    path, text = script_path(settings), script_text(settings)
    if read_script(settings) != text:
        write_private(path, text)
    return path


def refresh_script(settings: Settings) -> None:
    """Bring the script up to date where one is in use: the program may have moved."""
    found = read_script(settings)
    if found is not None and found != script_text(settings):
        write_script(settings)


def read_script(settings: Settings) -> str | None:
    """What the script says, or None."""
    try:
        return script_path(settings).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def quoted(script: Path, portable: bool) -> str:
    """The script's path for a command line.

    A portable one holds for everybody who checks a project's files out, as far as their MKG_HOME is
    the default one; a user's own line names the path itself, which no environment can move.
    """
    home = Path.home()
    if portable and home in script.parents:
        rest = str(script.relative_to(home))
        if not set(rest) & set('"$`\\'):
            return f'"$HOME/{rest}"'
    return "'" + str(script).replace("'", "'\\''") + "'"


def hook_line(script: Path, client: str, event: str, *, portable: bool = False) -> str:
    """The command that is registered for one event."""
    path = quoted(script, portable)
    return f"[ -f {path} ] && /bin/sh {path} {client} {event} || true"


def server_command(script: Path, *, portable: bool = False) -> tuple[str, list[str]]:
    """Command and arguments of the MCP server."""
    if portable:
        return "/bin/sh", ["-c", f"exec /bin/sh {quoted(script, True)} mcp {FACE}"]
    return "/bin/sh", [str(script), "mcp", FACE]


def line_of_ours(command: object, client: str) -> str | None:
    """The event of a hook line that we wrote for a client, at whatever time; else None."""
    found = _LINE.fullmatch(command) if isinstance(command, str) else None
    return found["event"] if found and found["client"] == client else None


def server_of_ours(entry: object) -> bool:
    """Say whether a server entry starts our script."""
    if not isinstance(entry, dict) or entry.get("command") != "/bin/sh":  # pyright: ignore
        return False
    words = entry.get("args")  # pyright: ignore
    return isinstance(words, list) and any(
        isinstance(word, str) and bool(_SERVER.search(word))
        for word in words  # pyright: ignore
    )
