// @query   forget.standing
// @since   0.2.0
// @mode    write
// @card    one
// @param   event_ids   LIST<STRING NOT NULL> NOT NULL
// @return  standing    INTEGER NOT NULL  of these that are there and not erased
// @locks   (:Session) of each event, exclusive, before it is read
// @index   session_event_id, session_id
// @why     Who read these events and now writes what they taught: had one been forgotten meanwhile,
//          the write would bring it back.
UNWIND $event_ids AS event_id
MATCH (found:SessionEvent {event_id: event_id})
WITH DISTINCT found.session_id AS session_id
ORDER BY session_id ASC
MATCH (s:Session {session_id: session_id})
SET s.touched = 'reading'
WITH count(s) AS locked
UNWIND $event_ids AS event_id
MATCH (e:SessionEvent {event_id: event_id})
WHERE e.erased_at IS NULL
RETURN count(DISTINCT e) AS standing
