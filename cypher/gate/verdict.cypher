// @query   gate.verdict
// @since   0.2.0
// @mode    write
// @card    maybe
// @param   id          STRING NOT NULL     a learning's full id
// @param   kind        STRING NOT NULL     wrong, outdated or not-here
// @param   project_id  STRING              where it was told
// @param   session_id  STRING              the session that was told
// @param   user_id     STRING NOT NULL
// @param   note        STRING              the person's own words
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  injectable  BOOLEAN NOT NULL
// @return  acted       BOOLEAN NOT NULL    whether it was withdrawn or closed by this verdict
// @locks   (:Learning), exclusive, before its state is read
// @index   learning_id, verdict_id, gate_decision_id, project_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     What a person says of a told line acts at once and can be taken back: wrong withdraws it,
//          outdated closes it, both for review; not-here keeps it out of one project, for good where
//          it is about the user, else for two weeks.
MATCH (l:Learning {id: $id})
SET l.touched = $at
WITH l, $kind IN ['wrong', 'outdated'] AND l.status = 'approved' AND l.valid_until IS NULL AS acts
MERGE (v:Verdict {id: l.id + ':' + $kind + toString(l.decision_count)})
  ON CREATE SET v.kind = $kind, v.learning_id = l.id, v.session_id = $session_id, v.user_id = $user_id, v.at = datetime($at)
SET v.note = coalesce($note, v.note)
MERGE (v)-[:ABOUT]->(l)
FOREACH (_ IN CASE WHEN acts THEN [1] ELSE [] END |
  SET l.decision_count = l.decision_count + 1
  CREATE (d:GateDecision {id: l.id + ':d' + toString(l.decision_count), learning_id: l.id, decision_no: l.decision_count,
    by: 'human', rule: 'verdict:' + $kind, reason: 'a person said so when it was told', user_id: $user_id,
    to: CASE $kind WHEN 'wrong' THEN 'quarantined' ELSE 'approved' END, value_key: l.value_key, at: datetime($at)})
  CREATE (d)-[r:DECIDED {role: 'withdrawn', no: l.decision_count}]->(l)
  SET r += l {.status, .live, .injectable, .consistency_status, .wait_reason, .rejected_reason, .rejected_at,
    .reviewed_by, .reviewed_at, .reviewed_by_user_id, .valid_until, .archived_at, .needs_revision, .revision_reason}
  SET l.status = d.to, l.live = $kind <> 'wrong', l.injectable = false, l.needs_revision = true,
    l.revision_reason = 'verdict:' + $kind, l.reviewed_by = 'human', l.reviewed_at = datetime($at),
    l.reviewed_by_user_id = $user_id, l.valid_until = CASE $kind WHEN 'outdated' THEN datetime($at) ELSE null END)
WITH l, acts
CALL (l) {
  MATCH (p:Project {id: $project_id})
  WHERE $kind = 'not-here'
  MERGE (l)-[n:NOT_HERE]->(p)
  SET n.at = datetime($at),
    n.until = CASE l.scope WHEN 'user' THEN null ELSE datetime($at) + duration({days: 14}) END
  RETURN count(*) AS places
}
RETURN l.id AS id, l.status AS status, l.injectable AS injectable, acts AS acted
