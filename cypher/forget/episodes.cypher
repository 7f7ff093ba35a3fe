// @query   forget.episodes
// @since   0.2.0
// @mode    read
// @card    many
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  episode_id  STRING              one that goes; null for a session whose episode is made again
// @return  session_id  STRING
// @locks   none
// @index   forgetting_id
// @why     What happened in a session that lost events is told again from what is left of it.
MATCH (f:Forgetting {id: $id})
CALL (f) {
  MATCH (f)-[:FORGETS]->(e:Episode)
  RETURN e.id AS episode_id, null AS session_id
    UNION
  MATCH (f)-[:RECHECKS]->(s:Session)
  RETURN null AS episode_id, s.session_id AS session_id
}
RETURN episode_id, session_id
ORDER BY episode_id, session_id
LIMIT $limit
