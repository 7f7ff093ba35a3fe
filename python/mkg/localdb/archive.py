"""Where Java keeps what it learnt from one start, for the next ones (written by `record`)."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from mkg.localdb.java import Java

if TYPE_CHECKING:
    from mkg.localdb.launch import Plan

FLOOR = 24


def place(cache: Path, plan: "Plan", runtime: Java) -> Path:
    """Where the archive of a distribution under one Java lies, or would lie."""
    parts = (plan.lock.digest, str(plan.home), runtime.text, str(plan.fit.optimise))
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return cache / "aot" / f"{key}.aot"


def arguments(cache: Path, plan: "Plan", runtime: Java) -> tuple[str, ...]:
    """What lets Java use the archive; nothing when there is none. A misfit is ignored by Java."""
    found = place(cache, plan, runtime)
    return (f"-XX:AOTCache={found}",) if runtime.major >= FLOOR and found.is_file() else ()
