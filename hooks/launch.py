"""The one executable an agent client calls; exits 0 whatever happens.

    python3 -I -S launch.py CLIENT EVENT     one event, JSON on stdin, the answer on stdout
    python3 -I -S launch.py mcp FACE         become the MCP server of that face

It works without the flags too, and on any python3: a SyntaxError, a missing module or a wrong word
must not end in a traceback or in exit code 2, which to a client means "block the user's prompt".
"""

# pyright: basic

import sys

try:
    import posix
except ImportError:
    sys.stderr.write("mkg: Linux and macOS only; this hook does nothing here\n")
    sys.exit(0)
try:
    # PYTHONPATH may be relative and then name the project: nothing but Python's own and ours.
    own = (sys.base_prefix + "/", sys.base_exec_prefix + "/")
    sys.path[:] = [entry for entry in sys.path if entry.startswith(own)]
    sys.path.insert(0, __file__.rpartition("/")[0] or ".")
    from mkg_hooks import launcher

    launcher.main(sys.argv, posix.environ)
except BaseException:
    pass
posix._exit(0)
