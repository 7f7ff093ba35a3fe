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
    """Write files beside what is there; `V0001__x__verify` becomes `V0001__x.verify.cypher`."""
    for name, body in migrations.items():
        beside = name.split("__")[2] if name.count("__") == 2 else ""
        stem = name.removesuffix(f"__{beside}") if beside else name
        header = f"// @{beside or 'migration'} {stem}\n"
        text = body if body.startswith("// @") else header + body
        path = root / f"{stem}{f'.{beside}' if beside else ''}.cypher"
        path.write_text(text, encoding="utf-8", newline="")
    return root
