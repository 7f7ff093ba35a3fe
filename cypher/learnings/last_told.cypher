// @query   learnings.last_told
// @since   0.1.0
// @mode    read
// @card    maybe
// @param   project_id  STRING NOT NULL
// @return  session_id  STRING NOT NULL
// @locks   none
// @index   project_id
// @why     The session of a project that was told something last.
MATCH (:Project {id: $project_id})-[:HAS_SESSION]->(session:Session)
MATCH (:Learning)-[i:INJECTED_IN]->(session)
WITH session, max(i.first_injected_at) AS at
ORDER BY at DESC, session.session_id ASC
LIMIT 1
RETURN session.session_id AS session_id
