// @query   gate.resolve
// @since   0.2.0
// @mode    write
// @card    many
// @param   id          STRING NOT NULL     the learning that is decided on
// @param   expected    INTEGER NOT NULL    its decisions so far, as the person was shown it
// @param   action      STRING NOT NULL     approve, edit_approve, reject, keep_new, keep_existing or keep_both
// @param   conflict_id  STRING             only this other one; null for all
// @param   by          STRING NOT NULL     human, or agent where the user's settings let it act
// @param   user_id     STRING NOT NULL
// @param   reason      STRING NOT NULL
// @param   at          STRING NOT NULL
// @return  decision    STRING NOT NULL
// @return  learning_id STRING NOT NULL     everything that the decision moves
// @return  role        STRING NOT NULL     approved, rejected, loser, kept or reopened
// @locks   (:Learning), exclusive, before its count of decisions is read; the others before theirs
// @index   learning_id, gate_decision_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     First half of a decision: what it is about, how all of it stood, and which edges end.
//          `gate.enact` then moves them, `gate.undo` brings them back. A learning that was decided on
//          since it was shown is left alone.
MATCH (l:Learning {id: $id})
SET l.touched = $at
WITH l
WHERE l.decision_count = $expected
WITH l, COLLECT {
  MATCH (l)-[:CONTRADICTS]->(o:Learning) WHERE $conflict_id IS NULL OR o.id = $conflict_id RETURN o
} AS rivals, COLLECT {
  MATCH (l)-[:SUPERSEDES {confirmed: false}]->(o:Learning)
  WHERE ($conflict_id IS NULL OR o.id = $conflict_id) AND NOT $action IN ['approve', 'edit_approve']
  RETURN o
} AS olds
FOREACH (o IN rivals + olds | SET o.touched = $at)
CREATE (d:GateDecision {id: l.id + ':d' + toString(l.decision_count + 1), learning_id: l.id,
  decision_no: l.decision_count + 1, by: $by, rule: $action, reason: $reason, user_id: $user_id,
  to: CASE WHEN $action IN ['reject', 'keep_existing'] THEN 'rejected' ELSE 'approved' END,
  value_key: l.value_key, at: datetime($at)})
WITH d, l, rivals, olds, [{id: l.id, role: d.to}] +
  [o IN rivals + olds WHERE $action = 'keep_new' | {id: o.id, role: 'loser'}] +
  [o IN olds WHERE $action IN ['keep_both', 'keep_existing', 'reject'] |
    {id: o.id, role: CASE $action WHEN 'reject' THEN 'reopened' ELSE 'kept' END}] AS members
CALL (d, l, rivals) {
  MATCH (l)-[c:CONTRADICTS]->(o:Learning) WHERE o IN rivals
  CREATE (d)-[:ENDED {kind: 'CONTRADICTS', outgoing: true, reason: c.reason, source: c.source, at: c.at}]->(o)
  DELETE c
}
CALL (d, l, olds) {
  MATCH (l)-[s:SUPERSEDES]->(o:Learning) WHERE o IN olds
  CREATE (d)-[:ENDED {kind: 'SUPERSEDES', outgoing: true, reason: s.reason, source: s.source,
    confirmed: s.confirmed, decision: s.decision, at: s.at}]->(o)
  DELETE s
}
CALL (d, l) {
  MATCH (n:Learning)-[s:SUPERSEDES]->(l) WHERE d.to = 'approved'
  CREATE (d)-[:ENDED {kind: 'SUPERSEDES', outgoing: false, reason: s.reason, source: s.source,
    confirmed: s.confirmed, decision: s.decision, at: s.at}]->(n)
  DELETE s
}
UNWIND members AS m
WITH d, m.id AS member, collect(m.role)[0] AS role
MATCH (node:Learning {id: member})
SET node.decision_count = node.decision_count + 1
CREATE (d)-[r:DECIDED {role: role, no: node.decision_count}]->(node)
SET r += node {.status, .live, .injectable, .consistency_status, .wait_reason, .rejected_reason, .rejected_at,
  .reviewed_by, .reviewed_at, .reviewed_by_user_id, .valid_until, .archived_at, .needs_revision, .revision_reason}
RETURN d.id AS decision, node.id AS learning_id, role
