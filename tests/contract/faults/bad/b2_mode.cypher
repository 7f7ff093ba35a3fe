// @query   bad.b2_mode
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @index   session_id
MERGE (s:Session {session_id: $id})
RETURN s.session_id AS id
