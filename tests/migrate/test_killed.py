"""kill -9 at every step: real processes that end there, and what the next runner makes of it."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mkg.migrate import apply_all, status
from tests.conftest import Server
from tests.migrate.conftest import empty, rows
from tests.migrate.folder import folder
from tests.support.requirement import requirement

COUNT = "MERGE (c:Count {{id: '{}'}}) SET c.n = coalesce(c.n, 0) + 1;"
FILES = {
    "V0001__schema": """CREATE INDEX thing_at IF NOT EXISTS FOR (n:Thing) ON (n.at);
CREATE CONSTRAINT thing_id IF NOT EXISTS FOR (n:Thing) REQUIRE n.id IS UNIQUE;""",
    "V0002__one": "UNWIND range(1, 9) AS i CREATE (:Thing {id: i});\n" + COUNT.format("one"),
    "V0002__one__predict": """MATCH (n:Thing) RETURN count(n) + 9 AS things;
MATCH (n:Thing) RETURN count(n) AS things;""",
    "V0002__one__verify": "MATCH (n:Thing) WHERE n.id > 9 RETURN n.id AS id;",
    "V0003__each": f"// @migration V0003__each\n// @tx each\n{COUNT.format('a')}\n"
    + COUNT.format("b"),
    "V0004__batch": """// @migration V0004__batch
// @batch 4
MATCH (n:Thing)
WHERE n.id > coalesce($after, 0)
WITH n ORDER BY n.id LIMIT $size
SET n.times = coalesce(n.times, 0) + 1
RETURN max(n.id) AS after;""",
    "V0004__batch__predict": """MATCH (n:Thing) RETURN count(n) AS done;
MATCH (n:Thing) WHERE n.times = 1 RETURN count(n) AS done;""",
    "V0005__none": """// @migration V0005__none
// @tx none
MATCH (n:Thing) WHERE n.seen IS NULL
CALL (n) {
  MATCH (l:MkgMigrationLock {name: 'migration'})
  SET l.touched_by = $owner
  WITH n, l
  WHERE l.owner = $owner AND l.token = $token
  SET n.seen = true
} IN TRANSACTIONS OF 4 ROWS;""",
    "R__policy": "MERGE (p:Policy) SET p.v = 1;",
}
# In the order of a run: each runner goes on where the one before was killed.
STEPS = [
    ("before the lock", "start ask ops.migration_lock #1"),
    ("holding the lock", "start done ops.migration_lock #1"),
    ("schema recorded as begun", "V0001__schema done migration.V0001__schema #1"),
    ("between two schema statements", "V0001__schema done migration.V0001__schema #2"),
    ("after the schema, before its record", "V0001__schema ask ops.migration_record #2"),
    ("inside the record of the schema", "V0001__schema asked ops.migration_record #2"),
    ("while predicting", "V0002__one run #1"),
    ("in the middle of the transaction", "V0002__one ran #2"),
    ("while comparing", "V0002__one run #4"),
    ("while verifying", "V0002__one run #5"),
    ("recorded, not committed", "V0002__one asked ops.migration_record #1"),
    ("committed, before the next", "V0002__one done migration.V0002__one #1"),
    ("steps recorded as begun", "V0003__each done migration.V0003__each #1"),
    ("a statement ran, not counted", "V0003__each ran #1"),
    ("between two statements", "V0003__each done migration.V0003__each #2"),
    ("a batch is counted, not committed", "V0004__batch asked ops.migration_advance #1"),
    ("between two batches", "V0004__batch done migration.V0004__batch #2"),
    ("all batches done, before the record", "V0004__batch ask ops.migration_record #2"),
    ("its transactions committed, not counted", "V0005__none done migration.V0005__none #2"),
    ("in a repeatable file", "R__policy ran #1"),
    ("before the lock is given back", "R__policy ask ops.migration_release #1"),
]
Run = Callable[[Path, str], tuple[int, list[str]]]


@pytest.fixture
def runner(unmigrated: Server) -> Iterator[Run]:
    """Runs a folder in a process of its own that ends at a place."""
    command = [sys.executable, "-m", "tests.migrate.interrupted"]
    account = [unmigrated.uri, unmigrated.username, unmigrated.password]
    process = subprocess.Popen(
        [*command, *account], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None

    def run(root: Path, place: str) -> tuple[int, list[str]]:
        print(json.dumps([str(root), place]), file=process.stdin, flush=True)
        end, trace = json.loads(process.stdout.readline())
        return end, trace

    try:
        yield run
    finally:
        process.communicate(timeout=5)


def everything(run) -> list[object]:
    """Graph, schema and records, without times."""
    shown = "SHOW {} YIELD name, type, labelsOrTypes, properties RETURN * ORDER BY name"
    records = """MATCH (m:MkgMigration|MkgRepeatable)
OPTIONAL MATCH (m)<-[:NEXT]-(before)
RETURN m.id AS id, m.seq AS seq, m.state AS state, m.checksum AS c, m.done AS done,
  m.watermark AS w, m.predicted AS predicted, collect(before.id) AS before ORDER BY id"""
    graph = """MATCH (n) WHERE n:Thing OR n:Count OR n:Policy
RETURN labels(n) AS l, properties(n) AS p ORDER BY l, p.id"""
    asked = (shown.format("INDEXES"), shown.format("CONSTRAINTS"), records, graph)
    return [rows(run, text) for text in asked]


@requirement("NEO-84", "NEO-90", "NEO-91")
def test_runners_killed_at_every_step_one_after_another_end_in_the_graph_of_one_left_alone(
    store, runner, tmp_path
):
    root = folder(tmp_path, **FILES)
    apply_all(store, root=root)
    expected = everything(store)
    empty(store, below=False)
    apply_all(store, root=folder(tmp_path / "baseline"))
    for said, place in STEPS:
        assert runner(root, place)[0] == -signal.SIGKILL, f"nobody came past: {said}"
        states = {state.state for state in status(store, root)}
        assert states <= {"applied", "interrupted", "pending"}, said
    # The last had done it all; the next finds nothing to do and the lock of a dead process.
    assert apply_all(store, root=root) == []
    assert everything(store) == expected


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_runner_killed_at_any_place_alone_is_finished_by_the_next(store, runner, tmp_path):
    root = folder(tmp_path, **FILES)
    end, places = runner(root, "")
    expected = everything(store)
    assert end == 0 and len(places) > 80
    for place in places:
        empty(store, below=False)
        apply_all(store, root=folder(tmp_path / "baseline"))
        end, _ = runner(root, place)
        # The lease is renewed by the clock, so a quick run comes past fewer renewals.
        assert end == -signal.SIGKILL or (end == 0 and "migration_renew" in place), place
        apply_all(store, root=root)
        assert everything(store) == expected, place
