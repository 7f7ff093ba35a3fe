// @query   gate.undo
// @since   0.2.0
// @mode    write
// @card    many
// @param   decision    STRING NOT NULL     one by a person
// @param   at          STRING NOT NULL
// @return  id          STRING NOT NULL     everything that stands again as it did
// @return  status      STRING NOT NULL
// @locks   (:Learning) of everything decided, exclusive, before later decisions are looked for
// @index   gate_decision_id, learning_id, learning_version_id, learning_value_key
// @allow   Layout  the formatter's needs more lines than a body may have
// @why     Restores what `gate.resolve` wrote down: states, edges, a text. Only the last decision on
//          each of them can be taken back, and only once. Vectors are made again by the worker.
MATCH (d:GateDecision {id: $decision})-[:DECIDED]->(l:Learning)
SET l.touched = $at
WITH d, count(l) AS members
WHERE d.undone_at IS NULL AND d.by IN ['human', 'agent'] AND NOT EXISTS {
  MATCH (d)-[r:DECIDED]->(:Learning)<-[x:DECIDED]-(later:GateDecision)
  WHERE later.undone_at IS NULL AND coalesce(x.no, later.decision_no) > r.no
}
SET d.undone_at = datetime($at)
WITH d
MATCH (subject:Learning {id: d.learning_id})
CALL (d, subject) {
  OPTIONAL MATCH (subject)-[made:SUPERSEDES|CONTRADICTED_BY {decision: d.id}]->(:Learning)
  DELETE made
}
CALL (d, subject) {
  MATCH (d)-[was:ENDED]->(o:Learning)
  FOREACH (_ IN CASE WHEN was.kind = 'CONTRADICTS' THEN [1] ELSE [] END |
    MERGE (subject)-[c:CONTRADICTS]->(o)
      SET c.reason = was.reason, c.source = was.source, c.at = was.at)
  FOREACH (_ IN CASE WHEN was.kind = 'SUPERSEDES' AND was.outgoing THEN [1] ELSE [] END |
    MERGE (subject)-[s:SUPERSEDES]->(o)
      SET s.reason = was.reason, s.source = was.source, s.confirmed = was.confirmed, s.decision = was.decision,
        s.at = was.at)
  FOREACH (_ IN CASE WHEN was.kind = 'SUPERSEDES' AND NOT was.outgoing THEN [1] ELSE [] END |
    MERGE (o)-[s:SUPERSEDES]->(subject)
      SET s.reason = was.reason, s.source = was.source, s.confirmed = was.confirmed, s.decision = was.decision,
        s.at = was.at)
  RETURN count(*) AS edges
}
CALL (d, subject) {
  MATCH (subject)-[:HAS_VERSION]->(v:LearningVersion {id: d.id + ':text'})
  OPTIONAL MATCH (twin:Learning {value_key: v.value_key})
  WHERE twin.id <> subject.id
  SET subject.text = v.text, subject.summary = v.summary, subject.terms = v.terms,
    subject.frame_key = v.frame_key, subject.words_key = v.words_key,
    subject.value_key = CASE WHEN twin IS NULL THEN v.value_key ELSE v.value_key + '~' + subject.short_id END,
    subject.embedding = null, subject.embedding_model = null
  DETACH DELETE v
}
MATCH (d)-[was:DECIDED]->(l:Learning)
SET l += was {.status, .live, .injectable, .consistency_status, .wait_reason, .rejected_reason,
    .rejected_at, .reviewed_by, .reviewed_at, .reviewed_by_user_id, .valid_until, .archived_at, .needs_revision,
    .revision_reason},
  l.embedding = CASE WHEN was.live THEN l.embedding ELSE null END,
  l.embedding_model = CASE WHEN was.live THEN l.embedding_model ELSE null END
WITH l
OPTIONAL MATCH (derived:Learning {revision_reason: 'source_rejected:' + l.id})-[:ALREADY_LEARNED_FROM]->(l)
SET derived.needs_revision = null, derived.revision_reason = null
RETURN DISTINCT l.id AS id, l.status AS status
