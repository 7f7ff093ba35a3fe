// @query   gate.propose
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL     a learning's full id
// @param   mark        STRING NOT NULL     equal for the same proposal
// @param   action      STRING NOT NULL
// @param   text        STRING NOT NULL     the wording proposed, or ''
// @param   session_id  STRING
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL     the proposal's
// @return  times       INTEGER NOT NULL
// @locks   (:Learning), exclusive, before its status is read
// @index   learning_id, gate_decision_id
// @why     What an agent would decide is kept for the person who does: it moves nothing. A learning
//          that does not wait already joins the queue by a flag.
MATCH (l:Learning {id: $id})
SET l.touched = $at
WITH l
MERGE (d:GateDecision {id: l.id + ':p' + $mark})
  ON CREATE SET d.learning_id = l.id, d.to = 'proposed', d.by = 'agent', d.rule = $action, d.reason = $text, d.times = 0
SET d.at = datetime($at), d.times = d.times + 1, d.session_id = $session_id
MERGE (d)-[:ABOUT]->(l)
FOREACH (_ IN
CASE
  WHEN l.status IN ['candidate', 'quarantined'] OR l.needs_revision = true THEN []
  ELSE [1]
END |
  SET l.needs_revision = true, l.revision_reason = 'proposal'
)
RETURN d.id AS id, d.times AS times
