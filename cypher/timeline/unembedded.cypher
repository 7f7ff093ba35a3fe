// @query   timeline.unembedded
// @since   0.2.0
// @mode    read
// @card    many
// @param   after       STRING NOT NULL   the last id of the page before, '' for the first
// @param   model       STRING NOT NULL   the model in use
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  text        STRING NOT NULL   what is embedded: as when it was written
// @locks   none
// @index   episode_id
// @why     Pages go along the key's index, so a pass over everything reads each episode once. A turn
//          of a dialogue is embedded with the one before it.
MATCH (e:Episode)
WHERE e.id > $after AND e.live = true AND (e.embedding IS NULL OR e.embedding_model <> $model)
WITH e
ORDER BY e.id ASC
LIMIT $limit
OPTIONAL MATCH (before:Episode {session_id: e.session_id})-[:NEXT]->(e)
RETURN
  e.id AS id,
  CASE e.source
    WHEN 'import' THEN coalesce(before.narrative + '\n', '') + e.narrative
    ELSE reduce(told = e.title, fact IN e.facts | told + '\n' + fact) + '\n' + e.narrative
  END AS text
ORDER BY id ASC
