// @query   bad.b5_pairs
// @since   0.1.0
// @mode    read
// @card    many
// @param   id     STRING NOT NULL
// @return  id     STRING NOT NULL
// @locks   none
// @allow   03N90  a test
MATCH (s:Session {session_id: $id}), (e:SessionEvent {event_id: $id})
RETURN s.session_id AS id
