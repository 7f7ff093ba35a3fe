// @query   gate.refuse
// @since   0.1.0
// @mode    write
// @card    one
// @param   refusals    LIST<MAP NOT NULL> NOT NULL  each {id, project_id, session_id, event_id, category, rule, reason, value_key, at}
// @return  recorded    INTEGER NOT NULL
// @locks   none
// @index   gate_decision_id, session_event_id
// @why     A refused text is not kept: what remains is the reason, the place it came from and a key
//          by which the same value is known again.
UNWIND $refusals AS refusal
MERGE (d:GateDecision {id: refusal.id})
  ON CREATE SET
    d.to = 'blocked',
    d.by = 'screen',
    d.category = refusal.category,
    d.rule = refusal.rule,
    d.reason = refusal.reason,
    d.value_key = refusal.value_key,
    d.project_id = refusal.project_id,
    d.session_id = refusal.session_id,
    d.at = datetime(refusal.at),
    d.times = 0
SET d.times = d.times + 1, d.last_at = datetime(refusal.at)
WITH d, refusal
OPTIONAL MATCH (event:SessionEvent {event_id: refusal.event_id})
FOREACH (e IN
CASE
  WHEN event IS NULL THEN []
  ELSE [event]
END |
  MERGE (d)-[:ABOUT]->(e)
)
RETURN count(d) AS recorded
