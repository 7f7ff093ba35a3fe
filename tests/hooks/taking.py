"""Taking one payload in, as the worker does."""

import json
from typing import Any

from mkg_hooks import intake
from mkg_hooks.payload import HookEvent

KEY = b"k" * 32
AT = "2026-11-30T10:00:00.000000Z"


def accept(event: str, payload: Any, client: str = "claude", **env: str) -> HookEvent | None:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return intake.accept(client, event, raw, env, hmac_key=KEY, received_at=AT)


def took(event: str, payload: Any, client: str = "claude", **env: str) -> HookEvent:
    found = accept(event, payload, client, **env)
    assert found is not None
    return found
