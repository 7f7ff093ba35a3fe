"""Whether what was read is still there when what it taught is written."""

from collections.abc import Iterable

from mkg.bundle import Runner
from mkg.errors import MkgError
from mkg.features import forget


class Forgotten(MkgError):
    """Some of what was read is gone: what it taught may not be written. Read again."""


def stand(unit: Runner, event_ids: Iterable[str]) -> None:
    """Make sure, under their sessions' locks, that none of these events was forgotten meanwhile.

    Raises:
        Forgotten: one was.
    """
    ids = sorted(set(event_ids))
    if forget.standing(unit, event_ids=ids).standing < len(ids):
        raise Forgotten("events were forgotten while they were read")
