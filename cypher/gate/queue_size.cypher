// @query   gate.queue_size
// @since   0.2.0
// @mode    read
// @card    one
// @param   owner_keys  LIST<STRING NOT NULL> NOT NULL
// @param   project_id  STRING              whose withheld texts are counted; null for none
// @return  waiting     INTEGER NOT NULL    what a person is asked about
// @return  blocked     INTEGER NOT NULL    what was withheld in the last seven days
// @locks   none
// @index   learning_status, learning_revision, supersedes_confirmed, gate_decision_project
// @why     Two numbers for a session's start: the queue's length by the conditions of `gate.queue`,
//          from indexes alone.
WITH
  COUNT {
    UNWIND $owner_keys AS owner
    CALL (owner) {
      MATCH (l:Learning)
      WHERE l.owner_key = owner AND l.status IN ['candidate', 'quarantined']
      RETURN l
        UNION
      MATCH (l:Learning)
      WHERE l.owner_key = owner AND l.needs_revision = true
      RETURN l
        UNION
      MATCH (l:Learning)-[s:SUPERSEDES]->(:Learning)
      WHERE s.confirmed = false AND l.owner_key = owner
      RETURN l
    }
    RETURN DISTINCT l
  } AS waiting
RETURN
  waiting,
  COUNT {
    MATCH (d:GateDecision)
    WHERE d.project_id = $project_id AND d.at >= datetime() - duration({days: 7}) AND d.to = 'blocked'
    RETURN d
  } AS blocked
