"""The managed server's cold start by phase, the first query, and what an archive brings."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mkg import localdb
from mkg.embed import LocalMiniLM
from mkg.features.learnings import retrieval
from mkg.localdb.look import runner
from mkg.settings import Settings, subprocess_env
from mkg_hooks import dispatch
from mkg_hooks.deps import Deps
from tests.bench.measure import ratio, spread
from tests.bench.report import Report, Row
from tests.conftest import shared_cache

PHASES = ("process until it answers", "migrations", "proofs")


def measure(*, rounds: int, say: Callable[[str], None]) -> Report:
    """Start new stores in turn, without and with the class archive."""
    times: dict[str, dict[str, list[float]]] = {"plain": {}, "archive": {}}
    model = LocalMiniLM()
    with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
        caches = {"plain": _cache(Path(folder) / "plain"), "archive": _cache(Path(folder) / "aot")}
        say("recording the archive")
        started = time.perf_counter()
        localdb.tune(_settings(Path(folder) / "tuner", caches["archive"]), env=subprocess_env())
        recording = time.perf_counter() - started
        for number in range(rounds):
            for kind, cache in caches.items():
                say(f"start {number + 1} of {rounds}, {kind}")
                home = Path(folder) / f"{kind}-{number}"
                for phase, seconds in _one(_settings(home, cache), model).items():
                    times[kind].setdefault(phase, []).append(seconds * 1000)
    rows = [
        Row(
            f"{phase}, archive against plain", ratio(times["archive"][phase], times["plain"][phase])
        )
        for phase in times["plain"]
    ]
    plain = times["plain"]
    rows.append(
        Row(
            "first recall against the sixth, plain",
            ratio(plain["first recall"], plain["sixth recall"]),
        )
    )
    rows.append(
        Row(
            "first recall after the warm-up against the sixth without, plain",
            ratio(plain["recall after the warm-up"], plain["sixth recall"]),
        )
    )
    return Report(
        "start",
        rows,
        rounds,
        [f"recording the archive took {recording:.0f} s, once"]
        + [
            f"ms, {kind}, median / worst: "
            + ", ".join(f"{phase} {spread(row)}" for phase, row in found.items())
            for kind, found in times.items()
        ],
    )


def _one(settings: Settings, model: LocalMiniLM) -> dict[str, float]:
    """One cold start in a new home; seconds of each phase."""
    found: dict[str, float] = {}
    try:
        for phase, options in zip(
            PHASES,
            (
                {"migrate": False, "proofs": False},
                {"migrate": True, "proofs": False},
                {"migrate": False, "proofs": True},
            ),
            strict=True,
        ):
            started = time.perf_counter()
            localdb.up(settings, env=subprocess_env(), **options)
            found[phase] = time.perf_counter() - started
        with runner(settings, caller="bench") as run:
            query = retrieval.prepare("Which port does the search worker use?", model)

            def recall() -> float:
                started = time.perf_counter()
                retrieval.at_prompt(
                    run, query, project_id="p", session_id=None, excluded=[], limit=8
                )
                return time.perf_counter() - started

            recalls = [recall() for _ in range(6)]
            found["first recall"], found["sixth recall"] = recalls[0], recalls[5]
            started = time.perf_counter()
            dispatch.warm(Deps(run, model, settings, spool=lambda _: None))
            found["the warm-up itself"] = time.perf_counter() - started
            found["recall after the warm-up"] = recall()
    finally:
        localdb.down(settings)
    return found


def _settings(home: Path, cache: Path) -> Settings:
    return Settings(home=home, cache=cache, config_dir=home / "config", runtime_dir=home / "run")


def _cache(folder: Path) -> Path:
    """A cache with the machine's jars in it: an archive is made in one, not in the other."""
    folder.mkdir(parents=True)
    for name in ("jars", "models"):
        there = shared_cache() / name
        if there.exists():
            (folder / name).symlink_to(there)
    return folder
