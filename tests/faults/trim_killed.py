"""Appends to a full spool, or masks one, and kills itself at one call that changes the disk.

    python trim_killed.py HOOKS SPOOL CAP AT         AT counts the calls; 0 only prints how many
    python trim_killed.py HOOKS SPOOL CAP AT WORD    masks the word

The calls: open for writing, write, fsync, fdatasync, replace, unlink. A write dies half-way.
"""

import os
import signal
import sys

sys.path.insert(0, sys.argv[1])
from mkg_hooks import spool_mask
from mkg_hooks.spool import Spool

at, calls = int(sys.argv[4]), 0


def guarded(name, real):
    def call(*words, **more):
        global calls
        changes = name != "open" or bool(words[1] & (os.O_CREAT | os.O_WRONLY))
        calls += changes
        if changes and calls == at:
            if name == "write":
                real(words[0], bytes(words[1])[: len(words[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*words, **more)

    return call


for name in ("open", "write", "fsync", "fdatasync", "replace", "unlink"):
    if hasattr(os, name):
        setattr(os, name, guarded(name, getattr(os, name)))
spool = Spool(sys.argv[2], cap_bytes=int(sys.argv[3]))
if sys.argv[5:]:
    word = sys.argv[5]
    spool_mask.mask(
        spool, lambda record: {k: str(v).replace(word, "[X]") for k, v in record.items()}
    )
else:
    spool.append({"name": "UserPromptSubmit", "event_key": "last", "prompt": "the last"})
print(calls)
