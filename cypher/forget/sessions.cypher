// @query   forget.sessions
// @since   0.2.0
// @mode    read
// @card    many
// @param   session_id  STRING
// @param   project_id  STRING
// @param   user_id     STRING          one of the three is given
// @return  session_id  STRING NOT NULL
// @return  upto        INTEGER NOT NULL  its newest event of this moment
// @locks   none
// @index   session_id, project_id, session_user_id
// @why     What is forgotten is what there is now: an event that comes later belongs to nobody's wish.
//          The subagents of a session belong to it.
CALL () {
  MATCH (s:Session {session_id: $session_id})
  RETURN s
    UNION
  MATCH (:Project {id: $project_id})-[:HAS_SESSION]->(s:Session)
  RETURN s
    UNION
  MATCH (s:Session {user_id: $user_id})
  RETURN s
}
MATCH (s)-[:HAS_SUBAGENT]->{0,3}(part:Session)
RETURN DISTINCT part.session_id AS session_id, part.event_count AS upto
ORDER BY session_id
