"""Puts a restored store in the place of the old one, so that a kill at any moment loses neither."""

import shutil
from collections.abc import Callable
from pathlib import Path

from mkg.localdb.store import Store

Progress = Callable[[str], None]


def side(place: Store) -> Store:
    """Where a restored store is made and measured, beside the one in use."""
    return Store(_beside(place, "restoring"), private=True)


def exchange(place: Store) -> None:
    """The side store becomes the store; the old one is deleted last.

    Both servers have been stopped. Until the second rename the old store is the one that counts.
    """
    old = _beside(place, "replaced")
    if place.folder.exists():
        place.folder.replace(old)
    side(place).folder.replace(place.folder)
    shutil.rmtree(old, ignore_errors=True)


def recover(place: Store, progress: Progress) -> None:
    """Finish or undo an exchange that was broken off between its steps."""
    old = _beside(place, "replaced")
    if not old.exists():
        return
    if place.folder.exists():
        shutil.rmtree(old)
        return
    progress("a restore was broken off; the store is as it was before")
    old.replace(place.folder)


def _beside(place: Store, what: str) -> Path:
    return place.folder.with_name(f".{place.folder.name}.{what}")
