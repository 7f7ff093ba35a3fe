"""The managed local server: fetch, configure, start, stop; and where it answers.

Only `endpoint` is needed by whoever talks to the database; it reads three small files. The rest is
loaded when it is called.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkg.localdb.archived import Manifest
    from mkg.localdb.backups import Done
    from mkg.localdb.look import Progress, Status
    from mkg.settings import Settings

__all__ = [
    "Endpoint",
    "backup",
    "down",
    "endpoint",
    "fetch_for_tests",
    "logs",
    "look_into",
    "reset",
    "restore",
    "start_for_tests",
    "status",
    "stop_for_tests",
    "tune",
    "up",
]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the managed server answers, and as whom."""

    uri: str
    username: str
    password: str


def endpoint(settings: "Settings") -> Endpoint | None:
    """The running managed server; None when it does not run or the store is a foreign one.

    A port that nobody of ours holds is not given away: whoever listens there now would be told the
    password.
    """
    from mkg.localdb import store

    if settings.store.uri is not None:
        return None
    place = store.Store(settings.paths.store_dir)
    port = store.remembered_port(place)
    if port is None or store.running(place) is None:
        return None
    secret = store.password(place)
    return Endpoint(f"bolt://127.0.0.1:{port}", store.USER, secret) if secret else None


def _quiet(_: str) -> None:
    return None


def up(
    settings: "Settings",
    progress: "Progress" = _quiet,
    *,
    env: Mapping[str, str] | None = None,
    migrate: bool = True,
    proofs: bool = True,
    new_password: bool = False,
) -> "Status":
    """Make the effective store ready; harmless to repeat.

    Args:
        progress: told a line about each step.
        env: of the user's shell, where JAVA_HOME and PATH may name a Java; leave it out where an
            agent client started us (D17).
        migrate: apply the migrations at the first start of a managed store.
        proofs: prove GDS, APOC, vector and full-text search by a query each.
        new_password: make another password for the managed store first; its data stay.

    Raises:
        LocalDbError: the managed server cannot be fetched or started, or lacks something.
        GraphUnavailable: a foreign server does not answer.
        ConfigError: a setting does not do.
    """
    from mkg.localdb import life

    return life.up(
        settings,
        progress,
        env or {},
        migrate=migrate,
        proofs=proofs,
        new_password=new_password,
    )


def down(settings: "Settings", progress: "Progress" = _quiet) -> bool:
    """Stop the managed server; False when it did not run.

    Raises:
        Refused: the store is a foreign server.
        LocalDbError: it does not end.
    """
    from mkg.localdb import life

    return life.down(settings, progress)


def status(settings: "Settings") -> "Status":
    """What is known of the effective store; changes nothing."""
    from mkg.localdb import look

    return look.managed(settings) if settings.store.uri is None else look.foreign(settings)


def logs(settings: "Settings", lines: int = 50) -> list[str]:
    """The last lines that the managed server wrote.

    Raises:
        Refused: the store is a foreign server.
    """
    from mkg.localdb import life

    return life.logs(settings, lines)


def reset(settings: "Settings", progress: "Progress" = _quiet) -> bool:
    """Stop the managed server and delete its store; False when there was none.

    Raises:
        Refused: the store is a foreign server.
        LocalDbError: the server does not end, or the folder is not a store's.
    """
    from mkg.localdb import life

    return life.reset(settings, progress)


def backup(
    settings: "Settings",
    file: Path,
    progress: "Progress" = _quiet,
    *,
    env: Mapping[str, str] | None = None,
) -> "Done":
    """Write the managed store into a new file; the server is stopped meanwhile.

    Raises:
        Refused: the store is a foreign server or was never started, or the file exists.
        LocalDbError: the store is damaged, or a step fails; the store is as it was before.
    """
    from mkg.localdb import backups

    return backups.backup(settings, file.absolute(), progress, env or {})


def look_into(file: Path) -> "Manifest":
    """What is known of a backup, once all of it has been read and found whole.

    Raises:
        Refused: it is damaged, not ours, or of a newer server.
    """
    from mkg.localdb import backups

    return backups.look_into(file.absolute())


def restore(
    settings: "Settings",
    file: Path,
    progress: "Progress" = _quiet,
    *,
    env: Mapping[str, str] | None = None,
) -> "Done":
    """Make a backup the managed store, once it has been loaded and measured beside the old one.

    Raises:
        Refused: the store is a foreign server, or the file is damaged, not ours or too new.
        LocalDbError: a step fails; the store is as it was before.
    """
    from mkg.localdb import backups

    return backups.restore(settings, file.absolute(), progress, env or {})


def tune(
    settings: "Settings", progress: "Progress" = _quiet, *, env: Mapping[str, str] | None = None
) -> bool:
    """Record a start, once per release and Java, so that later ones are faster; False when done.

    Raises:
        Refused: the Java in use is too old to do it.
        LocalDbError: the recording failed; nothing is kept.
    """
    from mkg.localdb.record import record

    return record(settings, progress, env or {})


def _test_settings(home: Path, cache: Path) -> "Settings":
    from mkg.settings import Settings

    return Settings(home=home, cache=cache, config_dir=home / "config", runtime_dir=home / "run")


def start_for_tests(home: Path, cache: Path) -> Endpoint:
    """A managed server of a test run's own, empty and not migrated."""
    from mkg.settings import subprocess_env

    settings = _test_settings(home, cache)
    try:
        up(settings, env=subprocess_env(), migrate=False, proofs=False)
        found = endpoint(settings)
        assert found is not None
        return found
    except BaseException:
        # The caller has nothing to stop yet.
        down(settings)
        raise


def fetch_for_tests(cache: Path) -> None:
    """Everything that `start_for_tests` would fetch, so that it needs no network."""
    from mkg.localdb import fetch, jars

    fetch.ensure(cache, jars.load_lock())


def stop_for_tests(home: Path) -> None:
    """Stop what `start_for_tests` started."""
    down(_test_settings(home, home))
