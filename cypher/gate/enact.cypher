// @query   gate.enact
// @since   0.2.0
// @mode    write
// @card    many
// @param   decision    STRING NOT NULL
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  scope       STRING NOT NULL
// @return  user_id     STRING
// @return  reviewed_by  STRING
// @return  reviewed_by_user_id  STRING
// @return  consistency_status  STRING
// @return  role        STRING NOT NULL
// @locks   (:Learning), exclusive, by `gate.resolve` in the same transaction
// @index   gate_decision_id, learning_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Second half of a decision: everything it names takes the state of its role. What rests on
//          a learning that goes is flagged here: today what was folded into it. The filter
//          properties follow in the same write, and a vector goes with the text that is withdrawn.
MATCH (d:GateDecision {id: $decision})-[r:DECIDED]->(l:Learning)
MATCH (subject:Learning {id: d.learning_id})
WITH d, r, l, subject, r.role IN ['approved', 'kept', 'reopened'] AS stands, r.role <> 'reopened' AS stamped
SET
  l.status = CASE WHEN r.role = 'reopened' THEN l.status WHEN stands THEN 'approved' ELSE 'rejected' END,
  l.consistency_status = CASE WHEN stamped THEN 'human_reviewed' ELSE l.consistency_status END,
  l.wait_reason = CASE WHEN stamped THEN null ELSE l.wait_reason END,
  l.rejected_reason = CASE
    WHEN stands THEN null
    WHEN r.role = 'loser' THEN 'human_superseded_by:' + d.learning_id
    WHEN d.rule = 'keep_existing' THEN 'human_kept_existing'
    ELSE 'human_review' END,
  l.rejected_at = CASE WHEN stands THEN null ELSE datetime($at) END,
  l.reviewed_by = CASE WHEN stamped THEN 'human' ELSE l.reviewed_by END,
  l.reviewed_at = CASE WHEN stamped THEN datetime($at) ELSE l.reviewed_at END,
  l.reviewed_by_user_id = CASE WHEN stamped THEN d.user_id ELSE l.reviewed_by_user_id END,
  l.valid_until = CASE
    WHEN stands THEN null
    WHEN r.role = 'loser' THEN coalesce(l.valid_until, subject.valid_from, datetime($at))
    ELSE l.valid_until END,
  l.archived_at = CASE WHEN stands THEN null ELSE l.archived_at END,
  l.needs_revision = null,
  l.revision_reason = null,
  l.live = stands,
  l.embedding = CASE WHEN stands THEN l.embedding ELSE null END,
  l.embedding_model = CASE WHEN stands THEN l.embedding_model ELSE null END
SET l.injectable = l.status = 'approved' AND (l.safety_status = 'passed' OR l.reviewed_by = 'human')
FOREACH (_ IN CASE r.role WHEN 'loser' THEN [1] ELSE [] END |
  MERGE (subject)-[s:SUPERSEDES]->(l)
    ON CREATE SET s.reason = 'a person kept the newer one', s.source = 'human_review', s.confirmed = true,
      s.decision = d.id, s.at = datetime($at))
WITH d, r, l, subject, stands
CALL (d, l, subject) {
  MATCH (d)-[was:ENDED]->(other:Learning)
  WHERE d.rule = 'keep_existing' AND was.outgoing AND l = subject
  MERGE (subject)-[b:CONTRADICTED_BY]->(other)
    ON CREATE SET b.reason = was.reason, b.source = 'human_review', b.decision = d.id, b.at = datetime($at)
  RETURN count(*) AS vetoed
}
CALL (l, stands) {
  MATCH (derived:Learning)-[:ALREADY_LEARNED_FROM]->(l)
  WHERE NOT stands AND coalesce(derived.needs_revision, false) = false
  SET derived.needs_revision = true, derived.revision_reason = 'source_rejected:' + l.id
  RETURN count(*) AS flagged
}
RETURN l.id AS id, l.status AS status, l.scope AS scope, l.user_id AS user_id, l.reviewed_by AS reviewed_by,
  l.reviewed_by_user_id AS reviewed_by_user_id, l.consistency_status AS consistency_status, r.role AS role
