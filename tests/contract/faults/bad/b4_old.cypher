// @query   bad.b4_old
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @index   session_id
MATCH (s:Session {session_id: $id})
RETURN toString(id(s)) AS id
