"""Data migrations: predictions, statements and batches one by one, and what a lost lock stops."""

import pytest

from mkg.errors import MigrationError, MigrationLocked, MigrationUnverified
from mkg.migrate import apply_all, plan, read_migrations, status
from tests.migrate.conftest import rows, value
from tests.migrate.folder import BASELINE, folder, write
from tests.support.requirement import requirement

SEED = "UNWIND range(1, $n) AS i CREATE (:Thing {id: i})"
STEAL = "MATCH (l:MkgMigrationLock) SET l.owner = 'thief', l.token = l.token + 1"
GIVE_BACK = "MATCH (l:MkgMigrationLock) SET l.owner = null"
SEEN = "MATCH (n:Thing) WHERE n.seen > 0 RETURN n.id AS id, n.seen AS seen ORDER BY id"
BATCH = """// @migration V0001__many
// @batch 10
MATCH (n:Thing)
WHERE n.id > coalesce($after, 0)
WITH n ORDER BY n.id LIMIT $size
SET n.seen = coalesce(n.seen, 0) + 1
RETURN max(n.id) AS after;
"""
PREDICT = """MATCH (n:Thing) RETURN count(n) AS seen, 0 AS unseen;
MATCH (n:Thing) RETURN count(n.seen) AS seen, count(*) - count(n.seen) AS unseen;"""
NONE = """// @migration V0001__many
// @tx none
MATCH (n:Thing) WHERE n.seen IS NULL
WITH n ORDER BY n.id
CALL (n) {
  MATCH (l:MkgMigrationLock {name: 'migration'})
  SET l.touched_by = $owner
  WITH n, l
  WHERE l.owner = $owner AND l.token = $token
  SET n.seen = 1
  WITH n, l
  WHERE n.id = 3
  SET l.token = l.token + 1
} IN TRANSACTIONS OF 1 ROW;
"""


def refused(kind: type[MigrationError], run, root, **options) -> str:
    with pytest.raises(kind) as caught:
        apply_all(run, root=root, **options)
    return str(caught.value)


def seen(run) -> list[int]:
    return [int(str(row["seen"])) for row in rows(run, SEEN)]


def progress_of(run) -> dict[str, object]:
    (found,) = rows(run, "MATCH (m:MkgMigration {seq: 1}) RETURN m.done AS d, m.watermark AS w")
    return found


@requirement("NEO-80", "NEO-84")
@pytest.mark.parametrize("way", ["one", "each", "batch"])
def test_a_prediction_that_comes_true_lets_the_data_stay_and_is_shown_in_the_plan(
    store, tmp_path, way
):
    body = (
        BATCH
        if way == "batch"
        else f"// @migration V0001__many\n// @tx {way}\n" + ("MATCH (n:Thing) SET n.seen = 1;")
    )
    store.execute(SEED, {"n": 25})
    root = folder(tmp_path, V0001__many=body, V0001__many__predict=PREDICT)
    (step,) = plan(store, root=root)
    assert step.predicted == {"seen": 25, "unseen": 0} and seen(store) == []
    assert step.notes == ["changes data without .verify.cypher"]
    assert apply_all(store, root=root) == ["V0001__many"]
    assert seen(store) == [1] * 25


@requirement("NEO-84")
def test_a_prediction_that_does_not_come_true_takes_the_data_back(store, tmp_path):
    store.execute(SEED, {"n": 5})
    wrong = "MATCH (n:Thing) WHERE n.id < 4 SET n.seen = 1;"
    root = folder(tmp_path, V0001__many=wrong, V0001__many__predict=PREDICT)
    said = refused(MigrationUnverified, store, root)
    assert "V0001__many.predict.cypher:3: seen: predicted 5, found 3; unseen: predicted 0" in said
    assert seen(store) == [] and len(status(store, root)) == 2
    assert value(store, "MATCH (g:MkgMigrationLog {operation: 'failed'}) RETURN g.message AS m")
    write(root, {"V0001__many": wrong.replace("< 4", "< 6")})
    assert apply_all(store, root=root) == ["V0001__many"]


@requirement("NEO-84")
def test_steps_that_miss_their_prediction_stand_as_failed_and_keep_the_first_prediction(
    store, tmp_path
):
    store.execute(SEED, {"n": 5})
    body = "// @migration V0001__many\n// @tx each\nMATCH (n:Thing) WHERE n.id < 4 SET n.seen = 1;"
    root = folder(tmp_path, V0001__many=body, V0001__many__predict=PREDICT)
    assert "predicted 5, found 3" in refused(MigrationUnverified, store, root)
    assert status(store, root)[1].state == "failed"
    store.execute("MATCH (n:Thing) WHERE n.id >= 4 SET n.seen = 1 CREATE (:Thing {id: 6, seen: 1})")
    # Five were foretold before the first write; six would come out right if it were asked again.
    assert "predicted 5, found 7" in refused(MigrationUnverified, store, root, retry=True)
    store.execute("MATCH (n:Thing {id: 6}) DELETE n")
    assert apply_all(store, root=root, retry=True) == ["V0001__many"]


@requirement("NEO-80")
@pytest.mark.parametrize(
    ("predict", "said"),
    [
        ("RETURN 1 AS a;", "predict.cypher:1: write two statements"),
        ("RETURN 1 AS a; RETURN 1 AS b;", "both statements return the same columns, not a and b"),
        ("CREATE (n:Thing) RETURN 1 AS a; RETURN 1 AS a;", "a prediction only reads"),
        ("RETURN 'x' AS a; RETURN 'x' AS a;", "one row of whole numbers"),
        ("UNWIND [1, 2] AS a RETURN a; RETURN 1 AS a;", "one row of whole numbers"),
        ("RETURN 1 / 0 AS a; RETURN 1 AS a;", "predict.cypher:2: / by zero"),
    ],
)
def test_a_prediction_that_predicts_nothing_is_refused(store, tmp_path, predict, said):
    root = folder(tmp_path, V0001__a="CREATE (:Thing);", V0001__a__predict=predict)
    assert said in refused(MigrationError, store, root)
    assert value(store, "MATCH (n:Thing) RETURN count(n) AS n") == 0


@requirement("NEO-80")
@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        ("@batch 0", "RETURN 1;", "@batch 0 is not a number from 1 to"),
        ("@tx one\n// @batch 5", "RETURN 1;", "a batch is a transaction of its own; @tx is each"),
        ("@batch 5", "RETURN 1;", "no statement uses $after and $size"),
        ("@batch 5", "RETURN $after;", "a batch uses $after and $size, both"),
        ("@batch 5", "RETURN $token;", "$token: a migration has none but $after and $size"),
        ("@tx none", "CREATE (:Thing);", "@tx none is for CALL .. IN TRANSACTIONS whose inside"),
        (
            "@tx none",
            "UNWIND [1] AS i CALL (i) { CREATE (:Thing) } IN TRANSACTIONS;",
            "checks $owner and $token",
        ),
    ],
)
def test_a_way_of_running_that_cannot_be_kept_is_refused(tmp_path, head, body, said):
    with pytest.raises(MigrationError) as caught:
        read_migrations(folder(tmp_path, V0001__a=f"// @migration V0001__a\n// {head}\n{body}"))
    assert said in str(caught.value)


@requirement("NEO-90")
@pytest.mark.parametrize("count", [0, 10, 25])
def test_batches_reach_every_key_once_and_keep_their_place_in_the_graph(store, tmp_path, count):
    store.execute(SEED, {"n": count})
    assert apply_all(store, root=folder(tmp_path, V0001__many=BATCH)) == ["V0001__many"]
    assert seen(store) == [1] * count and progress_of(store) == {"d": 1, "w": None}


@requirement("NEO-90")
def test_a_batch_that_would_never_end_or_forgets_its_key_is_refused(store, tmp_path):
    store.execute(SEED, {"n": 3})
    again = BATCH.replace("n.id > coalesce($after, 0)", "n.id > $after - 9 OR $after IS NULL")
    root = folder(tmp_path, V0001__many=again)
    assert "would never come to an end" in refused(MigrationUnverified, store, root)
    assert seen(store) == [1, 1, 1] and progress_of(store)["w"] == "3"
    write(root, {"V0001__many": BATCH.replace("AS after", "AS key")})
    assert "a batch returns one column, after" in refused(MigrationError, store, root, retry=True)


@requirement("NEO-90")
def test_a_statement_that_fails_between_batches_is_gone_on_from_its_last_key(store, tmp_path):
    store.execute(SEED, {"n": 30})
    store.execute("MATCH (n:Thing {id: 17}) SET n.seen = 'x'")
    first = "MERGE (c:Count) SET c.n = coalesce(c.n, 0) + 1;\n"
    body = BATCH.replace("MATCH (n:Thing)", first + "MATCH (n:Thing)")
    root = folder(tmp_path, V0001__many=body)
    # Adding to a string makes another string, which the next line cannot subtract.
    broken = body.replace("+ 1\nRETURN", "+ 1, n.check = n.seen - 1\nRETURN")
    write(root, {"V0001__many": broken})
    assert "V0001__many.cypher:4:" in refused(MigrationError, store, root)
    assert progress_of(store) == {"d": 1, "w": "10"}
    assert "--retry" in refused(MigrationError, store, root)
    store.execute("MATCH (n:Thing {id: 17}) REMOVE n.seen")
    # Another text for what is done already cannot be meant; for the rest it is the mending.
    write(root, {"V0001__many": broken.replace("c.n, 0) + 1", "c.n, 0) + 2")})
    assert "its first 1 statement(s) ran with another text" in refused(
        MigrationError, store, root, retry=True
    )
    write(root, {"V0001__many": body})
    assert apply_all(store, root=root, retry=True) == ["V0001__many"]
    assert seen(store) == [1] * 30 and value(store, "MATCH (c:Count) RETURN c.n AS n") == 1


@requirement("NEO-86", "NEO-90")
@pytest.mark.parametrize("way", ["each", "batch"])
def test_a_runner_whose_lock_was_taken_over_commits_no_further_step(store, tmp_path, way):
    store.execute(SEED, {"n": 30})
    each = "// @migration V0001__many\n// @tx each\n" + "".join(
        f"MATCH (n:Thing) WHERE {low} < n.id <= {low + 10} SET n.seen = 1;\n" for low in (0, 10, 20)
    )
    root = folder(tmp_path, V0001__many=BATCH if way == "batch" else each)
    once = store.in_one
    steps: list[object] = []

    def robbed(work, *, name):
        steps.append(name)
        if len(steps) == 3:  # PENDING, the first step, and now the second
            store.execute(STEAL)
        return once(work, name=name)

    store.in_one = robbed
    with pytest.raises(MigrationLocked, match="went to another runner"):
        apply_all(store, root=root)
    store.in_one = once
    assert len(seen(store)) == 10
    store.execute(GIVE_BACK)
    assert apply_all(store, root=root) == ["V0001__many"]
    assert seen(store) == [1] * 30


@requirement("NEO-86", "NEO-90")
def test_transactions_inside_a_statement_stop_at_the_one_that_finds_the_lock_taken(store, tmp_path):
    store.execute(SEED, {"n": 6})
    root = folder(tmp_path, V0001__many=NONE)
    with pytest.raises(MigrationLocked, match="went to another runner"):
        apply_all(store, root=root)
    # The third took the token away: from there on the same statement has written nothing.
    assert [row["id"] for row in rows(store, SEEN)] == [1, 2, 3]
    store.execute(GIVE_BACK)
    assert status(store, root)[1].state == "interrupted"
    assert apply_all(store, root=root) == ["V0001__many"]
    assert seen(store) == [1] * 6


@requirement("NEO-89", "NEO-90")
def test_a_repeatable_file_of_steps_starts_again_with_its_new_text(store, tmp_path):
    store.execute(SEED, {"n": 3})
    body = BATCH.replace("V0001__many", "R__many")
    root = folder(tmp_path, R__many=body)
    apply_all(store, root=root)
    write(root, {"R__many": body + "// again\n"})
    assert apply_all(store, root=root) == ["R__many"]
    assert seen(store) == [2, 2, 2]
    ids = "MATCH (m:MkgMigration) RETURN collect(m.id) AS ids"
    assert value(store, ids) == [BASELINE]


@requirement("NEO-61", "NEO-86")
def test_a_schema_statement_is_not_run_once_the_lock_was_taken_over(store, tmp_path):
    root = folder(tmp_path, V0001__many="CREATE INDEX i IF NOT EXISTS FOR (n:Thing) ON (n.x);")
    once = store.in_one

    def robbed(work, *, name):
        once(work, name=name)
        store.execute(STEAL)

    store.in_one = robbed
    with pytest.raises(MigrationLocked, match="went to another runner"):
        apply_all(store, root=root)
    assert rows(store, "SHOW INDEXES YIELD name WHERE name = 'i' RETURN name") == []
    store.in_one = once
    store.execute(GIVE_BACK)
    assert apply_all(store, root=root) == ["V0001__many"]
