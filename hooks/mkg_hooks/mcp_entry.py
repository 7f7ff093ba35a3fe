"""`launch.py mcp FACE`: become the installed MCP server, or stand in for it.

Imported by the launcher of any Python version, so the syntax is as old as the launcher's.
"""

import posix

from mkg_hooks import consent, launcher, not_ready

# What a project may set for the servers its client starts must reach neither Python nor its loader.
SCRUBBED = (b"PYTHON", b"LD_", b"DYLD_")


def serve(face: str, env: "dict[bytes, bytes]") -> None:
    """Replace this process by the real server; without one answer that it is not there."""
    home, reason = launcher.memory_home(env), "missing"
    try:
        pointer = launcher.read_pointer(home, env)
        python = pointer["python"]
        command = [python, b"-P", b"-m", b"mkg", b"serve", b"--face", face.encode("ascii")]
        child = dict((k, v) for k, v in env.items() if not k.startswith(SCRUBBED))
        child[b"MKG_HOME"] = home or b""
        if posix.access(python, posix.X_OK) and consent.identity(pointer.get("root", b"/")):
            posix.execve(python, command + [b"--from-client"], child)  # noqa: RUF005
    except launcher.Refused as refusal:
        reason = str(refusal)
    except OSError:
        pass
    not_ready.serve(face, launcher.LINES[reason])
