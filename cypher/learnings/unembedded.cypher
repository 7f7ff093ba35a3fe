// @query   learnings.unembedded
// @since   0.2.0
// @mode    read
// @card    many
// @param   after       STRING NOT NULL   the last id of the page before, '' for the first
// @param   model       STRING NOT NULL   the model in use
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  text        STRING NOT NULL
// @locks   none
// @index   learning_id
// @why     Pages go along the key's index, so a pass over everything reads each learning once.
MATCH (l:Learning)
WHERE l.id > $after AND l.live = true AND (l.embedding IS NULL OR l.embedding_model <> $model)
RETURN l.id AS id, l.text AS text
ORDER BY id ASC
LIMIT $limit
