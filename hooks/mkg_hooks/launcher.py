"""Carrying one event from a client's stdin to the worker, and its answer back.

The launcher's body: a module, so that Python keeps its bytecode (a script is compiled anew for
every event, which would cost as much as all the rest). It imports C modules only (no os, json,
socket) and leaves all parsing to the worker; when the worker does not acknowledge,
`mkg_hooks.offline` redacts and spools the event in this process. The syntax is kept old:
`python3` may be any version.
"""

# pyright: basic

import posix
import sys
import time

from mkg_hooks import consent

TYPE_CHECKING = False  # typing costs more than this whole process
if TYPE_CHECKING:
    import _socket

BORN = time.monotonic()
FOREGROUND = ("SessionStart", "UserPromptSubmit", "BeforeAgent")
SPEAKING = ("claude", "codex")  # the clients whose formatter lists systemMessage; custom:NAME too
NEVER_EMPTY = ("gemini",)  # takes JSON only, and reads stderr where stdout holds nothing
KEPT = 16 * 1024 * 1024
READ_BOUND = 256 * 1024 * 1024
HEAD = 256 * 1024
TAIL = 64 * 1024
QUIET = 0.25
WAIT_FOR_DISK = 1.0
ANSWER_BOUND = 1024 * 1024
POINTER_BOUND = 64 * 1024
ENV_VALUE_BOUND = 16 * 1024
ENV_BOUND = 256 * 1024
SECRET_NAMES = (
    b"SECRET",
    b"TOKEN",
    b"PASS",
    b"PWD",
    b"KEY",
    b"CRED",
    b"AUTH",
    b"_PAT",
    b"DSN",
    b"_URL",
    b"_URI",
    b"CONN",
    b"COOKIE",
    b"JWT",
    b"WEBHOOK",
)
PLAIN_NAMES = (b"CLAUDECODE", b"CLAUDE_CODE_ENTRYPOINT", b"CLAUDE_PROJECT_DIR")
LINES = {
    "missing": "mkg (memory) is not installed for this user: run `pip install"
    " meta-knowledge-graph` and then `mkg install`. The session goes on without memory.",
    "refused": "mkg (memory) is off: its pointer file must be a regular file of yours with mode"
    " 0600 in a folder that others cannot write. Run `mkg doctor`; the session goes on without it.",
    "inside": "mkg (memory) is off: MKG_HOME lies inside the project's folder, so the project could"
    " choose what runs. Move it elsewhere; the session goes on without memory.",
}


said: "list[bool]" = []


class Refused(Exception):
    """The pointer cannot be followed; the argument is a key of LINES."""


def token(word: str) -> str:
    """Return a word of the command line as one safe token of the frame's header."""
    kept = "".join(c if (c.isalnum() and ord(c) < 128) or c in "_.:-" else "_" for c in word[:64])
    return kept or "-"


def within(path: bytes, folders: "set[tuple[int, int]]") -> bool:
    """Say whether a folder is one of `folders` or lies below one, by device and inode."""
    for _ in range(64):
        here = consent.identity(path)
        if here is None or here in folders:
            return here is not None
        path += b"/.."
        if consent.identity(path) == here:
            return False
    return False


def user_home() -> "bytes | None":
    """Return the home folder of the password database, which no environment can move."""
    try:
        import pwd

        return pwd.getpwuid(posix.geteuid()).pw_dir.encode("utf-8", "surrogateescape")
    except (ImportError, KeyError):
        return None


def project_folders(env: "dict[bytes, bytes]") -> "set[tuple[int, int]]":
    """Return the identities of the folders whose settings are not the user's own word."""
    found = set()
    for path in (env.get(b"CLAUDE_PROJECT_DIR"), b"."):
        here = consent.identity(path) if path else None
        if here is not None:
            found.add(here)
    return found


def chosen_by_project(path: bytes, env: "dict[bytes, bytes]") -> bool:
    """Say whether a path lies in the project folder, so that a repository could have chosen it.

    A session opened in the user's home folder (or above it) has everything inside: there the rule
    would only switch the memory off.
    """
    folders = project_folders(env)
    if not within(path, folders):
        return False
    own = user_home()
    return own is None or not within(own, folders)


def memory_home(env: "dict[bytes, bytes]") -> "bytes | None":
    """Return the folder of the memory as `mkg.settings` resolves it, or None."""
    given = env.get(b"MKG_HOME")
    if given:
        return given if given.startswith(b"/") else None
    home = env.get(b"HOME") or user_home()
    if sys.platform == "darwin":
        return home + b"/Library/Application Support/meta-knowledge-graph" if home else None
    data = (env.get(b"XDG_DATA_HOME") or b"").strip()
    if not data.startswith(b"/"):
        data = home + b"/.local/share" if home else b""
    return data + b"/meta-knowledge-graph" if data else None


def read_pointer(folder: "bytes | None", env: "dict[bytes, bytes]") -> "dict[str, bytes]":
    """Return the pointer file as a mapping of text to bytes.

    Raises Refused when there is none, or when somebody else could have written it.
    """
    if folder is None:
        raise Refused("missing")
    try:
        flags = posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
        fd = posix.open(folder + b"/pointer", flags)
    except OSError as error:
        # ENOENT and ENOTDIR: not installed; ELOOP and EACCES: there, and not ours to follow.
        raise Refused("missing" if error.errno in (2, 20) else "refused") from None
    try:
        if chosen_by_project(folder, env):
            raise Refused("inside")
        found, above, me = posix.fstat(fd), posix.stat(folder), posix.geteuid()
        if found.st_mode & 0o170077 != 0o100000 or found.st_uid != me:
            raise Refused("refused")
        if above.st_mode & 0o022 or above.st_uid not in (me, 0):
            raise Refused("refused")
        text = posix.read(fd, POINTER_BOUND)
    finally:
        posix.close(fd)
    pointer = {}
    for line in text.split(b"\n"):
        name, equals, value = line.strip().partition(b"=")
        if equals:
            pointer[name.strip().decode("ascii", "replace")] = value.strip()
    for name in ("python", "socket", "spool"):
        if not pointer.get(name, b"").startswith(b"/"):
            raise Refused("refused")
    return pointer


def read_stdin(deadline: float) -> "tuple[bytes, dict[bytes, bytes]]":
    """Return (bytes, facts) of stdin until it closes, falls quiet after a `}`, or time is up.

    Up to 16 MiB come back whole; of more, only head and tail, and the facts hold length and sha256.
    """
    from select import select

    chunks, size, digest = [], 0, None
    head = tail = b""
    while size < READ_BOUND:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        # One client build left stdin open: a whole object followed by silence is the end.
        ended = chunks and chunks[-1][-64:].rstrip().endswith(b"}")
        if not select([0], [], [], min(left, QUIET) if ended else left)[0]:
            break
        chunk = posix.read(0, 65536)
        if not chunk:
            break
        size += len(chunk)
        if digest is not None:
            digest.update(chunk)
            tail = (tail + chunk)[-TAIL:]
            chunks = [chunk]
            continue
        chunks.append(chunk)
        if size > KEPT:
            import hashlib

            whole = b"".join(chunks)
            digest, head, tail, chunks = hashlib.sha256(whole), whole[:HEAD], whole[-TAIL:], [chunk]
            del whole
    if digest is None:
        return b"".join(chunks), {}
    facts = {b"mkg.raw_bytes": b"%d" % size, b"mkg.raw_sha256": digest.hexdigest().encode("ascii")}
    return head + b"\n" + tail, facts


def environment_block(env: "dict[bytes, bytes]") -> "dict[bytes, bytes]":
    """Return the few variables an event needs: secret values to mask, and what names the client."""
    block, size = {}, 0
    for name, value in env.items():
        upper = name.upper()
        wanted = name in PLAIN_NAMES or (
            len(value) >= 8 and any(mark in upper for mark in SECRET_NAMES)
        )
        size += len(name) + len(value) if wanted else 0
        if wanted and len(value) <= ENV_VALUE_BOUND and size <= ENV_BOUND:
            block[name] = value
    return block


def frame_of(client: str, event: str, raw: bytes, block: "dict[bytes, bytes]") -> bytes:
    """Return the request as `mkg_hooks.wire` reads it."""
    packed = b"".join(name + b"\0" + value + b"\0" for name, value in block.items())
    head = "MKG1 hook " + client + " " + event + " " + str(len(raw)) + " " + str(len(packed)) + "\n"
    return b"".join((head.encode("ascii"), raw, packed))


def connect(path: bytes, timeout: float) -> "_socket.socket | None":
    """Return a connection to the worker of this user, or None when nobody of ours listens."""
    import _socket

    try:
        if posix.stat(path).st_uid != posix.geteuid():
            return None
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        link.settimeout(timeout)
        link.connect(path)
        return link
    except (OSError, ValueError):
        return None


def deliver(
    link: "_socket.socket", frame: bytes, ack_by: float, out_by: float, waits: bool
) -> "tuple[bool, bytes | None]":
    """Send the frame; return (acknowledged, answer or None)."""
    answer, acked = b"", False
    try:
        link.settimeout(max(ack_by - time.monotonic(), 0.01))
        link.sendall(frame)
        while True:
            link.settimeout(max((out_by if acked else ack_by) - time.monotonic(), 0.01))
            part = link.recv(65536)
            answer += part
            if not acked and answer.startswith(b"ACK\n"):
                acked, answer = True, answer[4:]
                if not waits:
                    return True, None
            if acked and answer.startswith(b"OUT ") and b"\n" in answer:
                head, rest = answer.split(b"\n", 1)
                size = int(head[4:])
                if size > ANSWER_BOUND:
                    return True, b""
                if len(rest) >= size:
                    return True, rest[:size]
            if not part:
                return acked, b"" if acked else None
    except (OSError, ValueError):
        return acked, None


def say(data: bytes) -> None:
    """Write to stdout once, as far as the client reads it."""
    said.append(bool(data))
    while data:
        data = data[posix.write(1, data) :]


def speaks(client: str) -> bool:
    """Say whether a client shows its user a line."""
    return client in SPEAKING or client.startswith("custom:")


def notice(client: str, event: str, line: str) -> None:
    """Print one line for the user where the client takes one."""
    if speaks(client) and event in FOREGROUND:
        say(b'{"systemMessage":"' + line.replace('"', "'").encode("ascii") + b'"}')


def hook(client: str, event: str, env: "dict[bytes, bytes]", script: str, deputy: bool) -> None:
    """Carry one event from stdin to the worker, or to the spool."""
    import _signal  # pyright: ignore[reportMissingImports]

    waits = event in FOREGROUND
    hurry = event == "SessionEnd"
    read_for, stop_after = (1.2, 1.8) if waits else (0.5, 1.4) if hurry else (2.0, 3.5)
    _signal.signal(_signal.SIGALRM, lambda number, stack: posix._exit(0))
    _signal.setitimer(_signal.ITIMER_REAL, stop_after)
    home = memory_home(env)
    try:
        pointer = read_pointer(home, env)
    except Refused as reason:
        if event == "SessionStart":
            notice(client, event, LINES[str(reason)])
        return
    level, line = consent.allowed(home, env, pointer)
    if level == "off":
        if event == "SessionStart" and line:
            notice(client, event, line)
        return
    raw, facts = read_stdin(BORN + read_for)
    if not raw.strip():
        return
    block = environment_block(env)
    if deputy:
        facts = {name: value for name, value in env.items() if name.startswith(b"mkg.")}
    else:
        facts[b"mkg.sent_at"] = repr(time.time()).encode("ascii")
    facts[b"mkg.capture"] = level.encode("ascii")
    block.update(facts)
    alive = False
    if not deputy:
        now = time.monotonic()
        patience = (1.0 if waits else 0.4) + len(raw) / (8.0 * 1024 * 1024)
        ack_by = min(now + patience, BORN + stop_after - 0.5)
        link = connect(pointer["socket"], max(ack_by - now, 0.01))
        alive = link is not None
        if link is not None:
            frame = frame_of(client, event, raw, block)
            acked, answer = deliver(link, frame, ack_by, BORN + stop_after - 0.15, waits)
            link.close()
            if acked:
                if answer:
                    say(answer)
                elif waits and answer is None and speaks(client):
                    from mkg_hooks import notice as notices

                    line = notices.late(
                        pointer["spool"].decode("utf-8", "surrogateescape"), event, raw
                    )
                    if line:
                        notice(client, event, line)
                return
    keep(pointer, script, client, event, raw, block, env, facts)
    if not alive and not deputy:
        from mkg_hooks import starting

        starting.start(pointer, home or b"", env, chosen_by_project)


def keep(
    pointer: "dict[str, bytes]",
    script: str,
    client: str,
    event: str,
    raw: bytes,
    block: "dict[bytes, bytes]",
    env: "dict[bytes, bytes]",
    facts: "dict[bytes, bytes]",
) -> None:
    """Redact and spool the event without a worker, and print what there is to say."""
    if sys.version_info < (3, 11):  # noqa: UP036 (the launcher runs on any python3)
        from mkg_hooks import starting

        starting.deputy(pointer["python"], script, client, event, raw, env, facts)
        return
    from mkg_hooks import apart

    def work() -> bytes:
        from mkg_hooks import offline

        spool, hmac, most = pointer["spool"], pointer.get("hmac"), pointer.get("spool_mb")
        return offline.keep(client, event, raw, block, spool=spool, hmac_key=hmac, most=most)

    say(apart.run(work, WAIT_FOR_DISK))


def main(argv: "list[str]", env: "dict[bytes, bytes]") -> None:
    """Do what the command line says; a wrong one does nothing."""
    if b"MKG_IN_EXTRACTION" in env or len(argv) < 3:
        return
    first, second = token(argv[1]), token(argv[2])
    if first == "mcp":
        from mkg_hooks import mcp_entry

        mcp_entry.serve(second, env)
    else:
        hook(first, second, env, argv[0], argv[3:] == ["deputy"])
        if first in NEVER_EMPTY and not any(said):
            say(b"{}")
