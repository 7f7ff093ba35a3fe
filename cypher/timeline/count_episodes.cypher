// @query   timeline.count_episodes
// @since   0.1.0
// @mode    read
// @card    one
// @param   project_id  STRING NOT NULL
// @return  total       INTEGER NOT NULL
// @locks   none
// @index   episode_timeline
MATCH (e:Episode)
WHERE e.project_id = $project_id AND e.ended_at IS NOT NULL
RETURN count(e) AS total
