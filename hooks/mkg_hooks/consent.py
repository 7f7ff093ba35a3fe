"""Whether a session may be recorded: the pause, the folder's own word, and the environment.

Every voice can only restrict: the strictest one counts, so a repository can switch the memory off
for itself and can never switch it on. The launcher asks before anything else happens, on any
Python and without the product, so the syntax is old and the imports are C modules.
"""

# pyright: basic

import posix

ON, METADATA, OFF = "on", "metadata", "off"
RANKS = {ON: 0, METADATA: 1, OFF: 2}
WORDS = {
    b"true": ON,
    b"on": ON,
    b"redacted": ON,
    b"metadata": METADATA,
    b"false": OFF,
    b"off": OFF,
}
STATE = "paused"  # the file in the memory's home
FILES = (b".mkg.toml", b".mkg.local.toml")
ALL, PROJECT = b"all", b"project "
LEVELS_UP = 64
BOUND = 256 * 1024
LINES = {
    "paused": "Memory (mkg) is paused: nothing is recorded or recalled until `mkg resume`.",
    "project": "Memory (mkg) is paused for this project: nothing is recorded or recalled until"
    " `mkg resume --project`.",
    "file": "Memory (mkg) is off in this folder: its .mkg.toml says so. Nothing is recorded or"
    " recalled.",
}


def allowed(
    home: "bytes | None", env: "dict[bytes, bytes]", pointer: "dict[str, bytes]"
) -> "tuple[str, str]":
    """Return (what may be recorded of this session, the line that says why not)."""
    told = (env.get(b"MKG_CAPTURE"), pointer.get("capture"))
    level, who = verdict(home, folders_of(env), told)
    return level, LINES.get(who, "")


def verdict(
    home: "bytes | None", folders: "list[bytes]", told: "tuple[bytes | None, ...]" = ()
) -> "tuple[str, str]":
    """Return (level, who asked for it) for a session that works in these folders.

    `told` are the words of the environment and of the user's settings. Who asked is a key of LINES,
    or "" when there is nothing to say.
    """
    found = [(ON, "")]
    found += [(WORDS.get(word.strip().lower(), OFF), "") for word in told if word]
    who = paused(home, folders) if home else ""
    if who:
        found.append((OFF, who))
    for folder in folders:
        found.append((of_folder(folder), "file"))
    return max(found, key=lambda pair: RANKS[pair[0]])


def paused(home: bytes, folders: "list[bytes]") -> str:
    """Return which pause holds here: "paused", "project" or "" for none."""
    lines = read(home + b"/" + STATE.encode()).split(b"\n")
    if ALL in lines:
        return "paused"
    marked = set()
    for line in lines:
        if line.startswith(PROJECT):
            here = identity(line[len(PROJECT) :])
            if here is not None:
                marked.add(here)
    if marked:
        for folder in folders:
            if any(identity(above) in marked for above in upwards(folder)):
                return "project"
    return ""


def of_folder(folder: bytes) -> str:
    """Return what the files of a folder and of those above it allow: the strictest word."""
    level = ON
    for above in upwards(folder):
        for name in FILES:
            said = asked(read(above + b"/" + name))
            if RANKS[said] > RANKS[level]:
                level = said
    return level


def asked(text: bytes) -> str:
    """Return the level that a project's file asks for; a word nobody knows means off."""
    for line in text.split(b"\n"):
        line = line.strip()
        if line.startswith(b"["):
            break
        name, equals, value = line.partition(b"=")
        if equals and name.strip().strip(b"\"'") == b"capture":
            return WORDS.get(value.partition(b"#")[0].strip().strip(b"\"'").lower(), OFF)
    return ON


def upwards(folder: bytes) -> "list[bytes]":
    """Return a folder and those above it by name, nearest first."""
    if not folder.startswith(b"/"):
        return []
    found = []
    while len(found) < LEVELS_UP:
        found.append(folder)
        above = folder.rstrip(b"/").rpartition(b"/")[0]
        if not above:
            break
        folder = above
    return found


def identity(path: bytes) -> "tuple[int, int] | None":
    """Return what names a folder whatever its spelling, or None when it is not there."""
    try:
        found = posix.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino)


def read(path: bytes) -> bytes:
    """Return the head of a regular file, or nothing."""
    try:
        fd = posix.open(
            path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_CLOEXEC
        )
    except (OSError, ValueError):
        return b""
    try:
        return posix.read(fd, BOUND)
    except OSError:
        return b""
    finally:
        posix.close(fd)


def folders_of(env: "dict[bytes, bytes]") -> "list[bytes]":
    """Return the folders a hook's process works in: what the client names, and its own."""
    try:
        own = posix.getcwd().encode("utf-8", "surrogateescape")
    except OSError:
        own = b""
    named = env.get(b"CLAUDE_PROJECT_DIR") or b""
    # Most often both are one folder, and each costs a look at every folder above it.
    return [folder for folder in dict.fromkeys((named, own)) if folder.startswith(b"/")]
