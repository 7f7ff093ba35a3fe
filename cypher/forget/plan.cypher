// @query   forget.plan
// @since   0.2.0
// @mode    read
// @card    one
// @param   sessions    LIST<STRING NOT NULL> NOT NULL
// @param   events      LIST<STRING NOT NULL> NOT NULL
// @param   learnings   LIST<STRING NOT NULL> NOT NULL
// @param   episodes    LIST<STRING NOT NULL> NOT NULL
// @return  events      INTEGER NOT NULL
// @return  learnings   INTEGER NOT NULL  that go
// @return  weakened    INTEGER NOT NULL  that keep another source
// @return  episodes    INTEGER NOT NULL  that go or are composed again
// @return  decisions   INTEGER NOT NULL
// @return  deliveries  INTEGER NOT NULL
// @return  versions    INTEGER NOT NULL
// @return  verdicts    INTEGER NOT NULL
// @return  processing  INTEGER NOT NULL
// @locks   none
// @index   session_id, session_event_id, session_event_seq, learning_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @allow   CartesianProduct  of two rows of counts
// @why     The counts a person decides by, read the way the batches will go: no list is carried
//          through rows, which a large project would pay with its square.
CALL () {
  CALL () {
    UNWIND $sessions AS id
    MATCH (e:SessionEvent) WHERE e.session_id = id AND e.seq >= 1 AND e.erased_at IS NULL
    RETURN e
      UNION
    UNWIND $events AS id
    MATCH (e:SessionEvent {event_id: id}) WHERE e.erased_at IS NULL
    RETURN e
  }
  OPTIONAL MATCH (d:GateDecision)-[:ABOUT]->(e)
  RETURN count(DISTINCT e) AS events, count(DISTINCT d) AS withheld, collect(DISTINCT e.session_id) AS places
}
CALL () {
  CALL () {
    CALL () {
      UNWIND $sessions AS id
      MATCH (e:SessionEvent) WHERE e.session_id = id AND e.seq >= 1 AND e.erased_at IS NULL
      RETURN e
        UNION
      UNWIND $events AS id
      MATCH (e:SessionEvent {event_id: id}) WHERE e.erased_at IS NULL
      RETURN e
    }
    MATCH (l:Learning)-[:EVIDENCED_BY]->(e)
    RETURN l
      UNION
    UNWIND $learnings AS id
    MATCH (l:Learning {id: id})
    RETURN l
  }
  WITH l, l.id IN $learnings OR NOT EXISTS {
      MATCH (l)-[:EVIDENCED_BY]->(other:SessionEvent)
      WHERE NOT other.session_id IN $sessions AND NOT other.event_id IN $events
    } AS lost
  WITH lost, count(l) AS number,
    sum(COUNT { (:GateDecision)-[:DECIDED|ABOUT]->(l) }) AS decided,
    sum(COUNT { MATCH (l)-[:INJECTED_IN]->(s:Session) WHERE NOT s.session_id IN $sessions }) AS told,
    sum(COUNT { (l)-[:HAS_VERSION]->(:LearningVersion) }) AS worded,
    sum(COUNT { (:Verdict)-[:ABOUT]->(l) }) AS judged
  RETURN
    sum(CASE WHEN lost THEN number ELSE 0 END) AS learnings, sum(CASE WHEN lost THEN 0 ELSE number END) AS weakened,
    sum(CASE WHEN lost THEN decided ELSE 0 END) AS decided, sum(CASE WHEN lost THEN told ELSE 0 END) AS told,
    sum(CASE WHEN lost THEN worded ELSE 0 END) AS versions, sum(CASE WHEN lost THEN judged ELSE 0 END) AS verdicts
}
RETURN events, learnings, weakened,
  size($episodes) + COUNT {
    UNWIND places AS id
    MATCH (e:Episode)-[:FROM_SESSION]->(:Session {session_id: id})
    WHERE NOT e.id IN $episodes
    RETURN DISTINCT e
  } AS episodes,
  decided + withheld AS decisions,
  told + COUNT { UNWIND $sessions AS id MATCH (:Learning)-[:INJECTED_IN]->(:Session {session_id: id}) RETURN 1 } AS deliveries,
  versions, verdicts,
  COUNT {
    UNWIND $sessions AS id
    MATCH (s:Session {session_id: id})<-[:HAS_SESSION]-(:Project)-[:HAS_PROCESSING]->(run:ProjectProcessing)
    WHERE run.session_id = id RETURN 1
  } AS processing
