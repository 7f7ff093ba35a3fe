"""One of many workers at the day's cap: python -m tests.support.reserving URI PASSWORD DAY KIND.

Reserves as often as it may be asked to and prints how often it was granted. KIND is
`locked`, or the statement takes no lock; both think between reading the sums and writing them.
"""

import sys
import uuid
from typing import Any

from mkg.bundle.files import root
from mkg.db import Neo4jRunner

TRIES, TOKENS, MOST, MOST_USD = 5, 10, 100, 0.2
LOCK = "SET day.last_at = datetime.realtime()\n"
READ = "WITH day, again, again OR"
THINK = """CALL (day) {
  UNWIND range(1, 250000) AS n
  RETURN sum(n * size(day.day)) AS thought
}
"""


def statement(kind: str) -> str:
    """The product's own statement, slowed down, with its lock or without.

    MERGE under its constraint holds others up as well while it looks, so both go.
    """
    text = (root("cypher") / "ops" / "model_reserve.cypher").read_text("utf-8")
    assert text.count(LOCK) == 1 and text.count(READ) == 1
    text = text.replace(READ, THINK + READ)
    if kind == "locked":
        return text
    merge, set_, rest = text.partition(LOCK)
    assert set_ and merge.count("MERGE (day:ModelUsage {id: 'day:' + $day})") == 1
    return "MATCH (day:ModelUsage {id: 'day:' + $day})\n" + rest


if __name__ == "__main__":
    uri, password, day, kind = sys.argv[1:]
    granted = 0
    with Neo4jRunner(uri, ("neo4j", password), "neo4j") as run:
        text = "CYPHER 25\n" + statement(kind)
        run.verify()
        print("ready", flush=True)
        sys.stdin.readline()
        for _ in range(TRIES):
            asked: dict[str, Any] = {"day": day, "call": uuid.uuid4().hex, "tokens": TOKENS}
            asked |= {"usd": 0.02, "most_tokens": MOST, "most_usd": MOST_USD}
            granted += bool(run.execute(text, asked).rows[0]["granted"])
    print(granted)
