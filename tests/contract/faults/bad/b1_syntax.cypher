// @query   bad.b1_syntax
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @index   session_id
MATCH (s:Session {session_id: $id})
RETURN s.session_id AS id ORDER ON id
