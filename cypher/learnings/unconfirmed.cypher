// @query   learnings.unconfirmed
// @since   0.2.0
// @mode    read
// @card    one
// @param   session_id  STRING NOT NULL
// @return  waiting     INTEGER NOT NULL   lines told that the client's record has not shown yet
// @locks   none
// @index   session_id
// @why     A client's record has megabytes; with nothing to look for it is not read.
OPTIONAL MATCH (session:Session {session_id: $session_id})
RETURN
  COUNT {
    MATCH (:Learning)-[i:INJECTED_IN]->(session)
    WHERE i.seen IS NULL OR i.seen <> 'confirmed'
  } AS waiting
