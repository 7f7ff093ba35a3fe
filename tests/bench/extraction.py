"""Learning from sessions without a model: a window read, judged and marked, beside its storing."""

from collections.abc import Callable
from typing import Any

from mkg.db import Neo4jRunner
from mkg.features import timeline
from mkg.features.learnings.windows import learn
from mkg.features.learnings.write import Owner
from tests.bench.measure import interleaved, ratio, spread
from tests.bench.report import Report, Row
from tests.support.embedding import minilm
from tests.support.events import row

PROJECT = "host/acme/bench"
TURNS = 20


def measure(run: Neo4jRunner, *, rounds: int, say: Callable[[str], None]) -> Report:
    """`rounds` sessions of TURNS prompts and tool calls: stored, then read."""
    say(f"{rounds} sessions of {TURNS} turns")
    embedder, warm = minilm(), 3
    # The order within a round changes, so what is read was stored before.
    for number in range(rounds + warm):
        timeline.append(run, events=_events(f"r{number}"))

    def store(number: int) -> None:
        timeline.append(run, events=_events(f"w{number}"))

    def read(number: int) -> None:
        owner = Owner(PROJECT, "ann")
        found = learn(run, embedder, session_id=f"r{number}", owner=owner)
        assert found.events == events, "a session was read in part"

    events = len(_events(""))
    timed = interleaved({"store": store, "read": read}, rounds=rounds, warm=warm)
    middle = sorted(timed["read"])[len(timed["read"]) // 2] / 1000
    return Report(
        "extraction",
        [
            Row(
                f"reading a session of {events} events without a model (rules, vectors, gate,"
                " marks) against storing its events",
                ratio(timed["read"], timed["store"]),
            )
        ],
        rounds,
        [
            "ms, median / p95: " + ", ".join(f"{n} {spread(one)}" for n, one in timed.items()),
            f"events read a second: {events / middle:.0f}",
        ],
    )


def _events(session: str) -> list[dict[str, Any]]:
    """Prompts of which every fourth states something, calls of which every fifth fails, a stop."""
    made: list[dict[str, Any]] = []
    for n in range(TURNS):
        said = f"Please look at module {n} once more, the list in it is too long."
        if n % 4 == 0:
            said = f"Remember that service {n} of {session} listens on port {7000 + n}."
        prompt = {"prompt": said, "origin": "user_typed", "project": PROJECT}
        made.append(row("UserPromptSubmit", session=session, second=3 * n, **prompt))
        call = {"tool_name": "Bash", "tool_input": f'{{"command": "make part{n}"}}'}
        failed = {"tool_error": True, "error": f"error: no rule for part{n}"} if n % 5 == 0 else {}
        name = "PostToolUseFailure" if failed else "PostToolUse"
        made.append(row(name, session=session, second=3 * n + 1, project=PROJECT, **call, **failed))
    stop = {"last_message": "Done.", "project": PROJECT}
    made.append(row("Stop", session=session, second=3 * TURNS, **stop))
    return made
