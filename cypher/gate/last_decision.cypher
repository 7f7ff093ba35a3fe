// @query   gate.last_decision
// @since   0.2.0
// @mode    read
// @card    maybe
// @param   id          STRING NOT NULL     a learning's
// @return  id          STRING NOT NULL
// @return  rule        STRING NOT NULL
// @locks   none
// @index   learning_id
// @why     The newest decision about a learning that a person can still take back.
MATCH (d:GateDecision)-[:DECIDED]->(l:Learning {id: $id})
WHERE d.learning_id = l.id AND d.by IN ['human', 'agent'] AND d.undone_at IS NULL
WITH d
ORDER BY d.decision_no DESC, d.id ASC
LIMIT 1
RETURN d.id AS id, d.rule AS rule
