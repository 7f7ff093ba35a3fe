// @query   timeline.embed
// @since   0.2.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, vector}
// @param   model       STRING NOT NULL
// @return  embedded    INTEGER NOT NULL
// @locks   (:Episode), exclusive, by the write itself
// @index   episode_id
// @why     A vector of the model in use is newer than the text that was read for this one: it stays.
UNWIND $rows AS row
MATCH (e:Episode {id: row.id})
WHERE e.embedding IS NULL OR e.embedding_model <> $model
SET e.embedding = row.vector, e.embedding_model = $model
RETURN count(e) AS embedded
