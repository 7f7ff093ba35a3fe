"""Dumps, loads and checks a stopped store with the tool in the server's own jars.

`org.neo4j.cli.AdminTool` is what `neo4j-admin` calls; it reads the configuration of the store, so
`launch.write_configuration` comes first (design notes on the server, section 14.7).
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mkg.errors import LocalDbError
from mkg.localdb import launch, store
from mkg.localdb.java import Java
from mkg.localdb.look import Progress
from mkg.localdb.store import Store

_PERCENT = re.compile(r"data:\s+(\d+)\.\d%|\.\s+(\d+)%")
_NOISE = ("WARNING:", "Files:", "Done:", "....")
_STEP = 25


def dump(place: Store, runtime: Java, target: Path, progress: Progress) -> Path:
    """Write the store's data into `target`; the file.

    Raises:
        LocalDbError: the tool fails, for example because the disk is full.
    """
    _run(place, runtime, ["dump", store.DATABASE, f"--to-path={target}"], progress)
    return target / f"{store.DATABASE}.dump"


def load(place: Store, runtime: Java, source: Path, progress: Progress) -> None:
    """Make the data of a dump the store's data; there must be none yet.

    Raises:
        LocalDbError: the tool fails.
    """
    _run(place, runtime, ["load", store.DATABASE, f"--from-path={source}"], progress)


def check(place: Store, runtime: Java, progress: Progress) -> None:
    """Read every record and index of the store and compare them.

    Raises:
        LocalDbError: something does not fit, or the tool fails.
    """
    words = ["check", store.DATABASE, f"--report-path={place.folder / 'tmp'}"]
    _run(place, runtime, [*words, "--max-off-heap-memory=256m"], progress)


def _run(place: Store, runtime: Java, words: list[str], progress: Progress) -> None:
    command = [
        *(str(runtime.path), f"@{place.conf / 'java.args'}", "org.neo4j.cli.AdminTool"),
        *("database", *words),
    ]
    homes = {"NEO4J_HOME": str(place.folder), "NEO4J_CONF": str(place.conf)}
    env = {**launch.ENVIRONMENT, "HOME": str(place.folder), **homes}
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=env,
        cwd=place.folder,
        umask=0o077,
    ) as running:
        assert running.stdout is not None
        said = list(_heard(running.stdout, progress))
    if running.returncode:
        told = "\n  ".join(said[-8:]) or "(nothing)"
        raise LocalDbError(f"the offline tool could not {words[0]} the data; it says:\n  {told}")


def _heard(output: IO[str], progress: Progress) -> Iterator[str]:
    """Lines that tell something; how far it is goes to `progress`, in steps of a quarter."""
    told = 0
    for line in output:
        found = _PERCENT.search(line)
        if found:
            percent = int(found[1] or found[2]) // _STEP * _STEP
            # Less than before: the tool's next pass has begun.
            if percent > told:
                progress(f"  {percent} %")
            told = percent
        elif line.strip() and not line.startswith(_NOISE):
            yield line.rstrip()
