// @query   ops.scan_episodes
// @since   0.1.0
// @mode    read
// @card    many
// @param   after       STRING NOT NULL     the last id of the page before, '' for the first
// @param   limit       INTEGER NOT NULL
// @return  id          STRING NOT NULL
// @return  texts       MAP NOT NULL        title, narrative and facts
// @locks   none
// @index   episode_id
// @why     A sweep reads every text once, in pages that the key's own index orders.
MATCH (e:Episode)
WHERE e.id > $after
RETURN e.id AS id, e {.title, .narrative, .facts} AS texts
ORDER BY id ASC
LIMIT $limit
