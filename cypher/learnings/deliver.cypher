// @query   learnings.deliver
// @since   0.1.0
// @mode    write
// @card    one
// @param   session_id  STRING NOT NULL
// @param   event_key   STRING NOT NULL
// @param   hook_event  STRING NOT NULL
// @param   ids         LIST<STRING NOT NULL> NOT NULL
// @param   block_sha   STRING NOT NULL     sha256 of the text that was handed over
// @param   at          STRING NOT NULL
// @return  delivered   INTEGER NOT NULL
// @locks   (:Session), exclusive, before its epoch is read
// @index   session_id, learning_id, session_event_key
// @why     Written from what was handed over, not from what was found. A replay of the same delivery
//          finds its edge and counts nothing twice.
MATCH (session:Session {session_id: $session_id})
SET session.touched = $event_key
WITH session
UNWIND $ids AS id
MATCH (l:Learning {id: id})
MERGE (l)-[i:INJECTED_IN {epoch: session.epoch}]->(session)
  ON CREATE SET
    i.first_injected_at = datetime($at),
    i.hook_event = $hook_event,
    i.status_then = l.status,
    i.block_sha = $block_sha,
    l.inject_count = l.inject_count + 1,
    l.use_count = l.use_count + 1,
    l.last_injected_at = datetime($at),
    l.last_used_at = datetime($at)
SET i.last_injected_at = datetime($at)
WITH l
OPTIONAL MATCH (event:SessionEvent {event_key: $event_key})
WITH l, event
ORDER BY event.timestamp DESC
WITH l, head(collect(event)) AS event
FOREACH (e IN
CASE
  WHEN event IS NULL THEN []
  ELSE [event]
END |
  MERGE (l)-[:INJECTED_AT]->(e)
)
RETURN count(l) AS delivered
