// @query   forget.remove
// @since   0.2.0
// @mode    write
// @card    one
// @param   id          STRING NOT NULL
// @param   limit       INTEGER NOT NULL
// @param   at          STRING NOT NULL
// @return  removed     INTEGER NOT NULL
// @locks   (:Forgetting), exclusive, before its marks are read, then (:Learning)
// @index   forgetting_id
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     A decision that was about others too stays for them. A value that a person refused stays
//          refused: its key is a hash, and no text is kept.
MATCH (f:Forgetting {id: $id})
SET f.touched = $id
WITH f
MATCH (f)-[:FORGETS]->(l:Learning)
WITH f, l
ORDER BY l.id ASC
LIMIT $limit
SET l.touched = $at
WITH f, l, f.refuse = 'all' OR (f.refuse = 'person' AND l.status = 'rejected' AND l.reviewed_by IS NOT NULL) AS refused
CALL (l) {
  OPTIONAL MATCH (d:GateDecision)-[:DECIDED|ABOUT]->(l)
  WHERE COUNT { (d)-[:DECIDED|ABOUT]->() } = 1
  OPTIONAL MATCH (l)-[:HAS_VERSION]->(v:LearningVersion)
  OPTIONAL MATCH (said:Verdict)-[:ABOUT]->(l)
  DETACH DELETE d, v, said
}
CALL (l, refused) {
  MATCH
    (l)-[r:EVIDENCED_BY |FROM_SESSION |INJECTED_IN |INJECTED_AT |PRODUCED_LEARNING |UPDATED_LEARNING
      |FORGETS |RECHECKS |SUPERSEDES |CONTRADICTS |CONTRADICTED_BY |SIMILAR_TO |ALREADY_LEARNED_FROM |DECIDED |ENDED]-()
  WHERE refused
  DELETE r
}
FOREACH (_ IN CASE WHEN refused THEN [1] ELSE [] END |
  SET l = {
    id: l.id, short_id: l.short_id, value_key: l.value_key, words_key: l.words_key, owner_key: l.owner_key,
    project_id: l.project_id, scope: l.scope, kind: l.kind, origin: l.origin, source: l.source,
    text: '[forgotten]', status: 'rejected', rejected_reason: 'forgotten', reviewed_by: 'human',
    live: false, injectable: false, consolidated: false, confidence: 0.0, support_count: 0,
    use_count: 0, inject_count: 0, retrieval_count: 0, decision_count: 0,
    created_at: datetime($at), updated_at: datetime($at), rejected_at: datetime($at)}
)
FOREACH (_ IN CASE WHEN refused THEN [] ELSE [1] END | DETACH DELETE l)
WITH f, count(*) AS removed
SET f.learnings = f.learnings + removed
RETURN sum(removed) AS removed
