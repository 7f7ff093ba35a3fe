// @query   forget.erase_session
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL  most events of this batch
// @param   at          STRING NOT NULL
// @return  erased      INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Session), exclusive, before its events are read
// @index   forgetting_id, session_event_seq
// @why     An erased event keeps its place and its key and nothing that was said: the chain stays
//          whole, and the same record coming again finds that it was here.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[m:FORGETS]->(s:Session)
WHERE m.done < m.upto
WITH f, m, s
ORDER BY s.session_id ASC
LIMIT 1
SET s.touched = $id, s.erased = coalesce(s.erased, 0) + 1
WITH f, m, s, m.done AS after,
  CASE
    WHEN m.done + $limit < m.upto THEN m.done + $limit
    ELSE m.upto
  END AS until
SET m.done = until
MERGE (f)-[:RECHECKS]->(s)
WITH f, s, after, until
CALL (f, s, after, until) {
  MATCH (e:SessionEvent)
  WHERE e.session_id = s.session_id AND e.seq > after AND e.seq <= until AND e.erased_at IS NULL
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
  RETURN count(e) AS erased
}
SET f.events = f.events + erased
RETURN erased
