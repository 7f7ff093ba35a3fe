// @query   learnings.embed
// @since   0.2.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, text, vector}
// @param   model       STRING NOT NULL
// @return  embedded    INTEGER NOT NULL
// @locks   (:Learning), exclusive, by the write itself
// @index   learning_id
// @why     A text that was edited meanwhile keeps its own vector.
UNWIND $rows AS row
MATCH (l:Learning {id: row.id})
WHERE l.text = row.text
SET l.embedding = row.vector, l.embedding_model = $model
RETURN count(l) AS embedded
