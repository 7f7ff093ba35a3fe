// What an append must do at the least: one node, its edges, the pointer moved. No checks.
MATCH (session:Session {session_id: $session_id})-[pointer:LATEST_EVENT]->(before:SessionEvent)
CREATE (stored:SessionEvent)
SET stored = $data
CREATE (session)-[:HAS_EVENT]->(stored)
CREATE (session)-[:LATEST_EVENT]->(stored)
DELETE pointer
CREATE (before)-[:NEXT]->(stored)
RETURN stored.event_id AS event_id
