// @query   learnings.serve
// @since   0.1.0
// @mode    write
// @card    one
// @param   ids         LIST<STRING NOT NULL> NOT NULL
// @param   at          STRING NOT NULL
// @return  served      INTEGER NOT NULL
// @locks   (:Learning), exclusive, by the first SET
// @index   learning_id
// @why     What an agent pulled is counted apart from what a hook handed over.
UNWIND $ids AS id
MATCH (l:Learning {id: id})
SET
  l.retrieval_count = l.retrieval_count + 1,
  l.use_count = l.use_count + 1,
  l.last_retrieved_at = datetime($at),
  l.last_used_at = datetime($at)
RETURN count(l) AS served
