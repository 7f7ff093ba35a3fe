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
// @why     The counts a person decides by, read the way the batches will go.
CALL () {
  UNWIND $sessions AS id
  MATCH (e:SessionEvent) WHERE e.session_id = id AND e.seq >= 1 AND e.erased_at IS NULL
  RETURN e
    UNION
  UNWIND $events AS id
  MATCH (e:SessionEvent {event_id: id}) WHERE e.erased_at IS NULL
  RETURN e
}
WITH collect(e) AS gone
WITH gone, COLLECT {
    UNWIND gone AS e
    MATCH (l:Learning)-[:EVIDENCED_BY]->(e)
    RETURN DISTINCT l
  } AS touched, COLLECT {
    UNWIND gone AS e
    RETURN DISTINCT e.session_id
  } AS places
WITH gone, touched, places, COLLECT {
    UNWIND touched AS l
    WITH l WHERE NOT EXISTS {
      MATCH (l)-[:EVIDENCED_BY]->(other:SessionEvent)
      WHERE NOT other.session_id IN $sessions AND NOT other.event_id IN $events
    }
    RETURN l
      UNION
    UNWIND $learnings AS id
    MATCH (l:Learning {id: id})
    RETURN l
  } AS lost
RETURN
  size(gone) AS events,
  size(lost) AS learnings,
  size([l IN touched WHERE NOT l IN lost]) AS weakened,
  size($episodes) + COUNT {
    UNWIND places AS id
    MATCH (e:Episode)-[:FROM_SESSION]->(:Session {session_id: id})
    WHERE NOT e.id IN $episodes
    RETURN DISTINCT e
  } AS episodes,
  COUNT { UNWIND lost AS l MATCH (:GateDecision)-[:DECIDED|ABOUT]->(l) RETURN 1 } +
  COUNT { UNWIND gone AS e MATCH (d:GateDecision)-[:ABOUT]->(e) RETURN DISTINCT d } AS decisions,
  COUNT { UNWIND lost AS l MATCH (l)-[:INJECTED_IN]->(s:Session) WHERE NOT s.session_id IN $sessions RETURN 1 } +
  COUNT { UNWIND $sessions AS id MATCH (:Learning)-[:INJECTED_IN]->(:Session {session_id: id}) RETURN 1 } AS deliveries,
  COUNT { UNWIND lost AS l MATCH (l)-[:HAS_VERSION]->(:LearningVersion) RETURN 1 } AS versions,
  COUNT { UNWIND lost AS l MATCH (:Verdict)-[:ABOUT]->(l) RETURN 1 } AS verdicts,
  COUNT {
    UNWIND $sessions AS id
    MATCH (s:Session {session_id: id})<-[:HAS_SESSION]-(:Project)-[:HAS_PROCESSING]->(run:ProjectProcessing)
    WHERE run.session_id = id
    RETURN 1
  } AS processing
