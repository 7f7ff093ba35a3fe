// @query   learnings.session_counts
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   session_id  STRING NOT NULL
// @return  told        INTEGER NOT NULL
// @return  learned     INTEGER NOT NULL
// @locks   none
// @index   session_id
// @why     Two numbers for a status line, each a degree of one node.
MATCH (session:Session {session_id: $session_id})
RETURN
  COUNT { (:Learning)-[:INJECTED_IN]->(session) } AS told,
  COUNT { (:Learning)-[:FROM_SESSION]->(session) } AS learned
