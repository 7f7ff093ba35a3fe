// @query   forget.erase_events
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL  most events of this batch
// @param   at          STRING NOT NULL
// @return  erased      INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Session) of each event, exclusive, before what rests on the event is read
// @index   forgetting_id, session_id
// @why     As a whole session is erased, but single events of sessions that stay.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[m:FORGETS]->(e:SessionEvent)
WITH f, m, e
LIMIT $limit
MATCH (s:Session {session_id: e.session_id})
WITH f, m, e, s
ORDER BY s.session_id ASC, e.seq ASC
SET s.touched = $id, s.erased = coalesce(s.erased, 0) + 1
MERGE (f)-[:RECHECKS]->(s)
DELETE m
WITH f, e
CALL (f, e) {
  MATCH (l:Learning)-[q:EVIDENCED_BY]->(e)
  MERGE (f)-[:RECHECKS]->(l)
  DELETE q
}
CALL (e) {
  MATCH (:Learning)-[told:INJECTED_AT]->(e)
  DELETE told
}
CALL (e) {
  MATCH (d:GateDecision)-[about:ABOUT]->(e)
  DELETE about
  WITH DISTINCT d
  WHERE COUNT { (d)-[:ABOUT]->() } = 0 AND COUNT { (d)-[:DECIDED]->() } = 0
  DETACH DELETE d
}
SET
  e =
    {
      event_id: e.event_id,
      event_key: e.event_key,
      session_id: e.session_id,
      client: e.client,
      seq: e.seq,
      timestamp: e.timestamp,
      project_id: e.project_id,
      event_name: e.event_name,
      erased_at: datetime($at)
    }
WITH f, count(e) AS erased
SET f.events = f.events + erased
RETURN sum(erased) AS erased
