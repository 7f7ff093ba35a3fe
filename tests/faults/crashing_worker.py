"""The real worker, killed as by kill -9 at one point of its way through a batch."""

import os
import signal
from collections.abc import Callable
from typing import Any

from mkg.cli import worker
from mkg_hooks import dispatch
from mkg_hooks import spool as spool_module
from mkg_hooks.spool import Spool

POINTS = ("read", "before the transaction", "after the transaction", "cursor", "unlink")


def dies(before: Any = None, after: Any = None) -> Callable[..., Any]:
    """A function that is the last thing this process does."""

    def call(*words: Any, **more: Any) -> Any:
        done = before(*words, **more) if before else None
        if before is None or after is None or after(done, *words):
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    return call


def work(point: str) -> None:
    """Be a worker that does not come further than that."""
    spool_module.ROLL_BYTES = 10
    if point == "read":
        Spool.read = dies(Spool.read, lambda done, *_: bool(done))
    elif point == "before the transaction":
        dispatch.apply = dies()
    elif point == "after the transaction":
        dispatch.apply = dies(dispatch.apply)
    elif point == "cursor":
        kept = dies(spool_module.write_whole, lambda done, path, *_: path.endswith("cursor"))
        spool_module.write_whole = kept
    else:
        os.unlink = dies(os.unlink, lambda done, path, *_: str(path).endswith(".seg"))
    worker.run()
