// @query   timeline.scope
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   session_id  STRING NOT NULL
// @return  project_id  STRING
// @return  user_id     STRING
// @return  epoch       INTEGER NOT NULL
// @locks   none
// @index   session_id
// @why     A session keeps the project of its first event, wherever its working directory moves.
MATCH (session:Session {session_id: $session_id})
RETURN session.project_id AS project_id, session.user_id AS user_id, session.epoch AS epoch
