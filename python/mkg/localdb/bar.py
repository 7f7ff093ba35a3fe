"""Shows a download: a bar on a terminal, a few plain lines elsewhere."""

import contextlib
import sys
import threading
from collections.abc import Callable, Generator

from mkg.localdb.fetch import Advance

Announce = Callable[[int, int], Advance]
Tell = Callable[[str], None]


@contextlib.contextmanager
def download_bar(tell: Tell) -> Generator[Announce]:
    """Yields what `fetch.ensure` calls when, and only when, something has to be downloaded."""
    with contextlib.ExitStack() as stack:

        def announce(jars: int, size: int) -> Advance:
            tell(f"fetching Neo4j, GDS and APOC: {jars} jars, {size / 1e6:.0f} MB")
            if not sys.stderr.isatty():
                return _plain(tell, size)
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                TimeRemainingColumn,
                TransferSpeedColumn,
            )

            columns = (
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
            )
            # Standard output may belong to a program that reads our JSON.
            shown = stack.enter_context(Progress(*columns, console=Console(stderr=True)))
            task = shown.add_task("jars", total=size)

            def advance(step: int) -> None:
                shown.advance(task, step)

            return advance

        yield announce


def _plain(tell: Tell, size: int) -> Advance:
    done, next_told, guard = 0, 25, threading.Lock()

    def advance(step: int) -> None:
        nonlocal done, next_told
        with guard:
            done += step
            while size and next_told <= 100 and done * 100 >= size * next_told:
                tell(f"  {next_told} % of {size / 1e6:.0f} MB")
                next_told += 25

    return advance
