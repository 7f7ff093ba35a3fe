// @query   learnings.upsert
// @since   0.1.0
// @mode    write
// @card    many
// @param   rows        LIST<MAP NOT NULL> NOT NULL  each {id, short_id, value_key, at, fixed, text, confidence, project, user, evidence, embedding, embedding_model}
// @return  id          STRING NOT NULL
// @return  value_key   STRING NOT NULL
// @return  status      STRING NOT NULL
// @return  action      STRING NOT NULL     created, updated or refused
// @return  support_count  INTEGER NOT NULL
// @return  rejected_reason  STRING
// @locks   (:Learning) of the value key, exclusive, through MERGE under its constraint
// @index   learning_value_key, learning_id, session_id, session_event_id, project_id, user_id
// @allow   Layout  one value a line would double its length
// @why     One value key is one learning, whatever its case or spacing. A refused or blocked value
//          is not revived, only counted. Support counts sessions, not repetitions in one of them. An edited
//          text left its id behind: who says the first wording again gets another id.
UNWIND $rows AS row
CALL (row) {
  OPTIONAL MATCH (edited:Learning {id: row.id}) WHERE edited.value_key <> row.value_key
  MERGE (l:Learning {value_key: row.value_key})
    ON CREATE SET l.id = row.id + CASE WHEN edited IS NULL THEN '' ELSE ':' + row.value_key END,
      l.short_id = CASE WHEN edited IS NULL THEN row.short_id ELSE row.value_key END,
      l.text = row.text, l.status = 'candidate',
      l.live = true, l.injectable = false, l.consolidated = false, l.created_at = datetime(row.at),
      l.confidence = row.confidence, l.support_count = 0, l.use_count = 0, l.inject_count = 0,
      l.retrieval_count = 0, l.decision_count = 0, l.embedding = row.embedding,
      l.embedding_model = row.embedding_model, l.birth = row.id + row.at, l += row.fixed
  SET l.touched = row.at
  WITH l, CASE
    WHEN l.birth = row.id + row.at AND l.decision_count = 0 AND l.support_count = 0 THEN 'created'
    WHEN l.status IN ['rejected', 'blocked'] THEN 'refused' ELSE 'updated' END AS action
  SET l.reproposed_count = coalesce(l.reproposed_count, 0) + CASE action WHEN 'refused' THEN 1 ELSE 0 END,
    l.last_reproposed_at = CASE action WHEN 'refused' THEN datetime(row.at) ELSE l.last_reproposed_at END,
    l.updated_at = CASE action WHEN 'refused' THEN l.updated_at ELSE datetime(row.at) END,
    l.confidence = CASE WHEN action <> 'refused' AND row.confidence > l.confidence THEN row.confidence ELSE l.confidence END,
    l.last_user_id = coalesce(row.user, l.last_user_id)
  FOREACH (id IN CASE WHEN row.project IS NULL THEN [] ELSE [row.project] END |
    MERGE (p:Project {id: id})
      ON CREATE SET p.created_at = datetime(row.at), p.status = 'active'
    MERGE (p)-[:HAS_LEARNING]->(l))
  FOREACH (id IN CASE WHEN l.scope = 'user' AND row.user IS NOT NULL THEN [row.user] ELSE [] END |
    MERGE (u:User {id: id})
      ON CREATE SET u.created_at = datetime(row.at)
    MERGE (u)-[:HAS_LEARNING]->(l))
  WITH l, action
  OPTIONAL MATCH (session:Session {session_id: row.evidence.session_id})
  FOREACH (s IN CASE WHEN session IS NULL OR action = 'refused' THEN [] ELSE [session] END |
    MERGE (l)-[f:FROM_SESSION]->(s)
      ON CREATE SET f.at = datetime(row.at), f.epoch = s.epoch, l.support_count = l.support_count + 1
    SET l.last_source_session_id = s.session_id)
  WITH l, action
  OPTIONAL MATCH (event:SessionEvent {event_id: row.evidence.event_id})
  FOREACH (e IN CASE WHEN event IS NULL THEN [] ELSE [event] END |
    MERGE (l)-[q:EVIDENCED_BY {start: row.evidence.start, end: row.evidence.end}]->(e)
      ON CREATE SET q.quote = row.evidence.quote, q.origin = row.evidence.origin,
        q.explicit = row.evidence.explicit, q.extractor = row.evidence.extractor, q.at = datetime(row.at))
  RETURN l.id AS id, l.status AS status, action, l.support_count AS support_count, l.rejected_reason AS rejected_reason
}
RETURN id, row.value_key AS value_key, status, action, support_count, rejected_reason
