// @query   forget.old_episodes
// @since   0.2.0
// @mode    read
// @card    many
// @param   before      ZONED DATETIME NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  kind        STRING NOT NULL
// @return  id          STRING NOT NULL
// @locks   none
// @allow   NodeByLabelScan  a sweep goes over everything, in idle time
// @why     Old by both its times: an imported dialogue is history and was brought in today.
MATCH (e:Episode)
WHERE e.ended_at < $before AND coalesce(e.created_at, e.ended_at) < $before
RETURN 'episode' AS kind, e.id AS id
ORDER BY id
LIMIT $limit
