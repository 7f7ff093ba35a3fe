// @query   ops.record_scan
// @since   0.1.0
// @mode    write
// @card    one
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, kind, rule, times, at}
// @return  recorded    INTEGER NOT NULL
// @locks   none
// @index   gate_decision_id
// @why     What a sweep masked is on record by kind and rule, never by value.
UNWIND $rows AS row
MERGE (d:GateDecision {id: row.id})
  ON CREATE SET
    d.to = 'redacted',
    d.by = 'scan-secrets',
    d.category = row.kind,
    d.rule = row.rule,
    d.reason = 'masked in place by the rules of that day',
    d.times = row.times,
    d.at = datetime(row.at)
SET d.last_at = datetime(row.at)
RETURN count(d) AS recorded
