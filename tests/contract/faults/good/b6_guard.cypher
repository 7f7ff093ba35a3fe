// @query   good.b6_guard
// @since   0.1.0
// @mode    write
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @index   session_id, learning_id
MATCH (s:Session {session_id: $id})
CREATE (l:Learning {id: $id})
RETURN s.session_id AS id
