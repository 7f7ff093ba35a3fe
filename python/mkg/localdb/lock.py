"""Writes server.lock anew; for developers, run by `make lock-server`. Needs Maven and a network.

Maven resolves the two sets of dependencies below; what ends up in the lock is what Maven put into
its local repository, by content. Users never need Maven.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from mkg.errors import LocalDbError
from mkg.localdb.jars import Jar, parse

SERVER = "2026.01.4"
GDS = "2.26.0"
APOC = "5.26.19"
# APOC's plain jars do not bring what its conversion, JSON and export members link to.
_LINKED = (
    "org.roaringbitmap:RoaringBitmap:1.3.0",
    "com.opencsv:opencsv:5.9",
    "com.jayway.jsonpath:json-path:2.9.0",
    "net.minidev:json-smart:2.5.0",
    "net.minidev:accessors-smart:2.5.0",
)
_DECLARES = tuple(
    f"Lorg/neo4j/procedure/{name};".encode()
    for name in ("Procedure", "UserFunction", "UserAggregationFunction")
)
_HEADER = """\
# Jars of the managed local server: folder, coordinate, sha256, bytes.
# Written by `make lock-server`.
"""


def main(words: list[str] | None = None) -> None:
    """Resolve, hash and write; the shipped pin into the shipped file unless told otherwise."""
    parser = argparse.ArgumentParser(prog="make lock-server", description=__doc__)
    parser.add_argument("--server", default=SERVER)
    parser.add_argument("--gds", default=GDS)
    parser.add_argument("--apoc", default=APOC)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("server.lock"))
    asked = parser.parse_args(words)
    server = resolve(server_of(asked.server))
    taken = {path.name for _, path in server}
    # A file that the server already has must not be loaded a second time.
    plugins = [
        (where, path)
        for where, path in resolve(plugins_of(asked.gds, asked.apoc))
        if path.name not in taken
    ]
    jars = [_locked("lib", where, path) for where, path in server]
    jars += [
        _locked("plugins" if declares_procedures(path) else "ext", where, path)
        for where, path in plugins
    ]
    lock = parse("\n".join(jar.line for jar in jars))
    text = _HEADER + "".join(f"{jar.line}\n" for jar in lock.jars)
    asked.out.write_text(text, encoding="utf-8")
    sys.stderr.write(f"{len(lock.jars)} jars, {lock.total / 1e6:.0f} MB, {lock.digest}\n")


def server_of(version: str) -> tuple[str, ...]:
    """Coordinates that bring a whole server."""
    return (f"org.neo4j.app:neo4j-server:{version}", f"org.neo4j:neo4j:{version}")


def plugins_of(gds: str, apoc: str) -> tuple[str, ...]:
    """Coordinates that bring both plugins and what they link to."""
    parts = ("proc", "opengds-extension", "open-model-catalog")
    return (
        *(f"org.neo4j.gds:{part}:{gds}" for part in parts),
        *(f"org.neo4j.procedure:{part}:{apoc}" for part in ("apoc-core", "apoc-common")),
        *_LINKED,
    )


def resolve(coordinates: tuple[str, ...]) -> list[tuple[list[str], Path]]:
    """Every runtime dependency of some artifacts: its coordinate parts and its file.

    Raises:
        LocalDbError: Maven failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        pom, listing = Path(folder, "pom.xml"), Path(folder, "list.txt")
        pom.write_text(_pom(coordinates), encoding="utf-8")
        done = subprocess.run(
            [
                *("mvn", "--batch-mode", "--quiet", "--file", str(pom), "dependency:list"),
                *("-DincludeScope=runtime", "-DoutputAbsoluteArtifactFilename=true"),
                f"-DoutputFile={listing}",
            ],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise LocalDbError(f"Maven failed:\n{done.stdout[-2000:]}")
        return sorted(_listed(listing.read_text(encoding="utf-8")), key=lambda row: row[1].name)


def declares_procedures(path: Path) -> bool:
    """Whether some class of a jar carries one of the server's procedure annotations."""
    with zipfile.ZipFile(path) as jar:
        for name in jar.namelist():
            if name.endswith(".class"):
                code = jar.read(name)
                if any(mark in code for mark in _DECLARES):
                    return True
    return False


def _pom(coordinates: tuple[str, ...]) -> str:
    rows: list[str] = []
    for coordinate in coordinates:
        group, artifact, version = coordinate.split(":")
        rows.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version></dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>mkg</groupId><artifactId>server</artifactId><version>1</version>"
        f"<dependencies>{''.join(rows)}</dependencies></project>"
    )


def _listed(text: str) -> list[tuple[list[str], Path]]:
    found: list[tuple[list[str], Path]] = []
    for line in text.splitlines():
        # group:artifact:jar[:classifier]:version:scope:path
        parts = line.replace("\x1b[m", "").split(" -- ")[0].strip().split(":")
        if len(parts) not in (6, 7) or parts[2] != "jar":
            continue
        group, artifact, _, *classifier = parts[: len(parts) - 3]
        found.append(([group, artifact, parts[-3], *classifier], Path(parts[-1])))
    return found


def _locked(folder: str, where: list[str], path: Path) -> Jar:
    group, artifact, version, *classifier = where
    content = path.read_bytes()
    jar = Jar(
        folder,
        group,
        artifact,
        version,
        classifier[0] if classifier else None,
        hashlib.sha256(content).hexdigest(),
        len(content),
    )
    if jar.name != path.name:
        raise LocalDbError(f"{path.name} is not named like its coordinate {jar.coordinate}")
    return jar


if __name__ == "__main__":
    main()
