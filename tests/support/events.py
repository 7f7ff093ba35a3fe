"""Parameter rows of `timeline.append`, as the hooks make them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from mkg.features import timeline

START = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)


def record(
    name: str,
    *,
    session: str = "s1",
    key: str | None = None,
    second: float = 0,
    natural: bool = True,
    **fields: Any,
) -> dict[str, Any]:
    """A spool record as `mkg_hooks.payload.to_record` gives it."""
    at = (START + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")
    return {
        "v": 1,
        "kind": "event",
        "client": "claude",
        "name": name,
        "session_id": session,
        "event_key": key or f"claude:{session}:{name}:{second}",
        "natural_key": natural,
        "received_at": at,
        **fields,
    }


def row(
    name: str,
    *,
    project: str | None = "host/acme/shop",
    user: str = "ann",
    origin: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """One row of `timeline.append`."""
    return timeline.event_row(
        record(name, **fields),
        project_id=project,
        project_name="shop" if project else None,
        user_id=user,
        user_source="test",
        origin=origin,
    )
