// @query   good.b5_pairs
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
MATCH (s:Session {session_id: $id})
MATCH (e:SessionEvent {session_id: s.session_id, seq: 1})
RETURN e.event_id AS id
