// @query   gate.settle
// @since   0.1.0
// @mode    write
// @card    many
// @param   decisions   LIST<MAP NOT NULL> NOT NULL  each {learning_id, to, origin, rule, reason, safety_status, by, at}
// @return  learning_id STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  changed     BOOLEAN NOT NULL
// @locks   (:Learning), exclusive, before its status is read
// @index   learning_id, gate_decision_id
// @why     Only a waiting row moves, and never one a person has decided. The four filter properties
//          are set by the same write that sets the status, or recall would believe an old one.
UNWIND $decisions AS decision
CALL (decision) {
  MATCH (l:Learning {id: decision.learning_id})
  SET l.touched = decision.at
  WITH
    l,
    l.status IN ['candidate', 'quarantined'] AND
    l.reviewed_by IS NULL AND
    (l.status <> decision.to OR l.decision_count = 0) AS changed
  FOREACH (_ IN
  CASE
    WHEN changed THEN [1]
    ELSE []
  END |
    SET
      l.status = decision.to,
      l.decision_count = l.decision_count + 1,
      l.origin = decision.origin,
      l.safety_status = decision.safety_status,
      l.safety_checked_at = datetime(decision.at),
      l.consistency_status =
        CASE decision.to
          WHEN 'approved' THEN 'clean'
          ELSE l.consistency_status
        END,
      l.wait_reason =
        CASE decision.to
          WHEN 'approved' THEN null
          ELSE decision.reason
        END,
      l.live = decision.to IN ['approved', 'candidate'],
      l.injectable = decision.to = 'approved' AND decision.safety_status = 'passed'
    CREATE
      (d:GateDecision
        {
          id: l.id + ':d' + toString(l.decision_count),
          learning_id: l.id,
          decision_no: l.decision_count,
          to: decision.to,
          by: decision.by,
          rule: decision.rule,
          reason: decision.reason,
          at: datetime(decision.at)
        })
    CREATE (d)-[:DECIDED]->(l)
  )
  RETURN l.status AS status, changed
}
RETURN decision.learning_id AS learning_id, status, changed
