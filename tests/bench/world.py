"""A managed server of the run's own, and sentences to fill it with."""

import contextlib
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import neo4j

from mkg import localdb
from mkg.db import Neo4jRunner
from mkg.migrate import apply_all
from tests.conftest import Server, shared_cache

_SUPPORT = Path(__file__).parents[1] / "support"
PARTS = [
    f"{side} {thing}"
    for side in ("billing", "search", "login", "export", "mail", "audit", "cart", "report")
    for thing in ("service", "worker", "gateway", "schema", "cache", "queue", "dashboard", "client")
]
FACTS = [
    "The {part} listens on port {number}.",
    "The {part} reads its settings from {word}-{number}.toml.",
    "Deploy the {part} with `make {word}`, never by hand.",
    "The {part} keeps its data in the table {word}_{number}.",
    "We chose {word} for the {part} because it restarts quickly.",
    "Tests of the {part} need the environment variable {upper}_{number}.",
    "The {part} retries {number} times before it gives up.",
    "The owner of the {part} is the {word} team.",
]
ASKED = [
    "Which port is used by the {part}?",
    "Where do I configure the {part}?",
    "How is the {part} rolled out?",
    "Which table belongs to the {part}?",
    "Why did we take {word} for the {part}?",
    "The tests of the {part} fail, which variable is missing?",
    "Who answers for the {part}?",
]


@contextlib.contextmanager
def server() -> Iterator[tuple[Neo4jRunner, neo4j.Driver, Server]]:
    """A migrated server in a throw-away home, stopped at the end: runner, bare driver, address."""
    with tempfile.TemporaryDirectory(prefix="mkg-bench-") as folder:
        home = Path(folder)
        endpoint = localdb.start_for_tests(home, shared_cache())
        try:
            found = Server(endpoint.uri, endpoint.username, endpoint.password)
            auth = (found.username, found.password)
            with (
                found.runner(caller="bench") as run,
                neo4j.GraphDatabase.driver(found.uri, auth=auth, telemetry_disabled=True) as driver,
            ):
                apply_all(run)
                yield run, driver, found
        finally:
            localdb.stop_for_tests(home)


def wipe(run: Neo4jRunner) -> None:
    """Remove everything but the migrations."""
    text = (_SUPPORT / "wipe.cypher").read_text(encoding="utf-8")
    run.execute(f"CYPHER 25\n{text}", mode="auto", name="bench.wipe")


def facts(count: int, *, seed: int = 7) -> list[str]:
    """Distinct sentences of the kind a developer states."""
    chance, made = random.Random(seed), dict[str, None]()
    while len(made) < count:
        made[_sentence(chance.choice(FACTS), chance)] = None
    return list(made)


def questions(count: int, *, seed: int = 8) -> list[str]:
    """Prompts about the same parts, in other words."""
    chance = random.Random(seed)
    return [_sentence(chance.choice(ASKED), chance) for _ in range(count)]


def _sentence(form: str, chance: random.Random) -> str:
    word = "".join(chance.choice("bdfglmnprstvz") + chance.choice("aeiou") for _ in range(3))
    return form.format(
        part=chance.choice(PARTS),
        number=chance.randrange(1000, 9999),
        word=word,
        upper=word.upper(),
    )
