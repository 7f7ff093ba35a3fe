"""Processes a hook starts: the worker, which outlives the client, and a deputy for an old Python.

Imported by the launcher of any Python version, so the syntax is as old as the launcher's.
"""

# pyright: basic

import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Chosen = Callable[[bytes, dict[bytes, bytes]], bool]

GATE_SECONDS = 5.0
NAMES = (b"PATH", b"LANG", b"LANGUAGE", b"USER", b"LOGNAME", b"SHELL", b"TZ")
PATHS = (
    b"HOME",
    b"TMPDIR",
    b"MKG_CACHE",
    b"MKG_CONFIG_DIR",
    b"XDG_DATA_HOME",
    b"XDG_CONFIG_HOME",
    b"XDG_CACHE_HOME",
    b"XDG_STATE_HOME",
    b"XDG_RUNTIME_DIR",
)


def environment(
    pointer: "dict[str, bytes]", home: bytes, env: "dict[bytes, bytes]", chosen_by_project: "Chosen"
) -> "dict[bytes, bytes]":
    """Return the worker's environment: no key, no host, no path that a project chose."""
    child = {b"MKG_HOME": home}
    for name, value in env.items():
        plain = name in NAMES or name.startswith(b"LC_")
        own = name in PATHS and value.startswith(b"/") and not chosen_by_project(value, env)
        if plain or own:
            child[name] = value
    for key, name in (("cache", b"MKG_CACHE"), ("config", b"MKG_CONFIG_DIR")):
        if pointer.get(key):
            child[name] = pointer[key]
    return child


def due(spool: bytes) -> bool:
    """Say whether a start may be tried now, and note it: a worker that dies is no busy loop.

    The worker removes the note as soon as it listens.
    """
    gate = spool + b"/starting"
    try:
        if 0 <= time.time() - posix.stat(gate).st_mtime < GATE_SECONDS:
            return False
    except OSError:
        pass
    try:
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC
        posix.close(posix.open(gate, flags, 0o600))
        posix.utime(gate)
    except OSError:
        pass
    return True


def start(
    pointer: "dict[str, bytes]", home: bytes, env: "dict[bytes, bytes]", chosen_by_project: "Chosen"
) -> None:
    """Start the worker detached: new session, null descriptors, the root as working folder."""
    if not due(pointer["spool"]):
        return
    python = pointer["python"]
    # -P: a module of the project's folder must not be taken for one of ours.
    command = [python, b"-P", b"-m", b"mkg", b"worker", b"run", b"--from-client"]
    child = environment(pointer, home, env, chosen_by_project)
    if posix.fork() != 0:
        return
    try:
        posix.setsid()
        null = posix.open(b"/dev/null", posix.O_RDWR)
        for fd in (0, 1, 2):
            posix.dup2(null, fd)
        posix.closerange(3, 4096)
        posix.chdir(b"/")
        posix.umask(0o077)
        posix.execve(python, command, child)
    finally:
        posix._exit(0)


def deputy(
    python: bytes,
    script: str,
    client: str,
    event: str,
    raw: bytes,
    env: "dict[bytes, bytes]",
    facts: "dict[bytes, bytes]",
) -> None:
    """Let the installed interpreter spool the event, when this one is too old for the package."""
    source, sink = posix.pipe()
    child = posix.fork()
    if child == 0:
        try:
            posix.dup2(source, 0)
            posix.closerange(3, 4096)
            told = dict(env)
            told.update(facts)
            me = script.encode("utf-8", "surrogateescape")
            words = [client.encode("ascii"), event.encode("ascii"), b"deputy"]
            posix.execve(python, [python, b"-I", b"-S", me] + words, told)  # noqa: RUF005
        finally:
            posix._exit(0)
    posix.close(source)
    while raw:
        raw = raw[posix.write(sink, raw[:65536]) :]
    posix.close(sink)
    posix.waitpid(child, 0)
