"""The limits of the door, on an app in memory: each lets the good through and stops the rest."""

from typing import Any

import anyio

from mkg.server.door import Door, Limits

TOKEN = "t" * 43
HEAD = [
    (b"host", b"127.0.0.1:8004"),
    (b"authorization", b"Bearer " + TOKEN.encode()),
    (b"content-type", b"application/json"),
]


class Inside:
    """An app that reads its body and answers 200, waiting for leave where it has a gate."""

    def __init__(self, gate: anyio.Event | None = None):
        self.bodies: list[bytes] = []
        self.gate = gate

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        if self.gate:
            await self.gate.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def ask(door: Door, *chunks: bytes, stuck: bool = False, head: Any = HEAD) -> int:
    """The status of one request whose body comes in chunks, or stops coming."""
    waiting = list(chunks)
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        if not waiting:
            await anyio.sleep_forever()
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting) or stuck}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await door({"type": "http", "method": "POST", "path": "/mcp/", "headers": head}, receive, send)
    (status,) = statuses
    return status


def test_a_body_without_a_length_is_counted_as_it_comes():
    inside = Inside()
    door = Door(inside, port=8004, token=TOKEN, limits=Limits(body_bytes=10))
    assert anyio.run(ask, door, b"12345", b"67890") == 200
    assert anyio.run(ask, door, b"12345", b"67890", b"1") == 413
    assert inside.bodies == [b"1234567890"]


def test_a_body_that_stops_coming_is_left():
    inside = Inside()

    async def go() -> tuple[int, int]:
        door = Door(inside, port=8004, token=TOKEN, limits=Limits(body_seconds=0.05))
        with anyio.fail_after(5):
            return await ask(door, b"12"), await ask(door, b"12", stuck=True)

    assert anyio.run(go) == (200, 408)
    assert inside.bodies == [b"12"]


def test_so_many_are_answered_at_once_and_the_next_is_told_to_come_again():
    async def go() -> list[int]:
        gate = anyio.Event()
        inside = Inside(gate)
        door = Door(inside, port=8004, token=TOKEN, limits=Limits(at_once=2))
        found: list[int] = []

        async def one() -> None:
            found.append(await ask(door, b"{}"))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(one)
                group.start_soon(one)
                await anyio.wait_all_tasks_blocked()
                found.append(await ask(door, b"{}"))
                gate.set()
            found.append(await ask(door, b"{}"))
        return found

    assert anyio.run(go) == [503, 200, 200, 200]


def test_a_head_that_says_a_thing_twice_is_turned_away():
    door = Door(Inside(), port=8004, token=TOKEN)
    assert anyio.run(ask, door, b"{}") == 200
    for name, status in ((b"host", 421), (b"authorization", 401), (b"content-type", 415)):
        (value,) = [value for known, value in HEAD if known == name]

        async def twice(name: bytes = name, value: bytes = value) -> int:
            return await ask(door, b"{}", head=[*HEAD, (name, value)])

        assert anyio.run(twice) == status


def test_what_is_no_request_is_not_answered():
    inside = Inside()
    door = Door(inside, port=8004, token=TOKEN)

    async def silent(*_: Any) -> Any:
        raise AssertionError("nothing is read or sent")

    anyio.run(door, {"type": "websocket", "headers": []}, silent, silent)
    assert inside.bodies == []
