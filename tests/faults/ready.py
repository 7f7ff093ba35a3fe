"""Programs that start at once: forked from a process that has imported what they need.

Each is a process of its own with its own environment, and a kill -9 ends it alone; what is saved is
the second that Python takes to import the product, at every trial.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess

PROGRAMS = ("tests.faults.crashing_worker", "tests.faults.crashing_reader")
_made = multiprocessing.get_context("forkserver")
_made.set_forkserver_preload(["mkg.cli.worker", *PROGRAMS])


def started(
    program: Callable[..., None], *words: str, env: Mapping[str, str] | None = None
) -> BaseProcess:
    """A program in a process of its own; its `exitcode` is None while it runs."""
    process = _made.Process(target=_run, args=(program, words, dict(env or os.environ)))
    # Whoever is left when the tests end is ended.
    process.daemon = True
    process.start()
    return process


def _run(program: Callable[..., None], words: tuple[str, ...], env: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir("/")
    # Who reads its arguments finds none of the tests'.
    sys.argv = [program.__name__]
    program(*words)
