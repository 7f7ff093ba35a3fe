"""What was installed where, and what each file held before: `installs/` in MKG_HOME."""

import hashlib
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mkg.errors import ConfigError
from mkg.install.clients import Place
from mkg.private import private_dir, write_private


@dataclass(slots=True)
class Record:
    """One file of an installation.

    Attributes:
        original: name of the backup that holds the file as it was; None when there was none.
        written: sha256 of what we left there.
        folders: folders that were made for it, outermost first.
        hooks, servers, toml: as in `Place`.
    """

    path: str
    original: str | None
    written: str
    folders: list[str] = field(default_factory=list[str])
    hooks: bool = False
    servers: list[str] | None = None
    toml: bool = False

    def place(self) -> Place:
        """The file as the table of clients names it."""
        servers = None if self.servers is None else tuple(self.servers)
        return Place(Path(self.path), self.hooks, servers, self.toml)


@dataclass(slots=True)
class Install:
    """One client in one scope; `folder` is the project's, or "" for the user."""

    client: str
    scope: str
    folder: str
    version: str
    files: list[Record] = field(default_factory=list[Record])


def digest(content: bytes) -> str:
    """sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


class Ledger:
    """The installations of one MKG_HOME."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "installs"
        self.path = self.folder / "ledger.json"
        self.installs = self._read()

    def _read(self) -> list[Install]:
        try:
            rows: Any = json.loads(self.path.read_text(encoding="utf-8"))["installs"]
            return [Install(files=[Record(**f) for f in row.pop("files")], **row) for row in rows]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            raise ConfigError(
                f"{self.path} is damaged; move it away and run `mkg install` again for each client"
            ) from None

    def find(self, client: str, scope: str, folder: str) -> Install | None:
        """The installation of a client in a scope."""
        wanted = (client, scope, folder)
        return next((i for i in self.installs if (i.client, i.scope, i.folder) == wanted), None)

    def record(self, path: Path) -> Record | None:
        """The file's record, whoever installed it."""
        return next((f for i in self.installs for f in i.files if f.path == str(path)), None)

    def original(self, record: Record) -> bytes | None:
        """What the file held before; None when there was no file.

        Raises:
            OSError: the backup is gone.
        """
        return None if record.original is None else (self.folder / record.original).read_bytes()

    def keep(self, path: Path, content: bytes | None) -> str | None:
        """Back a file's content up; returns the name of the backup."""
        if content is None:
            return None
        name = f"{digest(str(path).encode('utf-8', 'surrogateescape'))[:16]}.before"
        private_dir(self.folder)
        temporary = self.folder / f".{name}"
        temporary.touch(mode=0o600)
        temporary.write_bytes(content)
        temporary.replace(self.folder / name)
        return name

    def note(self, install: Install) -> None:
        """Write an installation down in place of its former entry."""
        self.forget(install, save=False)
        self.installs.append(install)
        self._save()

    def forget(self, install: Install, *, save: bool = True) -> None:
        """Take an installation off; the last one takes the folder with it."""
        wanted = (install.client, install.scope, install.folder)
        self.installs = [i for i in self.installs if (i.client, i.scope, i.folder) != wanted]
        if not save:
            return
        if self.installs:
            self._save()
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _save(self) -> None:
        rows = [asdict(install) for install in self.installs]
        write_private(self.path, json.dumps({"version": 1, "installs": rows}, indent=1) + "\n")
