// @query   forget.trim
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @return  session_id  STRING NOT NULL
// @return  gone        BOOLEAN NOT NULL   the session as well
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Session), exclusive, before its tail is read
// @index   forgetting_id, session_event_seq
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Empty links go from the newest down, so that every batch leaves a whole chain. An event
//          that came meanwhile stops it: the session then stays, with empty links before it.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[m:FORGETS]->(s:Session)
WITH f, m, s
ORDER BY s.session_id ASC
LIMIT 1
SET s.touched = $id
WITH f, m, s, COLLECT {
    MATCH (e:SessionEvent)
    WHERE e.session_id = s.session_id AND e.seq > s.event_count - $limit
    RETURN e
    ORDER BY e.seq DESC
  } AS tail
WITH f, m, s, tail, coalesce(
    head([i IN range(0, size(tail) - 1) WHERE tail[i].erased_at IS NULL]), size(tail)) AS gone
WITH f, m, s, tail[..gone] AS links, s.event_count - gone AS kept, gone < size(tail) AS ended
FOREACH (e IN links | DETACH DELETE e)
SET s.event_count = kept,
  s.processed_seq = CASE WHEN s.processed_seq > kept THEN kept ELSE s.processed_seq END
WITH f, m, s, kept, ended
CALL (s, kept) {
  MATCH (last:SessionEvent {session_id: s.session_id, seq: kept})
  MERGE (s)-[:LATEST_EVENT]->(last)
}
CALL (s, kept) {
  MATCH (:Project {id: s.project_id})-[:HAS_PROCESSING]->(run:ProjectProcessing)
  WHERE kept = 0 AND run.session_id = s.session_id
  DETACH DELETE run
}
FOREACH (_ IN CASE WHEN ended AND kept > 0 THEN [1] ELSE [] END | DELETE m)
WITH f, s, s.session_id AS session_id, kept = 0 AS gone
SET f.sessions = f.sessions + CASE WHEN gone THEN 1 ELSE 0 END
FOREACH (_ IN CASE WHEN gone THEN [1] ELSE [] END | DETACH DELETE s)
RETURN session_id, gone
