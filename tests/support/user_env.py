"""The environment of a made-up user: a HOME of their own and nothing of whoever runs the tests."""

import os
import sys
from pathlib import Path

from tests.conftest import shared_cache


def user_env(home: Path, **more: str) -> dict[str, str]:
    """What a client or a terminal of that user hands to its programs."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "MKG_HOME": str(home / "mkg"),
        "MKG_CACHE": str(shared_cache()),
        "MKG_USER_ID": "ann",
        "LANG": "C.UTF-8",
        **more,
    }


def importable() -> dict[str, str]:
    """Lets a program of ours be imported where it is not installed."""
    return {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
