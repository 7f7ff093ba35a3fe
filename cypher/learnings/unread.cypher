// @query   learnings.unread
// @since   0.1.0
// @mode    read
// @card    many
// @param   since       ZONED DATETIME NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  session_id  STRING NOT NULL
// @return  project_id  STRING
// @return  user_id     STRING
// @return  client      STRING
// @locks   none
// @index   session_last_event, session_event_seq
// @why     A worker that died, or a model that did not answer, leaves windows behind whose session
//          may never stop again. A session that goes on has its own next stop.
MATCH (s:Session)
WHERE s.last_event_at >= $since AND s.parent_session_id IS NULL
CALL (s) {
  MATCH (e:SessionEvent)
  WHERE
    e.session_id = s.session_id AND
    e.seq > coalesce(s.processed_seq, 0) AND
    e.event_name = 'Stop' AND
    e.erased_at IS NULL
  RETURN e
  LIMIT 1
}
RETURN s.session_id AS session_id, s.project_id AS project_id, s.user_id AS user_id, s.client AS client
ORDER BY s.last_event_at, s.session_id
LIMIT $limit
