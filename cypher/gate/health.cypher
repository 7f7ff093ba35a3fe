// @query   gate.health
// @since   0.2.0
// @mode    read
// @card    one
// @param   project_id  STRING NOT NULL
// @param   model       STRING NOT NULL     the embedding model in use, '' for none
// @return  last_run_at  ZONED DATETIME
// @return  last_run    STRING              ok, skipped or failed
// @return  last_error  STRING
// @return  unembedded  INTEGER NOT NULL    live rows of the project that only words can find
// @locks   none
// @index   project_id, learning_owner
// @why     Whether the background work behind the gate keeps up, in one row.
OPTIONAL MATCH (p:Project {id: $project_id})-[:HAS_PROCESSING]->(r:ProjectProcessing)
WITH r
ORDER BY r.created_at DESC, r.id ASC
LIMIT 1
RETURN
  r.created_at AS last_run_at,
  r.status AS last_run,
  r.llm_error AS last_error,
  COUNT {
    MATCH (l:Learning)
    WHERE
      l.owner_key = 'project:' + $project_id AND
      l.updated_at IS NOT NULL AND
      l.live = true AND
      (l.embedding IS NULL OR l.embedding_model <> $model)
    RETURN l
  } AS unembedded
