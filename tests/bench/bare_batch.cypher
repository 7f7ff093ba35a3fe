// What the driver stores in one go at the least: a node and its edge for every row. No order, no checks.
UNWIND $rows AS row
MERGE (session:Session {session_id: row.session_id})
CREATE (stored:SessionEvent)
SET stored = row.data
CREATE (session)-[:HAS_EVENT]->(stored)
RETURN count(*) AS stored
