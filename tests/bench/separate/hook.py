# /// script
# requires-python = ">=3.11"
# dependencies = ["neo4j>=6.4,<7"]
# ///
"""A hook as a program of its own: it imports the driver, connects, writes one event, and ends.

The yardstick of `tests/bench/hooks.py`: several of these are registered for one event, each run by
`uv run --script`. MKG_BENCH_URI, _USER and _PASSWORD name the store; the name of what it writes is
its argument.
"""

import json
import os
import sys
import uuid

import neo4j

WRITE = """
CYPHER 25
MERGE (session:BenchSession {id: $session_id})
CREATE (session)-[:HAS_EVENT]->(:BenchEvent {id: $id, part: $part, payload: $payload})
"""

event = json.load(sys.stdin)
auth = (os.environ["MKG_BENCH_USER"], os.environ["MKG_BENCH_PASSWORD"])
with neo4j.GraphDatabase.driver(os.environ["MKG_BENCH_URI"], auth=auth) as driver:
    driver.execute_query(
        WRITE,
        session_id=event["session_id"],
        id=uuid.uuid4().hex,
        part=sys.argv[1],
        payload=json.dumps(event),
    )
