// @query   forget.mark
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   sessions    LIST<MAP NOT NULL> NOT NULL   each {id, upto}
// @param   events      LIST<STRING NOT NULL> NOT NULL
// @param   learnings   LIST<STRING NOT NULL> NOT NULL
// @param   episodes    LIST<STRING NOT NULL> NOT NULL
// @return  marked      INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read
// @index   forgetting_id, session_id, session_event_id, learning_id, episode_id
// @why     The marks are the plan: whoever goes on after a kill needs neither the text nor the ids.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
CALL (f) {
  UNWIND $sessions AS one
  MATCH (s:Session {session_id: one.id})
  MERGE (f)-[m:FORGETS]->(s)
    ON CREATE SET m.done = 0, m.upto = one.upto
  RETURN count(*) AS sessions
}
CALL (f) {
  UNWIND $events AS id
  MATCH (e:SessionEvent {event_id: id})
  MERGE (f)-[:FORGETS]->(e)
  RETURN count(*) AS events
}
CALL (f) {
  UNWIND $learnings AS id
  MATCH (l:Learning {id: id})
  MERGE (f)-[:FORGETS]->(l)
  RETURN count(*) AS learnings
}
CALL (f) {
  UNWIND $episodes AS id
  MATCH (e:Episode {id: id})
  MERGE (f)-[:FORGETS]->(e)
  RETURN count(*) AS episodes
}
RETURN sessions + events + learnings + episodes AS marked
