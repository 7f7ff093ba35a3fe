// @query   learnings.confirm
// @since   0.1.0
// @mode    write
// @card    one
// @param   session_id  STRING NOT NULL
// @param   event_key   STRING NOT NULL
// @param   seen        LIST<STRING NOT NULL> NOT NULL  sha256 of each block in the client's record
// @return  settled     INTEGER NOT NULL
// @locks   (:Session), exclusive, before its deliveries are read
// @index   session_id
// @why     What was handed over is not yet what the model was given: only the client's own record
//          tells, where it has one. A later look may still confirm what an earlier one did not find.
MATCH (session:Session {session_id: $session_id})
SET session.touched = $event_key
WITH session
MATCH (:Learning)-[i:INJECTED_IN]->(session)
WHERE i.seen IS NULL OR i.seen <> 'confirmed'
SET i.seen =
    CASE
      WHEN i.block_sha IN $seen THEN 'confirmed'
      ELSE 'unknown'
    END
RETURN count(i) AS settled
