"""Folders of migrations for tests, each with the shipped baseline."""

from collections.abc import Mapping
from pathlib import Path

from mkg.bundle import files

BASELINE = "B0000__baseline"


def folder(root: Path, **migrations: str) -> Path:
    """A folder whose files are named by keyword; a body without a header gets one."""
    root.mkdir(parents=True, exist_ok=True)
    shipped = files.root("migrations") / f"{BASELINE}.cypher"
    (root / shipped.name).write_bytes(shipped.read_bytes())
    return write(root, migrations)


def write(root: Path, migrations: Mapping[str, str]) -> Path:
    """Write files beside what is there; `V0001__x__verify` is the verification of `V0001__x`."""
    for name, body in migrations.items():
        stem = name.removesuffix("__verify")
        verifies = stem != name
        header = f"// @{'verify' if verifies else 'migration'} {stem}\n"
        text = body if body.startswith("// @") else header + body
        path = root / f"{stem}{'.verify' if verifies else ''}.cypher"
        path.write_text(text, encoding="utf-8", newline="")
    return root
