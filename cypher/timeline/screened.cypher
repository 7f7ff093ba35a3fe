// @query   timeline.screened
// @since   0.1.0
// @mode    read
// @card    many
// @param   ids         LIST<STRING NOT NULL> NOT NULL
// @return  id          STRING NOT NULL
// @locks   none
// @index   episode_id
// @why     Which of some episodes may be shown unasked; the others are shown on request and marked.
UNWIND $ids AS wanted
MATCH (e:Episode {id: wanted})
WHERE e.injectable = true
RETURN e.id AS id
ORDER BY id
