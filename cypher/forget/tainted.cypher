// @query   forget.tainted
// @since   0.2.0
// @mode    read
// @card    many
// @param   events      LIST<STRING NOT NULL> NOT NULL  ids found so far
// @return  id          STRING NOT NULL  an event that this adds
// @locks   none
// @index   session_event_id
// @why     One step of a taint: what rests on nothing but these events was told to sessions, and what
//          others than the user said there afterwards, and was learned from, is tainted as well.
UNWIND $events AS event_id
MATCH (e:SessionEvent {event_id: event_id})<-[:EVIDENCED_BY]-(l:Learning)
WHERE
  NOT EXISTS {
    MATCH (l)-[:EVIDENCED_BY]->(other:SessionEvent)
    WHERE NOT other.event_id IN $events
  }
WITH DISTINCT l
MATCH (l)-[:INJECTED_AT]->(told:SessionEvent)<-[:HAS_EVENT]-(s:Session)
MATCH (s)-[:HAS_SUBAGENT]->{0,3}(part:Session)-[:HAS_EVENT]->(later:SessionEvent)
WHERE
  later.timestamp >= told.timestamp AND
  NOT later.event_id IN $events AND
  EXISTS {
    MATCH (later)<-[q:EVIDENCED_BY]-(:Learning)
    WHERE NOT q.origin IN ['user_typed', 'user_pasted']
  }
RETURN DISTINCT later.event_id AS id
ORDER BY id
