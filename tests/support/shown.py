"""A turn as a model is shown it, without a window round it."""

from mkg.features.learnings.chunks import Shown
from mkg.features.learnings.extract import Turn


def shown(id: str, text: str, *, origin: str = "user_typed") -> Shown:
    """Something the user said."""
    return Shown(id, Turn("e1", 1, "user", text, origin), text, 0)
